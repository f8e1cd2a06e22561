package panel

import (
	"encoding/json"
	"strings"
	"time"
)

func modelsNav() page {
	return page{id: "models", label: "Models and tools", href: "/panel/models", icon: "models", key: "g m", needs: "provider.list",
		routes: func(p *Panel) {
			p.get("/panel/models", func(v *visit) error { return v.models("") })
			form := func(path, op, said string, input func(v *visit) (any, error)) {
				p.act(act{pattern: path, op: op, input: input,
					done:    func(v *visit, _ any, _ json.RawMessage) error { return v.go303("/panel/models", said) },
					refused: func(v *visit, err error) error { return v.models(words(err)) }})
			}
			form("/panel/models", "provider.add", "provider-added", func(v *visit) (any, error) {
				in := formFields(v, "id", "name", "base", "wire", "model")
				in["keyless"] = v.r.PostFormValue("keyless") != ""
				return in, nil
			})
			form("/panel/models/key", "provider.key", "provider-key", func(v *visit) (any, error) { return formFields(v, "id", "key", "base"), nil })
			form("/panel/models/default", "provider.default", "provider-default", func(v *visit) (any, error) { return formFields(v, "model"), nil })
			form("/panel/folders", "folder.grant", "folder-granted", func(v *visit) (any, error) {
				in := formFields(v, "path")
				in["read_only"] = v.r.PostFormValue("read_only") != ""
				return in, nil
			})
			form("/panel/folders/revoke", "folder.revoke", "folder-gone", func(v *visit) (any, error) { return formFields(v, "path"), nil })
			ruleRoutes(p)
			confirm(p, confirmed{path: "/panel/models/{id}/remove", op: "provider.remove", title: "Forget this provider?",
				text: "Sessions that name one of its models stop working. Its key is forgotten, too.",
				does: "Forget", back: "/panel/models", said: "provider-gone", nav: "models"})
		}}
}

// formFields are a form's fields by name; empty ones are left out.
func formFields(v *visit, names ...string) map[string]any {
	in := map[string]any{}
	for _, n := range names {
		if s := strings.TrimSpace(v.r.PostFormValue(n)); s != "" {
			in[n] = s
		}
	}
	return in
}

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

type wireProviders struct {
	Providers []struct {
		ID        string `json:"id"`
		Name      string `json:"name"`
		Base      string `json:"base"`
		Wire      string `json:"wire"`
		Env       string `json:"env"`
		Keyless   bool   `json:"keyless"`
		Model     string `json:"default_model"`
		Connected bool   `json:"connected"`
		Source    string `json:"source"`
		Custom    bool   `json:"custom"`
	} `json:"providers"`
	Default string `json:"default"`
}

type wireFolders struct {
	Folders []struct {
		Path      string    `json:"path"`
		ReadOnly  bool      `json:"read_only"`
		GrantedBy string    `json:"granted_by"`
		CreatedAt time.Time `json:"created_at"`
	} `json:"folders"`
}

func (v *visit) models(problem string) error {
	list, err := call[wireProviders](v, "provider.list", nil)
	if err != nil {
		return err
	}
	m, err := v.means()
	if err != nil {
		return err
	}
	out := ModelsView{Now: v.now(), Default: list.Default, MayWrite: v.has("provider.key"), MayGrant: v.has("folder.grant"), PIN: m.PIN,
		Passkeys: m.Passkeys, Problem: problem}
	if o := v.p.Gate.Table().Get("provider.key"); o != nil {
		out.KeyPresent = o.Present
	}
	for _, p := range list.Providers {
		out.Providers = append(out.Providers, ProviderRow{ID: p.ID, Name: p.Name, Base: p.Base, Wire: p.Wire, Model: p.Model, Env: p.Env,
			Keyless: p.Keyless, Ready: p.Connected, Custom: p.Custom, Source: p.Source})
	}
	if v.has("folder.list") {
		folders, err := call[wireFolders](v, "folder.list", nil)
		if err != nil {
			return err
		}
		for _, f := range folders.Folders {
			out.Folders = append(out.Folders, FolderRow{f.Path, f.GrantedBy, f.ReadOnly, f.CreatedAt})
		}
	}
	if v.has("session.tools") {
		tools, err := call[struct {
			Tools []struct {
				Name    string `json:"name"`
				Doc     string `json:"doc"`
				Changes bool   `json:"changes"`
			} `json:"tools"`
		}](v, "session.tools", nil)
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
