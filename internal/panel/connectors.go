package panel

import (
	"encoding/json"
	"strings"
	"time"

	"tandem/internal/panel/ui"
)

func connectorsNav() page {
	return page{id: "connectors", label: "Connectors", href: "/panel/connectors", icon: "out", key: "g k", needs: "connector.list", routes: func(p *Panel) {
		p.get("/panel/connectors", func(v *visit) error { return v.connectors("") })
		form := func(path, op, said string, input func(v *visit) (any, error)) {
			p.act(act{pattern: path, op: op, input: input,
				done:    func(v *visit, _ any, _ json.RawMessage) error { return v.go303("/panel/connectors", said) },
				refused: func(v *visit, err error) error { return v.connectors(words(err)) }})
		}
		name := func(v *visit) (any, error) { return formFields(v, "name"), nil }
		form("/panel/connectors", "connector.add", "connector-added", func(v *visit) (any, error) { return formFields(v, "name", "url", "header"), nil })
		form("/panel/connectors/sync", "connector.sync", "connector-looked", name)
		form("/panel/connectors/accept", "connector.accept", "connector-accepted", func(v *visit) (any, error) { return formFields(v, "name", "digest"), nil })
		form("/panel/connectors/secret", "connector.secret", "connector-secret", func(v *visit) (any, error) { return formFields(v, "name", "secret"), nil })
		form("/panel/connectors/logout", "connector.logout", "connector-out", name)
		form("/panel/connectors/enable", "connector.update", "connector-changed", func(v *visit) (any, error) {
			return map[string]any{"name": v.r.PostFormValue("name"), "enabled": v.r.PostFormValue("enabled") != ""}, nil
		})
		p.act(act{pattern: "/panel/connectors/login", op: "connector.login", input: name,
			done: func(v *visit, _ any, out json.RawMessage) error {
				var to struct{ URL string }
				if err := json.Unmarshal(out, &to); err != nil {
					return err
				}
				if !strings.HasPrefix(to.URL, "https://") && !strings.HasPrefix(to.URL, "http://") {
					return v.go303("/panel/connectors", "connector-looked")
				}
				return v.connectorsWith("", to.URL)
			},
			refused: func(v *visit, err error) error { return v.connectors(words(err)) }})
		confirm(p, confirmed{path: "/panel/connectors/{id}/remove", op: "connector.remove", field: "name", title: "Remove this connector?", text: "Its tools are gone from every session with the next call.",
			does: "Remove", back: "/panel/connectors", said: "connector-gone", nav: "connectors"})
	}}
}

// ConnectorsView is the outside servers.
type ConnectorsView struct {
	Now      time.Time
	Rows     []ConnectorRow
	May      bool // change them
	PIN      bool
	Passkeys int
	Problem  string
	Onward   string // where a sign-in that was begun goes on
}

// ConnectorRow is one outside server.
type ConnectorRow struct {
	Name, Where, Header, State, Failure, Digest, By string
	Enabled, Program                                bool
	Tools                                           []ConnectorTool
	Looked                                          time.Time
}

// ConnectorTool is one thing that it offers.
type ConnectorTool struct{ Name, About, Schema string }

func (v *visit) connectors(problem string) error { return v.connectorsWith(problem, "") }

// connectorsWith also shows where a sign-in goes on. It is a link, as a form may lead nowhere but here.
func (v *visit) connectorsWith(problem, onward string) error {
	list, err := call[struct {
		Connectors []struct {
			Name     string    `json:"name"`
			URL      string    `json:"url"`
			Command  []string  `json:"command"`
			Header   string    `json:"header"`
			Enabled  bool      `json:"enabled"`
			State    string    `json:"state"`
			Failure  string    `json:"failure"`
			Digest   string    `json:"digest"`
			AddedBy  string    `json:"added_by"`
			SyncedAt time.Time `json:"synced_at"`
			Tools    []struct {
				Name   string          `json:"name"`
				Doc    string          `json:"doc"`
				Schema json.RawMessage `json:"schema"`
			} `json:"tools"`
		} `json:"connectors"`
	}](v, "connector.list", nil)
	if err != nil {
		return err
	}
	m, err := v.means()
	if err != nil {
		return err
	}
	out := ConnectorsView{Now: v.now(), May: v.has("connector.add"), PIN: m.PIN, Passkeys: m.Passkeys, Problem: problem, Onward: onward}
	for _, c := range list.Connectors {
		row := ConnectorRow{Name: c.Name, Where: c.URL, Header: c.Header, State: c.State, Failure: c.Failure, Digest: c.Digest, By: c.AddedBy, Enabled: c.Enabled, Looked: c.SyncedAt}
		if len(c.Command) > 0 {
			row.Where, row.Program = strings.Join(c.Command, " "), true
		}
		for _, t := range c.Tools {
			row.Tools = append(row.Tools, ConnectorTool{t.Name, t.Doc, pretty(t.Schema)})
		}
		out.Rows = append(out.Rows, row)
	}
	s := v.shell("connectors", "Connectors")
	s.Here = "/panel/connectors"
	return v.show(connectorsPage(s, out))
}

// word is a connector's state as people read it.
func (c ConnectorRow) word() string {
	switch {
	case !c.Enabled:
		return "disabled"
	case c.State == "auth_required":
		return "wants a sign-in"
	case c.State == "quarantined":
		return "nobody has accepted what it offers"
	case c.State == "new":
		return "not looked at yet"
	}
	return c.State
}

func (c ConnectorRow) tone() ui.Tone {
	switch {
	case !c.Enabled:
		return ui.Quiet
	case c.State == "ready":
		return ui.Good
	case c.State == "failed":
		return ui.Bad
	}
	return ui.Warn
}
