package compat

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"tandem/internal/fault"
)

// session is the part of a session that the clients know.
type session struct {
	ID        string          `json:"id"`
	Title     string          `json:"title"`
	Directory string          `json:"directory"`
	Model     string          `json:"model"`
	Parent    string          `json:"parent"`
	Archived  bool            `json:"archived"`
	Todos     json.RawMessage `json:"todos"`
	CreatedAt time.Time       `json:"created_at"`
	UpdatedAt time.Time       `json:"updated_at"`
}

// record is a session in the clients' shape: both spellings, and no nulls, which one of them refuses.
func (s session) record() obj {
	provider, model, _ := strings.Cut(s.Model, "/")
	o := obj{"id": s.ID, "version": "v1", "title": s.Title, "directory": s.Directory, "workspaceRoot": s.Directory,
		"workspace_root": s.Directory, "archived": s.Archived,
		"created_at_ms": ms(s.CreatedAt), "createdAtMs": ms(s.CreatedAt), "updatedAtMs": ms(s.UpdatedAt),
		"time":  obj{"created": s.CreatedAt.Unix(), "updated": s.UpdatedAt.Unix()},
		"model": obj{"providerID": provider, "modelID": model}, "provider": provider}
	if s.Parent != "" {
		o["parentID"] = s.Parent
	}
	return o
}

func model(q *request) (string, error) {
	var m struct {
		ProviderID string `json:"providerID"`
		ModelID    string `json:"modelID"`
	}
	if raw := q.body["model"]; len(raw) > 0 && raw[0] == '{' {
		if err := q.get(&m, "model"); err != nil {
			return "", err
		}
	}
	if m.ProviderID == "" || m.ModelID == "" {
		return "", nil
	}
	return m.ProviderID + "/" + m.ModelID, nil
}

// directory reads a folder as the clients send it: "." is where the server works, which here is the first granted folder.
func directory(q *request, dir string) (string, error) {
	if dir == "" || filepath.IsAbs(dir) {
		return dir, nil
	}
	var out struct {
		Folders []struct{ Path string }
	}
	if err := q.call("folder.list", obj{}, &out); err != nil || len(out.Folders) == 0 {
		return "", err
	}
	return filepath.Join(out.Folders[0].Path, dir), nil
}

// sampling reads the fields that say how a model speaks.
func sampling(q *request, into obj) error {
	var temperature, topP *float64
	var maxTokens int
	for _, err := range []error{q.get(&temperature, "temperature"), q.get(&topP, "top_p", "topP"),
		q.get(&maxTokens, "max_tokens", "maxTokens")} {
		if err != nil {
			return err
		}
	}
	if temperature != nil {
		into["temperature"] = *temperature
	}
	if topP != nil {
		into["top_p"] = *topP
	}
	if maxTokens > 0 {
		into["max_tokens"] = maxTokens
	}
	return nil
}

func createSession(q *request) (any, error) {
	title, err := q.text("title")
	if err != nil {
		return nil, err
	}
	dir, err := q.text("directory", "workspace_root")
	if err != nil {
		return nil, err
	}
	if dir, err = directory(q, dir); err != nil {
		return nil, err
	}
	m, err := model(q)
	if err != nil {
		return nil, err
	}
	parent, err := q.text("parent_id", "parentID")
	if err != nil {
		return nil, err
	}
	config := obj{}
	if err := sampling(q, config); err != nil {
		return nil, err
	}
	var out session
	in := obj{"title": oneLine(title), "directory": dir, "model": m, "parent": parent, "config": config}
	if err := q.call("session.create", in, &out); err != nil {
		return nil, err
	}
	r := out.record()
	r["messages"] = []any{}
	return r, nil
}

func oneLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "")
	}
	return s
}

func listSessions(q *request) (any, error) {
	v := q.URL.Query()
	size := min(max(number(v.Get("page_size"), 20), 1), 100)
	page := max(number(v.Get("page"), 1), 1)
	in := obj{"q": v.Get("q"), "archived": v.Get("archived") == "true", "limit": size}
	var out struct{ Sessions []session }
	for range page { // pages are read one behind the other: places in a list that changes have no numbers
		out.Sessions = nil
		if err := q.call("session.list", in, &out); err != nil {
			return nil, err
		}
		if len(out.Sessions) == 0 {
			break
		}
		in["before"] = out.Sessions[len(out.Sessions)-1].ID
	}
	records := []any{}
	for _, s := range out.Sessions {
		if w := v.Get("workspace"); w == "" || w == s.Directory {
			records = append(records, s.record())
		}
	}
	return obj{"sessions": records, "count": len(records)}, nil
}

func (q *request) session() (session, error) {
	var out session
	err := q.call("session.get", obj{"id": q.PathValue("id")}, &out)
	return out, err
}

func getSession(q *request) (any, error) {
	s, err := q.session()
	if err != nil {
		return nil, err
	}
	r := s.record()
	r["messages"], err = messages(q)
	return r, err
}

func updateSession(q *request) (any, error) {
	in := obj{"id": q.PathValue("id")}
	for _, f := range []string{"title", "archived"} {
		if raw, ok := q.body[f]; ok && string(raw) != "null" {
			in[f] = raw
		}
	}
	var out session
	err := q.call("session.update", in, &out)
	return out.record(), err
}

// deleteSession stops what runs first: the clients have no other way to say that they mean it.
func deleteSession(q *request) (any, error) {
	in := obj{"id": q.PathValue("id")}
	err := q.call("session.delete", in, nil)
	if kindOf(err) != fault.Conflict {
		return obj{"ok": err == nil}, err
	}
	if err := q.call("session.cancel", in, nil); err != nil {
		return nil, err
	}
	for range 100 {
		if err = q.call("session.delete", in, nil); kindOf(err) != fault.Conflict {
			break
		}
		select {
		case <-q.Context().Done():
			return nil, q.Context().Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return obj{"ok": err == nil}, err
}

// message is a stored message.
type message struct {
	ID        string    `json:"id"`
	Turn      string    `json:"turn"`
	Role      string    `json:"role"`
	Blocks    []block   `json:"blocks"`
	CreatedAt time.Time `json:"created_at"`
}

type block struct {
	Kind  string
	Text  string
	Image *struct{ Mime, URL string }
	Call  *struct {
		ID, Name string
		Args     json.RawMessage
	}
	Result *struct {
		CallID string `json:"call_id"`
		Name   string
		Text   string
		Error  bool
	}
}

func (q *request) conversation() ([]message, error) {
	var out struct{ Messages []message }
	err := q.call("session.messages", obj{"id": q.PathValue("id")}, &out)
	return out.Messages, err
}

// messages gives the conversation in the clients' shape: results stand beside their calls.
func messages(q *request) (any, error) {
	ms, err := q.conversation()
	if err != nil {
		return nil, err
	}
	results := map[string]*block{}
	for _, m := range ms {
		for i := range m.Blocks {
			if r := m.Blocks[i].Result; r != nil {
				results[r.CallID] = &m.Blocks[i]
			}
		}
	}
	out := []any{}
	for _, m := range ms {
		if m.Role != "tool" {
			out = append(out, m.record(q.PathValue("id"), results))
		}
	}
	return out, nil
}

func (m message) record(session string, results map[string]*block) obj {
	parts := []any{}
	for _, b := range m.Blocks {
		switch {
		case b.Kind == "text" || b.Kind == "reasoning":
			parts = append(parts, obj{"type": b.Kind, "text": b.Text})
		case b.Image != nil:
			parts = append(parts, obj{"type": "file", "mime": b.Image.Mime, "url": b.Image.URL})
		case b.Call != nil:
			p := obj{"type": "tool", "id": b.Call.ID, "tool": b.Call.Name, "args": b.Call.Args, "state": "running"}
			if r := results[b.Call.ID]; r != nil {
				p["state"], p["result"] = "completed", r.Result.Text
				if r.Result.Error {
					p["state"], p["error"] = "failed", r.Result.Text
				}
			}
			parts = append(parts, p)
		}
	}
	return obj{"info": obj{"id": m.ID, "sessionID": session, "role": m.Role, "time": obj{"created": ms(m.CreatedAt)}}, "parts": parts}
}

func todos(q *request) (any, error) {
	s, err := q.session()
	if err != nil {
		return nil, err
	}
	list := []any{}
	if len(s.Todos) > 0 {
		err = json.Unmarshal(s.Todos, &list)
	}
	return list, err
}

func children(q *request) (any, error) {
	var out struct{ Sessions []session }
	if err := q.call("session.list", obj{"parent": q.PathValue("id"), "limit": 500}, &out); err != nil {
		return nil, err
	}
	records := []any{}
	for _, s := range out.Sessions {
		records = append(records, s.record())
	}
	return records, nil
}

func fork(q *request) (any, error) {
	var out session
	at, err := q.text("messageID", "message_id")
	if err != nil {
		return nil, err
	}
	err = q.call("session.fork", obj{"id": q.PathValue("id"), "message": at}, &out)
	return out.record(), err
}

func diff(q *request) (any, error) {
	var out struct {
		Diff  string   `json:"diff"`
		Files []string `json:"files"`
	}
	err := q.call("session.diff", obj{"id": q.PathValue("id")}, &out)
	return obj{"diff": out.Diff, "files": out.Files}, err
}

func revert(q *request) (any, error) {
	at, err := q.text("messageID", "message_id")
	if err != nil {
		return nil, err
	}
	var out json.RawMessage
	err = q.call("session.revert", obj{"id": q.PathValue("id"), "message": at}, &out)
	return out, err
}

func unrevert(q *request) (any, error) {
	var out json.RawMessage
	err := q.call("session.unrevert", obj{"id": q.PathValue("id")}, &out)
	return out, err
}

func attach(q *request) (any, error) {
	dir, err := q.text("target_workspace", "targetWorkspace")
	if err != nil {
		return nil, err
	}
	if dir, err = directory(q, dir); err != nil {
		return nil, err
	}
	var out session
	if err := q.call("session.update", obj{"id": q.PathValue("id"), "directory": dir}, &out); err != nil {
		return nil, err
	}
	r := out.record()
	r["ok"] = true
	return r, nil
}
