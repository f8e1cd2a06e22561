package panel

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"tandem/internal/fault"
	"tandem/internal/models"
	"tandem/internal/op"
	"tandem/internal/panel/ui"
	"tandem/internal/provider"
	"tandem/internal/session"
	"tandem/internal/session/terminal"
	"tandem/internal/told"
)

func sessionsNav() page {
	return page{id: "sessions", label: "Sessions", href: "/panel/sessions", icon: "session", key: "g w", needs: string(session.SessionList),
		routes: func(p *Panel) {
			asideRoutes(p)
			p.get("/panel/sessions", func(v *visit) error { return v.sessions("") })
			p.get("/panel/sessions/{id}", func(v *visit) error { return v.session(v.r.PathValue("id"), "") })
			perform(p, "/panel/sessions", session.SessionCreate, createInput,
				func(v *visit, _ session.CreateIn, made *session.Session) error {
					return v.go303(sessionHref(made.ID), "")
				},
				func(v *visit, err error) error { return v.sessions(words(err)) })
			terminalRoutes(p)
			onSession(p, "prompt", session.SessionPrompt, "", promptInput)
			onSession(p, "cancel", session.SessionCancel, "turn-stopped", func(v *visit) (session.TurnIn, error) {
				return session.TurnIn{ID: v.r.PathValue("id")}, nil
			})
			onSession(p, "archive", session.SessionUpdate, "", archiveInput)
			onSession(p, "answer", session.QuestionAnswer, "answered", answerInput)
			onSession(p, "resume", terminal.SessionOpen, "resumed", resumeInput)
		}}
}

// onSession is a form on one session: it leads back to the page it was on, and says there what was done.
func onSession[In, Out any](p *Panel, verb string, d op.Def[In, Out], said string, input func(*visit) (In, error)) {
	perform(p, "/panel/sessions/{id}/"+verb, d, input,
		func(v *visit, _ In, _ Out) error {
			switch v.r.PostFormValue("from") {
			case "terminal":
				return v.go303(sessionHref(v.r.PathValue("id"))+"/terminal", said)
			case "overview":
				return v.go303("/panel/", said)
			}
			return v.go303(sessionHref(v.r.PathValue("id")), said)
		},
		func(v *visit, err error) error {
			if v.r.PostFormValue("from") == "terminal" {
				return v.terminal(v.r.PathValue("id"), words(err))
			}
			return v.session(v.r.PathValue("id"), words(err))
		})
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

func sessionRow(s *session.Session, state string) SessionRow {
	return SessionRow{ID: s.ID, Title: s.Title, State: state, Driver: driverName(s.Driver, s.Model), Model: s.Model, Folder: s.Directory,
		Owner: told.By(s.Owner), Changed: s.UpdatedAt}
}

const sessionsShown = 50

func (v *visit) sessions(problem string) error {
	out := SessionsView{Now: v.now(), Archived: v.query("tab") == "archived", Query: v.query("q"), May: v.has(string(session.SessionCreate)),
		Problem: problem}
	list, err := ask(v, session.SessionList, session.ListIn{Query: out.Query, Archived: out.Archived, Limit: sessionsShown})
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
			out.Rows = append(out.Rows, sessionRow(s, s.State))
			continue
		}
		row := sessionRow(s, string(seat.State))
		row.Driver, row.Held, row.Relay = driverName(s.Driver, seat.Agent), seat.Held, seat.Relay != ""
		out.Rows = append(out.Rows, row)
	}
	if out.Query == "" {
		slices.SortStableFunc(out.Rows, func(a, b SessionRow) int { return terminal.State(a.State).Rank() - terminal.State(b.State).Rank() })
	}
	out.Programs = v.has(string(terminal.SessionOpen))
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
	if driver != terminal.DriverName {
		return driver
	}
	agent, _, _ = strings.Cut(agent, "/")
	return strings.TrimSpace(agent + " in a terminal")
}

// startingPoint is what a new session may begin with.
func (v *visit) startingPoint() (model string, folders []string, err error) {
	if v.has(string(models.ProviderList)) {
		p, err := ask(v, models.ProviderList, models.Nothing{})
		if err != nil {
			return "", nil, err
		}
		model = p.Default
	}
	if v.has(string(session.FolderList)) {
		f, err := ask(v, session.FolderList, session.Nothing{})
		if err != nil {
			return "", nil, err
		}
		for _, x := range f.Folders {
			folders = append(folders, x.Path)
		}
	}
	return model, folders, nil
}

func createInput(v *visit) (session.CreateIn, error) {
	form := v.r.PostFormValue
	return session.CreateIn{Title: form("title"), Model: form("model"), Directory: form("directory"), Mode: session.Mode(form("mode"))}, nil
}

func promptInput(v *visit) (session.PromptIn, error) {
	in := session.PromptIn{ID: v.r.PathValue("id"), Text: v.r.PostFormValue("text")}
	if v.r.PostFormValue("plan") != "" {
		in.Options.Mode = session.PlanMode
	}
	return in, attachments(v, &in)
}

// attachments puts the files of a form beside the prompt: images as images, texts as texts that are marked as files.
func attachments(v *visit, in *session.PromptIn) error {
	if v.r.MultipartForm == nil {
		return nil
	}
	for _, h := range v.r.MultipartForm.File["files"] {
		f, err := h.Open()
		if err != nil {
			return fault.New(fault.Invalid, string(session.SessionPrompt), "%s cannot be read", h.Filename)
		}
		data, err := io.ReadAll(f)
		f.Close()
		if err != nil {
			return fault.New(fault.Invalid, string(session.SessionPrompt), "%s cannot be read", h.Filename)
		}
		switch mime := http.DetectContentType(data); {
		case strings.HasPrefix(mime, "image/"):
			in.Images = append(in.Images, provider.Image{Mime: mime, Data: data})
		case utf8.Valid(data):
			in.Text = fmt.Sprintf("%s\n<file name=%q>\n%s\n</file>", in.Text, h.Filename, data)
		default:
			return fault.New(fault.Invalid, string(session.SessionPrompt), "%s is neither an image nor text", h.Filename)
		}
	}
	return nil
}

func archiveInput(v *visit) (session.UpdateIn, error) {
	archived := v.r.PostFormValue("archived") != ""
	return session.UpdateIn{ID: v.r.PathValue("id"), Archived: &archived}, nil
}

func answerInput(v *visit) (session.AnswerIn, error) {
	in := session.AnswerIn{ID: v.r.PostFormValue("question"), Answer: v.r.PostFormValue("answer"), Reject: v.r.PostFormValue("reject") != ""}
	if all := v.r.PostForm["answer"]; len(all) > 1 { // several things were asked at once
		in.Answer, in.Answers = "", all
	}
	if choice := v.r.PostFormValue("choice"); choice != "" {
		in.Answer = choice
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
