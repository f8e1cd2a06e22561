package panel

import (
	"strings"
	"time"

	"tandem/internal/connector/wire"
	"tandem/internal/op"
	"tandem/internal/panel/ui"
	"tandem/internal/told"
)

func connectorsNav() page {
	return page{id: "connectors", label: "Connectors", href: "/panel/connectors", icon: "out", key: "g k", needs: string(wire.List),
		routes: connectorRoutes}
}

func connectorRoutes(p *Panel) {
	p.get("/panel/connectors", func(v *visit) error { return v.connectors("") })
	field := func(v *visit, name string) string { return strings.TrimSpace(v.r.PostFormValue(name)) }
	name := func(v *visit) (wire.NameIn, error) { return wire.NameIn{Name: field(v, "name")}, nil }
	again := func(v *visit, err error) error { return v.connectors(words(err)) }

	connectorAct(p, "", wire.Add, "connector-added", func(v *visit) (wire.AddIn, error) {
		return wire.AddIn{Name: field(v, "name"), URL: field(v, "url"), Header: field(v, "header")}, nil
	})
	connectorAct(p, "/sync", wire.Sync, "connector-looked", name)
	connectorAct(p, "/accept", wire.Accept, "connector-accepted", func(v *visit) (wire.AcceptIn, error) {
		return wire.AcceptIn{Name: field(v, "name"), Digest: field(v, "digest")}, nil
	})
	connectorAct(p, "/secret", wire.Secret, "connector-secret", func(v *visit) (wire.SecretIn, error) {
		return wire.SecretIn{Name: field(v, "name"), Secret: field(v, "secret")}, nil
	})
	connectorAct(p, "/logout", wire.Logout, "connector-out", name)
	connectorAct(p, "/enable", wire.Update, "connector-changed", func(v *visit) (wire.UpdateIn, error) {
		on := v.r.PostFormValue("enabled") != ""
		return wire.UpdateIn{Name: v.r.PostFormValue("name"), Enabled: &on}, nil
	})
	perform(p, "/panel/connectors/login", wire.Login, name, func(v *visit, _ wire.NameIn, to wire.LoginOut) error {
		if !strings.HasPrefix(to.URL, "https://") && !strings.HasPrefix(to.URL, "http://") {
			return v.go303("/panel/connectors", "connector-looked")
		}
		return v.connectorsWith("", to.URL)
	}, again)
	confirm(p, wire.Remove, func(id string) wire.NameIn { return wire.NameIn{Name: id} }, confirmed{path: "/panel/connectors/{id}/remove",
		title: "Remove this connector?", text: "Its tools are gone from every session with the next call.",
		does: "Remove", back: "/panel/connectors", said: "connector-gone", nav: "connectors"})
}

// connectorAct is a form that leads back to the list and says what was done.
func connectorAct[In, Out any](p *Panel, path string, d op.Def[In, Out], said string, input func(*visit) (In, error)) {
	perform(p, "/panel/connectors"+path, d, input,
		func(v *visit, _ In, _ Out) error { return v.go303("/panel/connectors", said) },
		func(v *visit, err error) error { return v.connectors(words(err)) })
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
	Name, Where, Header, Failure, Digest, By string
	State                                    wire.State
	Enabled, Program                         bool
	Tools                                    []ConnectorTool
	Looked                                   time.Time
}

// ConnectorTool is one thing that it offers.
type ConnectorTool struct{ Name, About, Schema string }

func (v *visit) connectors(problem string) error { return v.connectorsWith(problem, "") }

// connectorsWith also shows where a sign-in goes on. It is a link, as a form may lead nowhere but here.
func (v *visit) connectorsWith(problem, onward string) error {
	list, err := ask(v, wire.List, wire.Nothing{})
	if err != nil {
		return err
	}
	m, err := v.means()
	if err != nil {
		return err
	}
	out := ConnectorsView{Now: v.now(), May: v.has(string(wire.Add)), PIN: m.PIN, Passkeys: m.Passkeys, Problem: problem, Onward: onward}
	for _, c := range list.Connectors {
		row := ConnectorRow{Name: c.Name, Where: c.URL, Header: c.Header, State: c.State, Failure: c.Failure, Digest: c.Digest,
			By:      told.By(c.AddedBy),
			Enabled: c.Enabled, Looked: c.SyncedAt}
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
	case c.State == wire.AuthRequired:
		return "wants a sign-in"
	case c.State == wire.Quarantined:
		return "nobody has accepted what it offers"
	case c.State == wire.Fresh:
		return "not looked at yet"
	}
	return string(c.State)
}

func (c ConnectorRow) tone() ui.Tone {
	switch {
	case !c.Enabled:
		return ui.Quiet
	case c.State == wire.Ready:
		return ui.Good
	case c.State == wire.Failed:
		return ui.Bad
	}
	return ui.Warn
}
