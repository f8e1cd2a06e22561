package panel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"tandem/internal/fault"
	"tandem/internal/panel/ui"
	"tandem/internal/session/wire"
)

func sessionsNav() page {
	return page{id: "sessions", label: "Sessions", href: "/panel/sessions", icon: "session", key: "g w", needs: "session.list",
		routes: func(p *Panel) {
			asideRoutes(p)
			p.get("/panel/sessions", func(v *visit) error { return v.sessions("") })
			p.get("/panel/sessions/{id}", func(v *visit) error { return v.session(v.r.PathValue("id"), "") })
			p.act(act{pattern: "/panel/sessions", op: "session.create", input: createInput,
				done: func(v *visit, _ any, out json.RawMessage) error {
					var made wireSession
					if err := json.Unmarshal(out, &made); err != nil {
						return err
					}
					return v.go303(sessionHref(made.ID), "")
				},
				refused: func(v *visit, err error) error { return v.sessions(words(err)) }})
			on := func(verb, op, said string, input func(v *visit) (any, error)) {
				p.act(act{pattern: "/panel/sessions/{id}/" + verb, op: op, input: input,
					done: func(v *visit, _ any, _ json.RawMessage) error {
						switch v.r.PostFormValue("from") {
						case "terminal":
							return v.go303(sessionHref(v.r.PathValue("id"))+"/terminal", said)
						case "overview":
							return v.go303("/panel/", said)
						}
						return v.go303(sessionHref(v.r.PathValue("id")), said)
					},
					refused: func(v *visit, err error) error {
						if v.r.PostFormValue("from") == "terminal" {
							return v.terminal(v.r.PathValue("id"), words(err))
						}
						return v.session(v.r.PathValue("id"), words(err))
					}})
			}
			terminalRoutes(p)
			on("prompt", "session.prompt", "", promptInput)
			on("cancel", "session.cancel", "turn-stopped", func(v *visit) (any, error) { return map[string]any{"id": v.r.PathValue("id")}, nil })
			on("archive", "session.update", "", archiveInput)
			on("answer", "question.answer", "answered", answerInput)
			on("resume", "session.open", "resumed", resumeInput)
		}}
}

// SessionRow is a session in a list.
type SessionRow struct {
	ID      string
	Title   string
	State   string // of its newest turn: queued, running, waiting, done, failed, cancelled; idle without one; of its program in a terminal
	Driver  string // what makes it go, as people say it
	Held    string // who took its terminal over
	Relay   bool   // a relay owns it
	Model   string
	Folder  string
	Owner   string
	Changed time.Time
}

// SessionsView is the list of sessions.
type SessionsView struct {
	Now      time.Time
	Archived bool
	Query    string
	Rows     []SessionRow
	More     bool
	Default  string   // the model of sessions that name none
	Folders  []string // that sessions may work in
	May      bool     // the viewer may open one
	Programs bool     // and one with a program in a terminal
	Problem  string
}

type wireSession struct {
	ID        string        `json:"id"`
	Title     string        `json:"title"`
	Directory string        `json:"directory"`
	Driver    string        `json:"driver"`
	Model     string        `json:"model"`
	Mode      string        `json:"mode"`
	Parent    string        `json:"parent"`
	Owner     string        `json:"owner"`
	Archived  bool          `json:"archived"`
	Confined  string        `json:"confined"`
	Aside     []*wire.Aside `json:"aside"`
	State     string        `json:"state"`
	Events    int64         `json:"events"`
	CreatedAt time.Time     `json:"created_at"`
	UpdatedAt time.Time     `json:"updated_at"`
	Todos     []struct {
		Content string `json:"content"`
		Status  string `json:"status"`
	} `json:"todos"`
}

func (s wireSession) row(state string) SessionRow {
	return SessionRow{ID: s.ID, Title: s.Title, State: state, Driver: driverName(s.Driver, s.Model), Model: s.Model, Folder: s.Directory,
		Owner: s.Owner, Changed: s.UpdatedAt}
}

const sessionsShown = 50

func (v *visit) sessions(problem string) error {
	out := SessionsView{Now: v.now(), Archived: v.query("tab") == "archived", Query: v.query("q"), May: v.has("session.create"),
		Problem: problem}
	list, err := call[struct {
		Sessions []wireSession
		More     bool
	}](v, "session.list", map[string]any{"q": out.Query, "archived": out.Archived, "limit": sessionsShown})
	if err != nil {
		return err
	}
	out.More = list.More
	seats, err := v.programs()
	if err != nil {
		return err
	}
	for _, s := range list.Sessions {
		seat, ok := seats[s.ID]
		if !ok {
			out.Rows = append(out.Rows, s.row(s.State))
			continue
		}
		row := s.row(seat.State)
		row.Driver, row.Held, row.Relay = driverName(s.Driver, seat.Agent), seat.Held, seat.Relay != ""
		out.Rows = append(out.Rows, row)
	}
	out.Programs = v.has("session.open")
	if out.May {
		if out.Default, out.Folders, err = v.startingPoint(); err != nil {
			return err
		}
	}
	s := v.shell("sessions", "Sessions")
	if problem != "" {
		s.Here = "/panel/sessions"
	}
	return v.show(sessionsPage(s, out))
}

// driverName says what makes a session go.
func driverName(driver, agent string) string {
	if driver != "terminal" {
		return driver
	}
	agent, _, _ = strings.Cut(agent, "/")
	return strings.TrimSpace(agent + " in a terminal")
}

// startingPoint is what a new session may begin with.
func (v *visit) startingPoint() (model string, folders []string, err error) {
	if v.has("provider.list") {
		p, err := call[wireProviders](v, "provider.list", nil)
		if err != nil {
			return "", nil, err
		}
		model = p.Default
	}
	if v.has("folder.list") {
		f, err := call[wireFolders](v, "folder.list", nil)
		if err != nil {
			return "", nil, err
		}
		for _, x := range f.Folders {
			folders = append(folders, x.Path)
		}
	}
	return model, folders, nil
}

func createInput(v *visit) (any, error) {
	in := map[string]any{}
	for _, name := range []string{"title", "model", "directory", "mode"} {
		if s := v.r.PostFormValue(name); s != "" {
			in[name] = s
		}
	}
	return in, nil
}

func promptInput(v *visit) (any, error) {
	in := map[string]any{"id": v.r.PathValue("id"), "text": v.r.PostFormValue("text")}
	if v.r.PostFormValue("plan") != "" {
		in["options"] = map[string]any{"mode": "plan"}
	}
	return in, attachments(v, in)
}

// attachments puts the files of a form beside the prompt: images as images, texts as texts that are marked as files.
func attachments(v *visit, in map[string]any) error {
	if v.r.MultipartForm == nil {
		return nil
	}
	images := []map[string]any{}
	for _, h := range v.r.MultipartForm.File["files"] {
		f, err := h.Open()
		if err != nil {
			return fault.New(fault.Invalid, "session.prompt", "%s cannot be read", h.Filename)
		}
		data, err := io.ReadAll(f)
		f.Close()
		if err != nil {
			return fault.New(fault.Invalid, "session.prompt", "%s cannot be read", h.Filename)
		}
		switch mime := http.DetectContentType(data); {
		case strings.HasPrefix(mime, "image/"):
			images = append(images, map[string]any{"mime": mime, "data": data})
		case utf8.Valid(data):
			in["text"] = fmt.Sprintf("%s\n<file name=%q>\n%s\n</file>", in["text"], h.Filename, data)
		default:
			return fault.New(fault.Invalid, "session.prompt", "%s is neither an image nor text", h.Filename)
		}
	}
	if len(images) > 0 {
		in["images"] = images
	}
	return nil
}

func archiveInput(v *visit) (any, error) {
	return map[string]any{"id": v.r.PathValue("id"), "archived": v.r.PostFormValue("archived") != ""}, nil
}

func answerInput(v *visit) (any, error) {
	in := map[string]any{"id": v.r.PostFormValue("question"), "answer": v.r.PostFormValue("answer")}
	if all := v.r.PostForm["answer"]; len(all) > 1 { // several things were asked at once
		in["answer"], in["answers"] = "", all
	}
	if choice := v.r.PostFormValue("choice"); choice != "" {
		in["answer"] = choice
	}
	if v.r.PostFormValue("reject") != "" {
		in["reject"] = true
	}
	return in, nil
}

func sessionHref(id string) string { return "/panel/sessions/" + pathEscape(id) }

func (v SessionsView) tabs() []ui.Tab {
	return []ui.Tab{
		{Label: "Open", Href: "/panel/sessions", Active: !v.Archived},
		{Label: "Archived", Href: "/panel/sessions?tab=archived", Active: v.Archived},
	}
}

func (v SessionsView) empty() (title, body string) {
	switch {
	case v.Query != "":
		return "Nothing found", "No title and no message holds these words."
	case v.Archived:
		return "Nothing archived", "Sessions that you put away are kept here, with everything they said."
	}
	return "No sessions yet", "A session is an agent at work. Open one here, or type tandem run and what should be done."
}

func turnTone(state string) ui.Tone {
	switch state {
	case "running", "queued":
		return ui.Info
	case "waiting":
		return ui.Warn
	case "done":
		return ui.Good
	case "failed":
		return ui.Bad
	}
	return ui.Quiet
}
