package tool

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/spelling"
	"tandem/internal/tool/box"
)

// maxVisited bounds the search for what has to be hidden. A folder that is larger is not entered blindly: the command is refused.
const maxVisited = 300_000

// Mask is one place of a granted folder that a sandbox treats unlike what surrounds it. Masks come outer ones first.
type Mask struct {
	Path   string
	Folder bool
	How    Masking
	// Why is the grant or rule behind it, or what the file may hold.
	Why string
}

// Masking is what becomes of a place.
type Masking int

// A place is not there, can be read only, or is there again inside one that is not.
const (
	Hide Masking = iota
	Fix
	Show
)

// Masks is what a command in this scope must not see or change, of what exists now. Where policy keeps a tree of a repository from
// the caller, the repository's own store is hidden too: it holds the same files again, under other names.
func (s *Scope) Masks() ([]Mask, error) {
	var out []Mask
	seen := 0
	for i := len(s.folders) - 1; i >= 0; i-- { // outer folders first: inner ones are mounted over them
		m := masker{folder: s.folders[i], left: &seen}
		root := m.folder.seen(".")
		m.asks = root.Asks
		if slices.ContainsFunc(out, func(k Mask) bool { _, in := below(k.Path, m.folder.Path); return in && k.How != Show }) {
			m.put(".", true, Show, "") // granted by itself, inside a folder that hides it by its name
		}
		m.one(".", true, Show)
		if m.err != nil {
			return nil, m.err
		}
		out = append(out, m.all()...)
	}
	return out, nil
}

// Trees is Masks by what policy names alone, without looking at every file: for a folder that is too large to look through.
func (s *Scope) Trees() []Mask {
	var out []Mask
	for i := len(s.folders) - 1; i >= 0; i-- {
		m := masker{folder: s.folders[i]}
		m.asks = m.folder.seen(".").Asks
		if m.folder.sight == nil {
			continue
		}
		for _, rel := range m.edges() {
			st, err := os.Lstat(filepath.Join(m.folder.Path, rel))
			if err != nil || st.Mode()&fs.ModeSymlink != 0 {
				continue
			}
			for up := rel; up != "."; up = filepath.Dir(up) {
				if _, err := os.Lstat(filepath.Join(m.folder.Path, up, ".git")); err == nil {
					m.repos = append(m.repos, up)
				}
			}
			if how := m.how(m.folder.seen(rel)); how != m.how(m.folder.seen(filepath.Dir(rel))) {
				m.put(rel, st.IsDir(), how, m.folder.seen(rel).By)
			}
		}
		out = append(out, m.all()...)
	}
	return out
}

// edges are the places of the folder that policy names, by every spelling that is there.
func (m *masker) edges() (out []string) {
	for _, e := range m.folder.sight.Edges(Slashed(m.folder.Path)) {
		rel, ok := below(m.folder.Path, filepath.FromSlash(e))
		if !ok || rel == "." {
			continue
		}
		at := []string{"."}
		for word := range strings.SplitSeq(rel, string(filepath.Separator)) {
			var next []string
			for _, dir := range at {
				next = append(next, spelt(m.folder.Path, dir, word)...)
			}
			at = next
		}
		out = append(out, at...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// spelt are the names in a folder that are a word in some spelling.
func spelt(root, dir, word string) (out []string) {
	all, err := os.ReadDir(filepath.Join(root, dir))
	if err != nil {
		return nil // see walk
	}
	for _, e := range all {
		if spelling.Folded(e.Name()) == spelling.Folded(word) {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

// Narrowed is a place that the scope shows and the next one does not, or not to be changed; "" when there is none.
func (s *Scope) Narrowed(next *Scope) (string, error) { return s.narrowed(next, (*Scope).Masks) }

// NarrowedTrees is Narrowed by what policy names alone: see Trees.
func (s *Scope) NarrowedTrees(next *Scope) (string, error) {
	return s.narrowed(next, func(s *Scope) ([]Mask, error) { return s.Trees(), nil })
}

func (s *Scope) narrowed(next *Scope, masksOf func(*Scope) ([]Mask, error)) (string, error) {
	for _, f := range s.folders {
		if !slices.ContainsFunc(next.folders, func(n Folder) bool { return n.Path == f.Path && (f.ReadOnly || !n.ReadOnly) }) {
			return f.Path, nil
		}
	}
	masks, err := masksOf(next)
	if err != nil {
		return "", err
	}
	var had []Mask // what is hidden already; the store of a repository is, by what lies beside it
	for _, m := range masks {
		for _, f := range s.folders { // the innermost speaks first
			rel, in := below(f.Path, m.Path)
			if !in {
				continue
			}
			if was := f.seen(rel); m.How == Hide && !was.Hidden && was.Asks == "" || m.How == Fix && !was.Hidden && !was.Fixed && !f.ReadOnly {
				if had == nil {
					had, err = masksOf(s)
				}
				if err != nil || !slices.ContainsFunc(had, func(k Mask) bool { return k.Path == m.Path && k.How == m.How }) {
					return m.Path, err
				}
			}
			break
		}
	}
	return "", nil
}

type masker struct {
	folder Folder
	asks   string
	left   *int
	masks  []Mask
	repos  []string // folders below which .git or .jj lies
	err    error
}

// how is what becomes of a place that is seen so. Show is a place as the folder itself is.
func (m *masker) how(s Seen) Masking {
	switch {
	case s.Hidden || s.Asks != m.asks && s.Asks != "":
		return Hide
	case s.Fixed && !m.folder.ReadOnly:
		return Fix
	}
	return Show
}

// walk looks at what lies in a folder that was made so already.
func (m *masker) walk(rel string, around Masking) {
	dir := filepath.Join(m.folder.Path, rel)
	all, err := os.ReadDir(dir)
	if err != nil {
		return // what tandem cannot read, a command with the same rights cannot read either
	}
	for _, e := range all {
		if *m.left++; *m.left > maxVisited {
			m.err = fault.New(fault.Exhausted, "bash", "%s holds more than %d files: what is to be hidden cannot be found, so no command runs there",
				m.folder.Path, maxVisited).
				WithNext("grant the folder that the work needs instead")
		}
		if m.err != nil {
			return
		}
		if e.Type()&fs.ModeSymlink != 0 {
			continue // it leads to a place that is judged where it lies
		}
		if e.Name() == ".git" || e.Name() == ".jj" {
			m.repos = append(m.repos, rel)
		}
		m.one(filepath.Join(rel, e.Name()), e.IsDir(), around)
	}
}

func (m *masker) one(rel string, folder bool, around Masking) {
	s := m.folder.seen(rel)
	how := m.how(s)
	if how != around {
		why := s.By
		if s.Asks != "" && why == "" {
			why = s.Asks
		}
		m.put(rel, folder, how, why)
	}
	switch {
	case !folder:
	case how != Hide:
		m.walk(rel, how)
	case m.folder.sight != nil && s.By != keyFile:
		m.again(rel)
	}
}

func (m *masker) put(rel string, folder bool, how Masking, why string) {
	if how == Show && m.folder.ReadOnly {
		how = Fix
	}
	m.masks = append(m.masks, Mask{filepath.Join(m.folder.Path, rel), folder, how, why})
}

// again finds what is to be seen inside a tree that is hidden.
func (m *masker) again(hidden string) {
	for _, e := range m.folder.sight.Edges(Slashed(filepath.Join(m.folder.Path, hidden))) {
		path := filepath.FromSlash(e)
		rel, ok := below(m.folder.Path, path)
		st, err := os.Lstat(path)
		if !ok || err != nil || st.Mode()&fs.ModeSymlink != 0 || m.how(m.folder.seen(rel)) == Hide ||
			m.how(m.folder.seen(filepath.Dir(rel))) != Hide {
			continue
		}
		m.one(rel, st.IsDir(), Hide)
	}
}

// all is every mask of the folder, with what keeps people's masks in place: a folder above one that could be renamed would take
// the hidden tree along to a name that nobody denied, so it is made a mount of its own, which cannot be.
func (m *masker) all() []Mask {
	out := append(m.masks, m.stores()...)
	at := map[string]bool{m.folder.Path: true}
	for _, k := range out {
		at[k.Path] = true
	}
	for _, k := range out {
		if k.House() {
			continue
		}
		for p := filepath.Dir(k.Path); !at[p]; p = filepath.Dir(p) {
			at[p] = true
			if rel, in := below(m.folder.Path, p); in && m.how(m.folder.seen(rel)) == Show && !m.folder.ReadOnly {
				out = append(out, Mask{p, true, Show, "it holds " + k.Path})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Mask) int { return strings.Compare(outerFirst(a.Path), outerFirst(b.Path)) })
	return out
}

// outerFirst makes a path sort before those below it and after those above it.
func outerFirst(p string) string { return strings.ReplaceAll(p, string(filepath.Separator), "\x00") }

// stores are the hidden stores of version control.
func (m *masker) stores() []Mask {
	var out []Mask
	for _, repo := range m.repos {
		at := filepath.Join(m.folder.Path, repo)
		for _, k := range m.masks {
			if _, in := below(at, k.Path); !in || k.How != Hide || k.House() {
				continue
			}
			out = append(out, m.storesOf(at, k.Path)...)
			break
		}
		if n := len(out); n == 0 || filepath.Dir(out[n-1].Path) != at {
			out = append(out, m.absent(at)...)
		}
	}
	return out
}

// absent hides the stores of a repository of which something is denied that is not on the disk now: its history holds it.
func (m *masker) absent(at string) []Mask {
	if m.folder.sight == nil {
		return nil
	}
	for _, e := range m.folder.sight.Edges(Slashed(at)) {
		s := m.folder.sight.Of(e)
		if k := (Mask{Path: filepath.FromSlash(e), How: m.how(s), Why: s.By}); k.How == Hide && !k.House() {
			return m.storesOf(at, k.Path)
		}
	}
	return nil
}

// storesOf are the stores of a repository: its own, and the one in the same folder that it points to.
func (m *masker) storesOf(at, denied string) []Mask {
	var out []Mask
	why := "it holds copies of " + denied
	if store := box.StoreOf(at); store != "" {
		if rel, in := below(m.folder.Path, store); in && rel != "." {
			out = append(out, Mask{store, true, Hide, why})
		}
	}
	for _, name := range []string{".git", ".jj"} {
		if st, err := os.Lstat(filepath.Join(at, name)); err == nil && st.Mode()&fs.ModeSymlink == 0 {
			out = append(out, Mask{filepath.Join(at, name), st.IsDir(), Hide, why})
		}
	}
	return out
}

// House says that a file is hidden by its name, and not by a person's word: copies of such files in version control stay.
func (k Mask) House() bool { return k.Why == keyFile || strings.HasPrefix(k.Why, "grant:default-") }

// Exposed says which hidden files a command in this scope could reach all the same, in words for whoever decides about it; "" when none.
func (s *Sandbox) Exposed(scope *Scope) (string, error) {
	for _, f := range scope.folders {
		if f.seen(".").Asks != "" {
			return "reading " + f.Path + " needs an approval", nil
		}
	}
	if s != nil && s.Hides() {
		return "", nil
	}
	masks, err := scope.Worn().Masks()
	if err != nil || len(masks) == 0 {
		return "", err
	}
	verb, first := "read", masks[0].Path
	if masks[0].How == Fix {
		verb = "change"
	}
	if len(masks) > 1 {
		first += " and others"
	}
	if !s.Works() {
		return fmt.Sprintf("the command could %s %s, and there is no sandbox here to keep it from that", verb, first), nil
	}
	return fmt.Sprintf("the command could %s %s, which this machine's sandbox (Landlock) cannot hide", verb, first), nil
}
