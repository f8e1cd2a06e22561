package panel

import (
	"strings"
	"time"

	"tandem/internal/models"
	"tandem/internal/op"
	"tandem/internal/session"
	"tandem/internal/told"
)

func modelsNav() page {
	return page{id: "models", label: "Models and tools", href: "/panel/models", icon: "models", key: "g m",
		needs: string(models.ProviderList), routes: func(p *Panel) {
			p.get("/panel/models", func(v *visit) error { return v.models("") })
			modelsForm(p, "/panel/models", models.ProviderAdd, "provider-added", func(v *visit) (models.ProviderAddIn, error) {
				return models.ProviderAddIn{ID: v.field("id"), Name: v.field("name"), Base: v.field("base"), Wire: v.field("wire"),
					Model: v.field("model"), Keyless: v.field("keyless") != ""}, nil
			})
			modelsForm(p, "/panel/models/key", models.ProviderKey, "provider-key", func(v *visit) (models.ProviderKeyIn, error) {
				return models.ProviderKeyIn{ID: v.field("id"), Key: v.field("key"), Base: v.field("base")}, nil
			})
			modelsForm(p, "/panel/models/default", models.ProviderDefault, "provider-default", func(v *visit) (models.DefaultIn, error) {
				return models.DefaultIn{Model: v.field("model")}, nil
			})
			modelsForm(p, "/panel/folders", session.FolderGrant, "folder-granted", func(v *visit) (session.FolderIn, error) {
				return session.FolderIn{Path: v.field("path"), ReadOnly: v.field("read_only") != ""}, nil
			})
			modelsForm(p, "/panel/folders/revoke", session.FolderRevoke, "folder-gone", func(v *visit) (session.FolderRevokeIn, error) {
				return session.FolderRevokeIn{Path: v.field("path")}, nil
			})
			ruleRoutes(p)
			confirm(p, models.ProviderRemove, func(id string) models.ProviderIn { return models.ProviderIn{ID: id} }, confirmed{
				path: "/panel/models/{id}/remove", title: "Forget this provider?",
				text: "Sessions that name one of its models stop working. Its key is forgotten, too.",
				does: "Forget", back: "/panel/models", said: "provider-gone", nav: "models"})
		}}
}

// modelsForm is a form on the page of models and tools, which leads back to it.
func modelsForm[In, Out any](p *Panel, path string, d op.Def[In, Out], said string, input func(*visit) (In, error)) {
	form(p, path, d, "/panel/models", said, input, func(v *visit, err error) error { return v.models(words(err)) })
}

// field is what was typed into a field of a form.
func (v *visit) field(name string) string { return strings.TrimSpace(v.r.PostFormValue(name)) }

// ModelsView is where models come from, and what agents are given to work with.
type ModelsView struct {
	Now        time.Time
	Default    string
	Providers  []ProviderRow
	Tools      []ToolRow
	Folders    []FolderRow
	MayWrite   bool // providers can be changed
	MayGrant   bool
	Rules      []RuleRow
	Search     []SearchRow
	MayForget  bool // end a standing answer
	MaySet     bool // change settings
	MaySeal    bool // seal keys
	KeyPresent bool // storing a key needs presence
	PIN        bool
	Passkeys   int
	Problem    string
}

// ProviderRow is a provider of models.
type ProviderRow struct {
	ID, Name, Base, Wire, Model, Env string
	Keyless, Ready, Custom           bool
	Source                           string // of the key: store, environment
}

// ToolRow is a tool that sessions can be given.
type ToolRow struct {
	Name, About string
	Changes     bool
}

// FolderRow is a folder that sessions may work in.
type FolderRow struct {
	Path, By string
	ReadOnly bool
	At       time.Time
}

func (v *visit) models(problem string) error {
	list, err := ask(v, models.ProviderList, models.Nothing{})
	if err != nil {
		return err
	}
	m, err := v.means()
	if err != nil {
		return err
	}
	out := ModelsView{Now: v.now(), Default: list.Default, MayWrite: v.has(string(models.ProviderKey)),
		MayGrant: v.has(string(session.FolderGrant)), PIN: m.PIN, Passkeys: m.Passkeys, Problem: problem}
	if o := v.p.Gate.Table().Get(string(models.ProviderKey)); o != nil {
		out.KeyPresent = o.Present
	}
	for _, p := range list.Providers {
		out.Providers = append(out.Providers, ProviderRow{ID: p.ID, Name: p.Name, Base: p.Base, Wire: p.Wire, Model: p.Default, Env: p.Env,
			Keyless: p.Keyless, Ready: p.Connected, Custom: p.Custom, Source: p.Source})
	}
	if v.has(string(session.FolderList)) {
		folders, err := ask(v, session.FolderList, session.Nothing{})
		if err != nil {
			return err
		}
		for _, f := range folders.Folders {
			out.Folders = append(out.Folders, FolderRow{f.Path, told.By(f.GrantedBy), f.ReadOnly, f.CreatedAt})
		}
	}
	if v.has(string(session.SessionTools)) {
		tools, err := ask(v, session.SessionTools, session.Nothing{})
		if err != nil {
			return err
		}
		for _, t := range tools.Tools {
			line, _, _ := strings.Cut(t.Doc, "\n")
			out.Tools = append(out.Tools, ToolRow{t.Name, line, t.Changes})
		}
	}
	if err := v.rulesAndSearch(&out); err != nil {
		return err
	}
	s := v.shell("models", "Models and tools")
	s.Here = "/panel/models"
	return v.show(modelsPage(s, out))
}

// keyState says in a word whether a provider can be used.
func (p ProviderRow) keyState() string {
	switch {
	case p.Source == "store":
		return "key stored"
	case p.Source == "environment":
		return "key from " + p.Env
	case p.Keyless:
		return "needs no key"
	}
	return "no key"
}

// isDefault tells whether new sessions use a model of this provider.
func (v ModelsView) isDefault(p ProviderRow) bool { return strings.HasPrefix(v.Default, p.ID+"/") }
