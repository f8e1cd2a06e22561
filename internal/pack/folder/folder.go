// Package folder reads a pack from its folder: pack.toml, automations, prompts, policies and knowledge. It refuses what a pack does not
// have, what is too large, links, and settings that nobody gave.
package folder

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"tandem/internal/fault"
	"tandem/internal/pack/wire"
)

// What a pack may be.
const (
	maxFiles = 200
	maxFile  = 256 << 10
	maxBytes = 1 << 20
)

// About is pack.toml.
type About struct {
	Name      string       `toml:"name"`
	Title     string       `toml:"title"`
	Version   string       `toml:"version"`
	About     string       `toml:"about"`
	Settings  []Setting    `toml:"setting"`
	Knowledge []wire.Space `toml:"knowledge"`
}

// Setting is what whoever installs a pack decides; @{name} stands for it.
type Setting struct {
	Name    string `toml:"name"`
	About   string `toml:"about"`
	Default string `toml:"default"`
}

var (
	nameForm = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)
	setForm  = regexp.MustCompile(`@\{([a-z][a-z0-9_-]*)\}`)
	textForm = regexp.MustCompile(`"@(prompts/[A-Za-z0-9._-]+)"`)
)

func bad(format string, args ...any) error {
	return fault.New(fault.Invalid, "pack", format, args...).WithNext("how a pack looks: docs/pack.md")
}

// reading is a pack on its way.
type reading struct {
	files map[string]string
	used  map[string]bool
	set   map[string]string
	about About
}

// Read reads a pack, with the settings that were given.
func Read(dir fs.FS, given map[string]string) (p wire.Pack, err error) {
	r := &reading{files: map[string]string{}, used: map[string]bool{}, set: map[string]string{}}
	if err := r.load(dir); err != nil {
		return p, err
	}
	if err := r.settings(given); err != nil {
		return p, err
	}
	p = wire.Pack{Name: r.about.Name, Title: r.about.Title, Version: r.about.Version, About: r.about.About, Automations: []wire.Automation{}}
	for _, name := range r.in("automations/", ".toml") {
		text, err := r.definition(r.take(name))
		if err != nil {
			return p, fmt.Errorf("%s: %w", name, err)
		}
		p.Automations = append(p.Automations, wire.Automation{Name: strings.TrimSuffix(path.Base(name), ".toml"), Text: text})
	}
	for _, name := range r.in("policies/", ".toml") {
		var in struct {
			Grants []wire.Grant `toml:"grant"`
		}
		text, err := r.filled(r.take(name))
		if err != nil {
			return p, err
		}
		if err := decode(name, text, &in); err != nil {
			return p, err
		}
		p.Grants = append(p.Grants, in.Grants...)
	}
	for _, s := range r.about.Knowledge {
		for _, name := range r.in("knowledge/"+s.Name+"/", ".md") {
			body := r.take(name)
			first, _, _ := strings.Cut(strings.TrimSpace(body), "\n")
			title := strings.TrimSpace(strings.TrimLeft(first, "# "))
			s.Items = append(s.Items, wire.Item{Key: strings.TrimSuffix(path.Base(name), ".md"), Title: title, Body: body})
		}
		p.Knowledge = append(p.Knowledge, s)
	}
	if len(p.Automations) == 0 && len(p.Knowledge) == 0 {
		return p, bad("the pack %s has neither automations nor knowledge", p.Name)
	}
	return p, r.left()
}

// load reads all files of a folder, which are few and small.
func (r *reading) load(dir fs.FS) error {
	bytes := 0
	err := fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return bad("%s cannot be read: %v", name, err)
		case d.IsDir() && name != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir // version control's own
		case d.IsDir() || name == "README.md" || name == "LICENSE":
			return nil
		case !d.Type().IsRegular():
			return bad("%s is no plain file", name)
		case len(r.files) >= maxFiles:
			return bad("it has more than %d files", maxFiles)
		}
		f, err := dir.Open(name)
		if err != nil {
			return bad("%s cannot be read: %v", name, err)
		}
		defer f.Close()
		text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
		if bytes += len(text); err != nil || len(text) > maxFile || bytes > maxBytes || !utf8.Valid(text) {
			return bad("%s is no text, or too large: a file has at most %d bytes, a pack %d", name, maxFile, maxBytes)
		}
		r.files[name] = string(text)
		return nil
	})
	if err != nil {
		return err
	}
	if _, there := r.files["pack.toml"]; !there {
		return bad("there is no pack.toml")
	}
	if err := decode("pack.toml", r.take("pack.toml"), &r.about); err != nil {
		return err
	}
	if !nameForm.MatchString(r.about.Name) || r.about.Version == "" || len(r.about.Version) > 64 {
		return bad("pack.toml says name, with small letters, digits and dashes, and version")
	}
	return nil
}

func (r *reading) settings(given map[string]string) error {
	for _, s := range r.about.Settings {
		if value, ok := given[s.Name]; ok {
			r.set[s.Name] = value
		} else if s.Default != "" {
			r.set[s.Name] = s.Default
		} else {
			return fault.New(fault.Invalid, "pack", "the pack %s needs to know %s: %s", r.about.Name, s.Name, s.About).
				WithNext("say it: --set %s=…", s.Name)
		}
	}
	for name := range given {
		if _, known := r.set[name]; !known {
			return bad("the pack %s has no setting %q", r.about.Name, name)
		}
	}
	return nil
}

// definition is a text with its prompts and settings in place.
func (r *reading) definition(text string) (string, error) {
	var err error
	text = textForm.ReplaceAllStringFunc(text, func(m string) string {
		name := textForm.FindStringSubmatch(m)[1]
		if _, there := r.files[name]; !there {
			err = bad("there is no file %s", name)
			return m
		}
		return quoted(strings.TrimSpace(r.take(name)))
	})
	if err != nil {
		return "", err
	}
	return r.filled(text)
}

// filled puts settings where @{name} stands, between the quotes of a text.
func (r *reading) filled(text string) (string, error) {
	var err error
	out := setForm.ReplaceAllStringFunc(text, func(m string) string {
		value, ok := r.set[setForm.FindStringSubmatch(m)[1]]
		if !ok {
			err = bad("%s stands for a setting that pack.toml does not name", m)
			return m
		}
		q := quoted(value)
		return q[1 : len(q)-1]
	})
	return out, err
}

// quoted is a text between quotes, as TOML has it.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < 0x20 || c == 0x7f:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func (r *reading) take(name string) string {
	r.used[name] = true
	return r.files[name]
}

// in are the files of one folder, in order.
func (r *reading) in(folder, ext string) (out []string) {
	for name := range r.files {
		if path.Dir(name)+"/" == folder && path.Ext(name) == ext {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// left refuses files that mean nothing: somebody believes that they do.
func (r *reading) left() error {
	for name := range r.files {
		if !r.used[name] {
			return bad("nothing of the pack %s uses %s", r.about.Name, name)
		}
	}
	return nil
}

func decode(name, text string, into any) error {
	meta, err := toml.Decode(text, into)
	if err != nil {
		return bad("%s: %v", name, err)
	}
	if more := meta.Undecoded(); len(more) > 0 {
		return bad("%s: nobody knows the key %q", name, more[0].String())
	}
	return nil
}

// Describe says what a pack is about, whatever its settings.
func Describe(dir fs.FS) (About, error) {
	r := &reading{files: map[string]string{}, used: map[string]bool{}}
	err := r.load(dir)
	return r.about, err
}
