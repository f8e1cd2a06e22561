package panel

import (
	"io/fs"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/pack/folder"
	"tandem/internal/pack/parts"
	"tandem/internal/pack/wire"
	"tandem/internal/panel/ui"
	"tandem/internal/unified"
)

// packRoutes are the pages about packs. They belong to the page of automations. A pack in a folder is shown and installed on a terminal:
// what lies on the server's disk is nobody's to browse from here.
func packRoutes(p *Panel) {
	p.get("/panel/packs", (*visit).packs)
	p.get("/panel/packs/{name}", func(v *visit) error { return v.pack("") })
	p.get("/panel/packs/{name}/install", func(v *visit) error { return v.asksInstall("") })
	perform(p, "/panel/packs/{name}/install", wire.Install,
		func(v *visit) (wire.InstallIn, error) {
			pack, _, err := v.readPack()
			return wire.InstallIn{Pack: pack, Digest: v.r.PostFormValue("digest"), Was: v.r.PostFormValue("was")}, err
		},
		func(v *visit, in wire.InstallIn, _ wire.Installed) error {
			return v.go303(packHref(in.Pack.Name), "pack-installed")
		},
		func(v *visit, err error) error { return v.asksInstall(words(err)) })
	p.get("/panel/packs/{name}/remove", func(v *visit) error { return v.asksRemoval("") })
	perform(p, "/panel/packs/{name}/remove", wire.Remove,
		func(v *visit) (wire.NameIn, error) { return wire.NameIn{Name: v.r.PathValue("name")}, nil },
		func(v *visit, _ wire.NameIn, out wire.RemoveOut) error {
			if len(out.Stays) > 0 {
				return v.go303("/panel/packs", "pack-stays")
			}
			return v.go303("/panel/packs", "pack-gone")
		},
		func(v *visit, err error) error { return v.asksRemoval(words(err)) })
}

func packHref(name string) string { return "/panel/packs/" + pathEscape(name) }

var packsCrumb = &ui.Crumb{Label: "Packs", Href: "/panel/packs"}

// PackRow is a pack in the list: installed, or one that comes with tandem.
type PackRow struct {
	Name, Title, Version, By string
	Installed                bool
	At                       time.Time
	Automations              []string
}

// PacksView is what is installed, and what comes with tandem.
type PacksView struct {
	Now  time.Time
	Rows []PackRow
}

func (v *visit) packs() error {
	list, err := ask(v, wire.List, struct{}{})
	if err != nil {
		return err
	}
	out := PacksView{Now: v.now()}
	for _, p := range list.Packs {
		out.Rows = append(out.Rows, packRow(p))
	}
	for _, name := range parts.Names {
		if slices.ContainsFunc(out.Rows, func(r PackRow) bool { return r.Name == name }) {
			continue
		}
		about, err := folder.Describe(parts.Folder(name))
		if err != nil {
			return err
		}
		out.Rows = append(out.Rows, PackRow{Name: about.Name, Title: about.Title, Version: about.Version})
	}
	s := v.shell("automations", "Packs")
	s.Back = &ui.Crumb{Label: "Automations", Href: "/panel/automations"}
	return v.show(packsPage(s, out))
}

func packRow(p wire.Installed) PackRow {
	return PackRow{Name: p.Name, Title: p.Title, Version: p.Version, By: p.By, Installed: true, At: p.At, Automations: p.Automations}
}

// PackView is one pack: what it would be allowed, and its settings.
type PackView struct {
	PackRow
	Now       time.Time
	Here      bool // it comes with tandem: it can be installed from here
	About     string
	Digest    string
	Settings  []PackSetting
	May       []wire.May
	Cannot    []string
	Ungranted []string
	Changes   []unified.File
	Same      bool // this version is installed
	MayDo     bool
	Problem   string
	Install   string // leads to the question whether it is installed
}

// PackSetting is what whoever installs a pack decides.
type PackSetting struct{ Name, About, Value string }

func (v *visit) pack(problem string) error {
	name := v.r.PathValue("name")
	list, err := ask(v, wire.List, struct{}{})
	if err != nil {
		return err
	}
	out := PackView{Now: v.now(), MayDo: v.has(string(wire.Install)), Problem: problem}
	if i := slices.IndexFunc(list.Packs, func(p wire.Installed) bool { return p.Name == name }); i >= 0 {
		out.PackRow, out.Digest = packRow(list.Packs[i]), list.Packs[i].Digest
	}
	dir := parts.Folder(name)
	switch {
	case dir == nil && !out.Installed:
		return fault.New(fault.NotFound, "pack", "there is no pack %.64q", name).WithNext("one in a folder: tandem pack install ./%s", name)
	case dir != nil:
		if err := v.look(&out, dir); err != nil {
			return err
		}
	}
	s := v.shell("automations", name)
	s.Back = packsCrumb
	return v.show(packPage(s, out))
}

// look adds what a pack that comes with tandem would be allowed, once its settings are there.
func (v *visit) look(out *PackView, dir fs.FS) error {
	about, err := folder.Describe(dir)
	if err != nil {
		return err
	}
	out.Here, out.Name, out.Title, out.About = true, about.Name, about.Title, about.About
	if !out.Installed {
		out.Version = about.Version
	}
	for _, s := range about.Settings {
		one := PackSetting{s.Name, s.About, s.Default}
		if given := v.r.FormValue("set-" + s.Name); given != "" {
			one.Value = given
		}
		out.Settings = append(out.Settings, one)
	}
	pack, set, err := v.readPack()
	if err != nil { // a setting is missing: the page asks for it
		if out.Problem == "" && len(set) > 0 {
			out.Problem = words(err)
		}
		return nil
	}
	see, err := ask(v, wire.Preview, pack)
	if err != nil {
		out.Problem = words(err)
		return nil
	}
	out.May, out.Cannot, out.Ungranted, out.Same = see.May, see.Cannot, see.Ungranted, see.Installed == see.Digest
	out.Digest = see.Digest
	if see.Changes != "" && !out.Same {
		out.Changes = diffOf(out.Name, see.Changes)
	}
	if len(out.Cannot) == 0 && !out.Same {
		out.Install = packHref(out.Name) + "/install?" + set.Encode()
	}
	return nil
}

// readPack is a pack that comes with tandem, with the settings of the address or the form, and these settings.
func (v *visit) readPack() (p wire.Pack, set url.Values, err error) {
	name := v.r.PathValue("name")
	dir := parts.Folder(name)
	if dir == nil {
		return p, nil, fault.New(fault.NotFound, "pack", "no pack %.64q comes with tandem", name).
			WithNext("one in a folder: tandem pack install ./%s", name)
	}
	set = url.Values{}
	given := map[string]string{}
	if err := v.r.ParseForm(); err != nil {
		return p, set, fault.New(fault.Invalid, "pack", "the form cannot be read: %v", err)
	}
	for key, values := range v.r.Form {
		if setting, is := strings.CutPrefix(key, "set-"); is && len(values) > 0 && values[0] != "" {
			given[setting] = values[0]
			set.Set(key, values[0])
		}
	}
	p, err = folder.Read(dir, given)
	return p, set, err
}

// asksInstall asks for a person about exactly the pack that the page showed.
func (v *visit) asksInstall(problem string) error {
	pack, set, err := v.readPack()
	if err != nil {
		return v.pack(words(err))
	}
	see, err := ask(v, wire.Preview, pack)
	if err != nil {
		return v.pack(words(err))
	}
	view := ConfirmView{Title: "Install " + pack.Name + "?", Does: "Install it", Variant: "primary",
		Text:    "Its automations are switched on and act for you, and what is listed here is granted to them.",
		Subject: pack.Name + " " + pack.Version + ", " + see.Digest, Action: packHref(pack.Name) + "/install",
		Back: packHref(pack.Name) + "?" + set.Encode(), Problem: problem, Fields: []Hidden{{"digest", see.Digest}, {"was", see.Installed}}}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		view.Fields = append(view.Fields, Hidden{key, set.Get(key)})
	}
	view.Shown = packMay(diffOf(pack.Name, see.Changes), see.May)
	return v.confirms("automations", view)
}

func (v *visit) asksRemoval(problem string) error {
	name := v.r.PathValue("name")
	return v.confirms("automations", ConfirmView{Title: "Remove " + name + "?", Does: "Remove it",
		Text:    "Its automations are switched off and removed, and what it was granted is taken back. Knowledge stays.",
		Subject: name, Action: packHref(name) + "/remove", Back: packHref(name), Problem: problem})
}
