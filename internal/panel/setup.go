package panel

import (
	"slices"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/models"
	"tandem/internal/panel/ui"
	server "tandem/internal/server/wire"
	"tandem/internal/session"
)

const setupHref = "/panel/setup"

// setupRoutes are the first ten minutes on one page. Each form is the operation that people use later, too.
func setupRoutes(p *Panel) {
	p.get(setupHref, func(v *visit) error { return v.setup("") })
	again := func(v *visit, err error) error { return v.setup(words(err)) }
	form(p, "/panel/setup/folder", session.FolderGrant, setupHref, "folder-granted",
		func(v *visit) (session.FolderIn, error) { return session.FolderIn{Path: v.field("path")}, nil }, again)
	form(p, "/panel/setup/key", models.ProviderKey, setupHref, "provider-key", func(v *visit) (models.ProviderKeyIn, error) {
		id, base, ok := strings.Cut(v.field("provider"), " ") // the key goes where the page said
		if !ok {
			return models.ProviderKeyIn{}, fault.New(fault.Invalid, string(models.ProviderKey), "choose whose key it is")
		}
		return models.ProviderKeyIn{ID: id, Base: base, Key: v.field("key")}, nil
	}, again)
	form(p, "/panel/setup/default", models.ProviderDefault, setupHref, "provider-default",
		func(v *visit) (models.DefaultIn, error) { return models.DefaultIn{Model: v.field("model")}, nil }, again)
	form(p, "/panel/setup/phone", server.PhoneSet, setupHref, "phone-set", func(v *visit) (server.PhoneIn, error) {
		return server.PhoneIn{Topic: v.field("topic"), Address: v.field("address")}, nil
	}, again)
	perform(p, "/panel/setup/turn", session.SessionCreate,
		func(v *visit) (session.CreateIn, error) {
			in := session.CreateIn{Title: "First turn"}
			_, folders, err := v.startingPoint()
			if len(folders) > 0 { // as the page says: the first that is granted
				in.Directory = folders[0]
			}
			return in, err
		},
		func(v *visit, _ session.CreateIn, made *session.Session) error {
			if _, err := ask(v, session.SessionPrompt, session.PromptIn{ID: made.ID, Text: v.field("text")}); err != nil {
				return v.session(made.ID, words(err))
			}
			return v.go303(sessionHref(made.ID), "")
		}, again)
}

// SetupView is what is done of the beginning, and what is left.
type SetupView struct {
	Program  string
	PINSet   bool
	Passkeys int // registered
	Agents   []string
	Tmux     bool
	Folders  []string
	Default  string
	Echo     bool        // the default model repeats what it is told
	Ready    []string    // models whose provider has a key
	Offered  []ui.Option // providers without a key
	Turns    int         // sessions that there are, at most one
	MayGrant bool
	MayKey   bool
	MayTurn  bool
	MayPhone bool
	Phone    bool   // it is told
	Topic    string // for a phone, the same until one is told
	Address  string // one that was refused
	Reached  string // where a phone reaches the panel
	KeyAsks  bool   // storing a key needs presence
	PIN      bool
	Means    int // passkeys that work in this browser
	Problem  string
	Lacks    []string
	Folder   string // one that was refused
}

// proves says whether there is something to show presence with; until then a form has no button, and is renewed with the page.
func (v SetupView) proves() bool { return v.PIN || v.Means > 0 }

func (v *visit) setup(problem string) error {
	st, err := ask(v, server.ServerStatus, identity.Nothing{})
	if err != nil {
		return err
	}
	keys, err := v.passkeys()
	if err != nil {
		return err
	}
	m, err := v.means()
	if err != nil {
		return err
	}
	out := SetupView{Program: v.p.Program, PINSet: st.PIN, Passkeys: len(keys), MayGrant: v.has(string(session.FolderGrant)),
		MayKey: v.has(string(models.ProviderKey)), MayTurn: v.has(string(session.SessionCreate)), PIN: m.PIN, Means: m.Passkeys,
		Problem: problem, Folder: v.refilled("/panel/setup/folder").Get("path")}
	out.MayPhone, out.Reached = v.has(string(server.PhoneSet)), st.Elsewhere
	out.Phone = slices.ContainsFunc(st.Told, func(t server.Told) bool { return t.Way == "ntfy" })
	out.Topic, out.Address = v.refilled("/panel/setup/phone").Get("topic"), v.refilled("/panel/setup/phone").Get("address")
	if out.Topic == "" && !out.Phone && out.MayPhone {
		if out.Topic, err = v.p.Topic(v.r.Context()); err != nil {
			out.Lacks = append(out.Lacks, "A topic for your phone: "+words(err))
		}
	}
	out.Agents, out.Tmux = v.p.Agents()
	if out.Default, out.Folders, err = v.startingPoint(); err != nil { // each step stands by itself
		out.Lacks = append(out.Lacks, "The folders and the model: "+words(err))
	}
	if err := v.setupModels(&out); err != nil {
		out.Lacks = append(out.Lacks, "The models: "+words(err))
	}
	if v.has(string(session.SessionList)) {
		list, err := ask(v, session.SessionList, session.ListIn{Limit: 1})
		if err != nil {
			out.Lacks = append(out.Lacks, "The sessions: "+words(err))
		}
		out.Turns = len(list.Sessions)
	}
	s := v.shell("overview", "First steps")
	s.Here = setupHref
	s.Back = &ui.Crumb{Label: "Overview", Href: "/panel/"}
	return v.show(setupPage(s, out))
}

func (v *visit) setupModels(out *SetupView) error {
	if !v.has(string(models.ProviderList)) {
		return nil
	}
	list, err := ask(v, models.ProviderList, models.Nothing{})
	if err != nil {
		return err
	}
	out.Echo = list.Default == models.Default
	if o := v.p.Gate.Table().Get(string(models.ProviderKey)); o != nil {
		out.KeyAsks = o.Present
	}
	for _, p := range list.Providers {
		switch {
		case p.Keyless:
		case !p.Connected:
			out.Offered = append(out.Offered, ui.Option{Value: p.ID + " " + p.Base, Label: p.Name + ", at " + p.Base})
		case p.Default != "" && !strings.HasPrefix(list.Default, p.ID+"/"):
			out.Ready = append(out.Ready, p.ID+"/"+p.Default)
		}
	}
	return nil
}
