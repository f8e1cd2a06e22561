package prepare

import (
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// npmLock is a package-lock.json of npm 7 and later.
type npmLock struct {
	Version  int                   `json:"lockfileVersion"`
	Packages map[string]npmPackage `json:"packages"`
}

// npmPackage is one entry of it.
type npmPackage struct {
	Name      string          `json:"name"`
	Version   string          `json:"version"`
	Resolved  string          `json:"resolved"`
	Integrity string          `json:"integrity"`
	Link      bool            `json:"link"`
	Bundled   bool            `json:"inBundle"`
	Optional  bool            `json:"optional"`
	Bin       json.RawMessage `json:"bin"`
	OS        json.RawMessage `json:"os"`
	CPU       json.RawMessage `json:"cpu"`
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func parseNPM(text string) (l npmLock, err error) {
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return l, bad("package-lock.json cannot be read: %.200s", err)
	}
	if l.Version < 2 {
		return l, bad("package-lock.json is of version %d, and only 2 and 3 are read", l.Version).
			WithNext("write it anew: npm install --package-lock-only")
	}
	return l, nil
}

// inModules says whether an entry is of a folder in node_modules; the others are the repository's own.
func inModules(at string) bool { return slices.Contains(strings.Split(at, "/"), "node_modules") }

// fetched says whether an entry comes from a registry.
func (p npmPackage) fetched(at string) bool { return inModules(at) && !p.Link && !p.Bundled }

// called is the package's name: its own, where it lies under another one.
func (p npmPackage) called(at string) string {
	if p.Name != "" {
		return p.Name
	}
	return lies(at)
}

// lies is the name by which a package is found.
func lies(at string) string {
	i := strings.LastIndex("/"+at, "/node_modules/")
	return ("/" + at)[i+len("/node_modules/"):]
}

// words are what people are shown of a package.
func (p npmPackage) words(at string) string {
	said := p.called(at) + " " + p.Version
	if as := lies(at); as != p.called(at) {
		said += " (as " + as + ")"
	}
	return said
}

// fits says whether a list of systems or processors names this one; an empty list names all.
func fits(list json.RawMessage, this string) bool {
	var names []string
	if json.Unmarshal(list, &names) != nil {
		var one string
		if json.Unmarshal(list, &one) != nil {
			return true
		}
		names = []string{one}
	}
	wanted := false
	for _, n := range names {
		if n == "!"+this {
			return false
		}
		wanted = wanted || n == this || n == "any" || strings.HasPrefix(n, "!")
	}
	return wanted || len(names) == 0
}

// processors are what Node calls them.
var processors = map[string]string{"amd64": "x64", "386": "ia32"}

// here says whether a package is for this machine; only those that may be missing are left out.
func (p npmPackage) here() bool {
	cpu := processors[runtime.GOARCH]
	if cpu == "" {
		cpu = runtime.GOARCH
	}
	return !p.Optional || fits(p.OS, runtime.GOOS) && fits(p.CPU, cpu)
}

// public is the registry that lock files name where nobody chose one: another one that is named stands in for it, as it does for npm.
const public = "https://registry.npmjs.org"

// What a name and a version consist of: with these an address is that of no other package.
var (
	aName    = regexp.MustCompile(`^(@[\w~-][\w.~-]*/)?[\w~-][\w.~-]*$`)
	aVersion = regexp.MustCompile(`^\d[\w.+-]*$`)
)

// from is where a package is fetched from. It is the place of its name and version in the registry, since a person was shown these.
func (p npmPackage) from(at, registry string) (string, error) {
	name := p.called(at)
	if !aName.MatchString(name) || !aVersion.MatchString(p.Version) {
		return "", bad("package-lock.json names no package: %.100q %.100q", name, p.Version)
	}
	end := "-" + p.Version + ".tgz"
	places := []string{name + "/-/" + path.Base(name) + end, name + "/-/" + name + end} // some registries repeat the scope
	if p.Resolved == "" {
		return registry + "/" + places[0], nil
	}
	for _, in := range []string{registry, public} {
		rest, ok := below(in, p.Resolved)
		if !ok {
			continue
		}
		if plain, err := url.PathUnescape(rest); err != nil || !slices.Contains(places, plain) {
			return "", bad("package-lock.json has %s %s from %.200s, which is not its place in the registry", name, p.Version, p.Resolved).
				WithNext("write it anew: npm install --package-lock-only")
		}
		return registry + "/" + rest, nil
	}
	return "", bad("%s comes from %.200s, which is no registry that somebody named", name, p.Resolved).WithNext("%s", nameIt)
}

// digest is the sha512 of a package.
func (p npmPackage) digest() (string, bool) {
	for word := range strings.FieldsSeq(p.Integrity) {
		text, ok := strings.CutPrefix(word, "sha512-")
		text, _, _ = strings.Cut(text, "?")
		if raw, err := base64.StdEncoding.DecodeString(text); ok && err == nil && len(raw) == sha512.Size {
			return hex.EncodeToString(raw), true
		}
	}
	return "", false
}

// beside reads package.json, and those of a workspace's folders.
func (f *File) beside(dir string, read func(string) (string, error)) error {
	l, err := parseNPM(f.Text)
	if err != nil {
		return err
	}
	f.Beside = map[string]string{}
	for _, at := range append([]string{""}, sorted(l.Packages)...) {
		if inModules(at) {
			continue
		}
		if at != "" && !filepath.IsLocal(filepath.FromSlash(at)) {
			return bad("%s names a package outside of its folder: %.100q", f.Path, at)
		}
		name := path.Join(at, "package.json")
		if f.Beside[name], err = read(path.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// maxPackage is how long an npm package may be.
const maxPackage = 300 << 20

// install is what makes node_modules of what was fetched: without the network, and without any script of a package.
const install = "exec npm ci --offline --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error --cache ../cache"

// packages makes the node_modules of a lock file. Packages are compared with their digests and put where npm finds them by these; then npm
// itself lays them out, from package-lock.json and package.json alone.
func (m *maker) packages(ctx context.Context, p Part, into string) error {
	f := p.files[0]
	l, err := parseNPM(f.Text)
	if err != nil {
		return err
	}
	stage := into + ".npm"
	defer os.RemoveAll(stage) //nolint:errcheck // it is swept when the next one is made
	if err := m.fetchNPM(ctx, l, filepath.Join(stage, "cache", "_cacache", "content-v2", "sha512")); err != nil {
		return err
	}
	app := filepath.Join(stage, "app")
	files := maps.Clone(f.Beside)
	files[path.Base(f.Path)] = f.Text
	for name, text := range files {
		at := filepath.Join(app, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			return err
		}
	}
	if err := m.boxed(ctx, stage, app, install); err != nil {
		return err
	}
	return take(filepath.Join(app, "node_modules"), into)
}

// take puts what npm made where it is kept. The lock file that it worked by is somebody else's: a link in its place would show a check
// whatever it leads to.
func take(made, into string) error {
	st, err := os.Lstat(made)
	switch {
	case os.IsNotExist(err): // it depends on nothing
		return os.MkdirAll(into, 0o755)
	case err != nil:
		return err
	case !st.IsDir():
		return bad("npm made no folder of what package-lock.json names")
	}
	if err := os.Remove(into); err != nil && !os.IsNotExist(err) {
		return err
	}
	return os.Rename(made, into)
}

func (m *maker) fetchNPM(ctx context.Context, l npmLock, content string) error {
	wanted, places := map[string]string{}, map[string]int64{} // digests, and in how many folders npm unpacks it, by address
	for _, at := range sorted(l.Packages) {
		pkg := l.Packages[at]
		if !pkg.fetched(at) || !pkg.here() {
			continue
		}
		sum, ok := pkg.digest()
		if !ok {
			return bad("package-lock.json has no sha512 for %s %s", pkg.called(at), pkg.Version).
				WithNext("write it anew: npm install --package-lock-only")
		}
		from, err := pkg.from(at, m.registries[NPM])
		if err != nil {
			return err
		}
		if had := wanted[from]; had != "" && had != sum {
			return bad("package-lock.json has two digests for %s %s", pkg.called(at), pkg.Version)
		}
		wanted[from] = sum
		places[from]++
	}
	froms := sorted(wanted)
	return m.each(ctx, len(froms), func(ctx context.Context, i int) error {
		data, err := m.fetch(ctx, froms[i], maxPackage)
		if err != nil {
			return err
		}
		sum := wanted[froms[i]]
		if got := sha512.Sum512(data); hex.EncodeToString(got[:]) != sum {
			return forged(froms[i], "package-lock.json")
		}
		if err := m.measureTar(froms[i], data, places[froms[i]]); err != nil {
			return err
		}
		at := filepath.Join(content, sum[:2], sum[2:4], sum[4:])
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		return os.WriteFile(at, data, 0o644)
	})
}
