package render

import (
	"bytes"
	"cmp"
	"context"
	"path"
	"slices"

	"tandem/internal/repo"
	"tandem/internal/repo/diff"
)

const (
	// likeEnough is how much of the longer file both have to share.
	likeEnough = 0.5
	// maxPairs is how many contents are compared at most; with more
	// candidates only equal ones are found.
	maxPairs = 1000
	// Of very many changes only so many lookups are tried.
	manyChanges, maxLookups = 100_000, 1_000_000
)

type happening int

const (
	removed happening = iota
	changed
	added
)

// change is one path that differs between two git trees. Directories that came
// or went as a whole count, too.
type change struct {
	path  repo.Path
	what  happening
	value repo.TreeValue // as it is now, unless removed
	// group numbers the topmost directory that came or went with the path; 0 is
	// none. top says that it is that directory.
	group int
	top   bool
	found bool // where it came from, or went to
}

func (c *change) base() string { return path.Base(string(c.path)) }

// rewrites finds in the changes between two trees what was renamed or copied,
// the way gitoxide does it for stock jj: first whole directories, then equal
// files, then similar ones; renames before copies, and copies only from files
// that were changed themselves. Order decides between equals: changes are met by
// content id and path.
type rewrites struct {
	store   repo.Store
	changes []*change
	groups  int
	moved   map[[2]int]bool // directories between which equal files moved
	lookups int
	emit    func(from, to *change)
}

// FindRewrites calls emit for each file of a commit that came from another one
// of an earlier commit. Of a tree in conflict its first side counts, as for git.
func FindRewrites(ctx context.Context, s repo.Store, from, to *repo.Commit, emit func(from, to repo.Path)) error {
	w := &rewrites{store: s, moved: map[[2]int]bool{}}
	if err := w.collect(ctx, from.Tree.IDs.First(), to.Tree.IDs.First()); err != nil {
		return err
	}
	w.emit = func(from, to *change) {
		from.found, to.found = true, true
		if from.value.IsFile() && to.value.IsFile() {
			emit(from.path, to.path)
		}
	}
	slices.SortFunc(w.changes, func(a, b *change) int {
		return cmp.Or(cmp.Compare(a.value.ID, b.value.ID), cmp.Compare(a.path, b.path), cmp.Compare(a.what, b.what))
	})
	w.equal(removed, func(c *change) bool { return c.top })
	if err := w.pairs(ctx, removed); err != nil {
		return err
	}
	w.settleDirectories()
	return w.pairs(ctx, changed)
}

// collect lists what differs between two trees.
func (w *rewrites) collect(ctx context.Context, from, to repo.TreeID) error {
	type dirs struct {
		path     repo.Path
		from, to repo.TreeID // "" is none
		group    int
	}
	read := func(id repo.TreeID) (repo.Tree, error) {
		if id == "" {
			return nil, nil
		}
		t, err := w.store.Tree(ctx, id)
		if err != nil {
			return nil, err
		}
		t = slices.Clone(t)
		slices.SortFunc(t, func(a, b repo.Entry) int { return cmp.Compare(gitName(a), gitName(b)) })
		return t, nil
	}
	queue := []dirs{{from: from, to: to}}
	if from == to {
		queue = nil
	}
	for ; len(queue) > 0; queue = queue[1:] {
		d := queue[0]
		a, err := read(d.from)
		if err != nil {
			return err
		}
		b, err := read(d.to)
		if err != nil {
			return err
		}
		// one puts down that an entry is only on one side.
		one := func(e repo.Entry, what happening) {
			c := &change{path: d.path.Join(e.Name), what: what, value: e.Value, group: d.group}
			if e.Value.IsTree() {
				if c.group == 0 {
					w.groups++
					c.group, c.top = w.groups, true
				}
				sub := dirs{path: c.path, group: c.group}
				if what == removed {
					sub.from = e.Value.TreeID()
				} else {
					sub.to = e.Value.TreeID()
				}
				queue = append(queue, sub)
			}
			w.changes = append(w.changes, c)
		}
		for len(a) > 0 || len(b) > 0 {
			switch {
			case len(b) == 0 || len(a) > 0 && gitName(a[0]) < gitName(b[0]):
				one(a[0], removed)
				a = a[1:]
			case len(a) == 0 || gitName(b[0]) < gitName(a[0]):
				one(b[0], added)
				b = b[1:]
			default:
				x, y := a[0], b[0]
				a, b = a[1:], b[1:]
				p := d.path.Join(x.Name)
				switch {
				case x.Value == y.Value:
				case x.Value.IsTree():
					queue = append(queue, dirs{p, x.Value.TreeID(), y.Value.TreeID(), d.group})
				default:
					w.changes = append(w.changes, &change{path: p, what: changed, value: y.Value})
				}
			}
		}
	}
	return nil
}

// gitName is a name as git orders it: directories as if they ended in a slash.
func gitName(e repo.Entry) string {
	if e.Value.IsTree() {
		return e.Name + "/"
	}
	return e.Name
}

// pairs matches new paths with what was removed (a rename) or changed (a copy):
// equal ones, and if there are not too many then similar ones.
func (w *rewrites) pairs(ctx context.Context, source happening) error {
	wanted := func(c *change) bool { return c.group != 0 && !c.top || c.value.ID != emptyBlobID }
	if !w.equal(source, wanted) {
		return nil
	}
	from, to := 0, 0
	for _, c := range w.changes {
		switch {
		case c.what == added && !c.found:
			to++
		case c.what == source && (source == changed || !c.found):
			from++
		}
	}
	if from*to > maxPairs {
		return nil
	}
	for _, c := range w.changes {
		if c.what != added || c.found || !c.value.IsFile() || !wanted(c) {
			continue
		}
		s, err := w.similar(ctx, c, source)
		if err != nil {
			return err
		}
		if s != nil {
			w.emit(s, c)
		}
	}
	return nil
}

// fits says whether a change can be where another one came from.
func fits(s, c *change, source happening) bool {
	if s.what != source || source == removed && s.found {
		return false
	}
	return s.value.IsFile() && c.value.IsFile() || s.value.Kind == c.value.Kind
}

// equal matches new paths with sources of the same content. It is not ok when
// it gave up.
func (w *rewrites) equal(source happening, wanted func(*change) bool) (ok bool) {
	w.lookups = 0
	for _, c := range w.changes {
		if c.what != added || c.found || !wanted(c) {
			continue
		}
		s := w.same(c, source)
		if len(w.changes) >= manyChanges && w.lookups > maxLookups {
			return false
		}
		if s == nil {
			continue
		}
		w.emit(s, c)
		switch {
		case s.group == 0 || c.group == 0:
		case s.top && c.top:
			w.emitBelow(s.group, c.group)
		case !s.top && !c.top:
			w.moved[[2]int{s.group, c.group}] = true
		}
	}
	return true
}

// same is a source of the same content, if possible of the same name.
func (w *rewrites) same(c *change, source happening) (first *change) {
	i, _ := slices.BinarySearchFunc(w.changes, c.value.ID, func(x *change, id string) int { return cmp.Compare(x.value.ID, id) })
	for ; i < len(w.changes) && w.changes[i].value.ID == c.value.ID; i++ {
		w.lookups++
		s := w.changes[i]
		if s == c || !fits(s, c, source) {
			continue
		}
		if s.base() == c.base() {
			return s
		}
		if first == nil {
			first = s
		}
	}
	return first
}

// emitBelow matches what is in two equal directories.
func (w *rewrites) emitBelow(from, to int) {
	in := func(group int) (out []*change) {
		for _, c := range w.changes {
			if c.group == group && !c.top && !c.found {
				out = append(out, c)
			}
		}
		return out
	}
	sources, files := in(from), in(to)
	for i := range min(len(sources), len(files)) {
		s, c := sources[i], files[i]
		if s.value.ID != c.value.ID || s.base() != c.base() {
			return
		}
		w.emit(s, c)
	}
}

// settleDirectories takes directories out of the count between which files
// moved.
func (w *rewrites) settleDirectories() {
	top := func(group int) *change {
		for _, c := range w.changes {
			if c.top && c.group == group && !c.found {
				return c
			}
		}
		return nil
	}
	order := func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }
	keys := make([][2]int, 0, len(w.moved))
	for k := range w.moved {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, order)
	for _, k := range keys {
		if s, c := top(k[0]), top(k[1]); s != nil && c != nil {
			s.found, c.found = true, true
		}
	}
}

// similar is the source that shares most, if that is enough.
func (w *rewrites) similar(ctx context.Context, c *change, source happening) (best *change, err error) {
	var most float32
	for _, s := range w.changes {
		if s == c || !fits(s, c, source) {
			continue
		}
		x, err := w.store.File(ctx, s.value.FileID())
		if err != nil {
			return nil, err
		}
		y, err := w.store.File(ctx, c.value.FileID())
		if err != nil {
			return nil, err
		}
		n := likeness(x, y)
		if n < likeEnough {
			continue
		}
		named := n == most && s.base() == c.base() && best.base() != c.base()
		if best == nil || n > most || named {
			best, most = s, n
		}
	}
	return best, nil
}

// likeness is the part of the longer text that is kept.
func likeness(x, y []byte) float32 {
	longest := max(len(x), len(y))
	if longest == 0 || binary(x) || binary(y) || min(len(x), len(y))*2 < longest {
		return 0
	}
	return float32(diff.KeptBytes(x, y)) / float32(longest)
}

func binary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 }

const emptyBlobID = "\xe6\x9d\xe2\x9b\xb2\xd1\xd6\x43\x4b\x8b\x29\xae\x77\x5a\xd8\xc2\xe4\x8c\x53\x91"
