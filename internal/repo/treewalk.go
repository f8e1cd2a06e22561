package repo

import "context"

// dirOf is a directory that may be in conflict: the ids of its terms.
type dirOf Merge[TreeID]

// listing is a directory's entries in order. Of one that is not in conflict nothing is made for entries that nobody looks at:
// a walk through a long history passes most of them by.
type listing struct {
	plain  Tree
	names  []string
	values []Merge[TreeValue]
}

func (l listing) size() int { return max(len(l.plain), len(l.names)) }

func (l listing) name(i int) string {
	if l.plain != nil {
		return l.plain[i].Name
	}
	return l.names[i]
}

func (l listing) value(i int) Merge[TreeValue] {
	if l.plain != nil {
		return Merge[TreeValue]{l.plain[i].Value}
	}
	return l.values[i]
}

// same says whether an entry stands for what an entry of another listing does.
func (l listing) same(i int, o listing, j int) bool {
	if l.plain != nil && o.plain != nil {
		return l.plain[i].Value == o.plain[j].Value
	}
	return l.value(i).Equal(o.value(j))
}

// read lists a directory's entries in order, each resolved as far as that can
// be done without looking inside.
func (d dirOf) read(ctx context.Context, s Store) (listing, error) {
	trees := make([]Tree, len(d))
	for i, id := range d {
		var err error
		if trees[i], err = s.Tree(ctx, id); err != nil {
			return listing{}, err
		}
	}
	if len(trees) == 1 {
		return listing{plain: trees[0]}, nil
	}
	var l listing
	for name, v := range mergedEntries(trees) {
		if t, ok := v.Trivial(); ok {
			if t.IsAbsent() {
				continue
			}
			v = Resolved(t)
		}
		l.names = append(l.names, name)
		l.values = append(l.values, v)
	}
	return l, nil
}

// IsPresent says whether a value is not plain absence.
func IsPresent(v Merge[TreeValue]) bool { return len(v) > 1 || len(v) == 1 && !v[0].IsAbsent() }

// isDir says whether a value is a directory, whole or in conflict with other
// directories only.
func isDir(v Merge[TreeValue]) bool { return IsPresent(v) && isTreeMerge(v) }

// IsFileLike says whether there is something that is not a directory.
func IsFileLike(v Merge[TreeValue]) bool { return IsPresent(v) && !isTreeMerge(v) }

// WalkTree visits the files of a tree in order of path, with their values;
// conflicts of directories are looked into, conflicts with a file are visited
// as one.
func WalkTree(ctx context.Context, s Store, t MergedTree, m Matcher, visit func(Path, Merge[TreeValue]) error) error {
	return walkDir(ctx, s, "", dirOf(t.IDs), m, visit)
}

func walkDir(ctx context.Context, s Store, dir Path, d dirOf, m Matcher, visit func(Path, Merge[TreeValue]) error) error {
	if !m.Visit(dir) {
		return nil
	}
	l, err := d.read(ctx, s)
	if err != nil {
		return err
	}
	for i := range l.size() {
		path, value := dir.Join(l.name(i)), l.value(i)
		if isDir(value) {
			err = walkDir(ctx, s, path, dirOf(treeIDs(value)), m, visit)
		} else if m.Match(path) {
			err = visit(path, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Conflicts visits the paths of a tree that are in conflict.
func Conflicts(ctx context.Context, s Store, t MergedTree, m Matcher, visit func(Path, Merge[TreeValue]) error) error {
	if !t.HasConflict() {
		return nil
	}
	return conflictsIn(ctx, s, "", dirOf(t.IDs), m, visit)
}

func conflictsIn(ctx context.Context, s Store, dir Path, d dirOf, m Matcher, visit func(Path, Merge[TreeValue]) error) error {
	if !m.Visit(dir) {
		return nil
	}
	l, err := d.read(ctx, s)
	if err != nil || l.plain != nil {
		return err
	}
	for i, value := range l.values {
		if value.IsResolved() {
			continue
		}
		path := dir.Join(l.names[i])
		if isDir(value) {
			err = conflictsIn(ctx, s, path, dirOf(treeIDs(value)), m, visit)
		} else if m.Match(path) {
			err = visit(path, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ValueAt is what a path stands for, absence included.
func ValueAt(ctx context.Context, s Store, t MergedTree, path Path) (Merge[TreeValue], error) {
	d := dirOf(t.IDs)
	parts := path.Components()
	for i, name := range parts {
		values := make(Merge[TreeValue], len(d))
		for k, id := range d {
			tree, err := s.Tree(ctx, id)
			if err != nil {
				return nil, err
			}
			values[k] = tree.Value(name)
		}
		if v, ok := values.Trivial(); ok {
			values = Resolved(v)
		}
		if i == len(parts)-1 {
			return values, nil
		}
		if !isDir(values) {
			return Resolved(TreeValue{}), nil
		}
		d = dirOf(treeIDs(values))
	}
	return MapMerge(t.IDs, func(id TreeID) TreeValue { return TreeValue{Subtree, string(id)} }), nil
}

// DiffVisit is told of a path that stands for different things in two trees.
type DiffVisit func(path Path, before, after Merge[TreeValue]) error

// DiffTrees visits the files that differ between two trees, in order of path.
// Directories are not visited themselves: where one takes a file's place, the
// file goes and the files in it come.
func DiffTrees(ctx context.Context, s Store, before, after MergedTree, m Matcher, visit DiffVisit) error {
	return diffDirs(ctx, s, "", dirOf(before.IDs), dirOf(after.IDs), m, visit, false)
}

// DiffTreesForDisk is DiffTrees in an order that can be carried out on a disk:
// the files of a directory go before a file takes its place.
func DiffTreesForDisk(ctx context.Context, s Store, before, after MergedTree, m Matcher, visit DiffVisit) error {
	return diffDirs(ctx, s, "", dirOf(before.IDs), dirOf(after.IDs), m, visit, true)
}

func diffDirs(ctx context.Context, s Store, dir Path, a, b dirOf, m Matcher, visit DiffVisit, disk bool) error {
	if Merge[TreeID](a).Equal(Merge[TreeID](b)) || !m.Visit(dir) {
		return nil
	}
	from, err := a.read(ctx, s)
	if err != nil {
		return err
	}
	to, err := b.read(ctx, s)
	if err != nil {
		return err
	}
	absent := Resolved(TreeValue{})
	for i, j := 0, 0; i < from.size() || j < to.size(); {
		before, after, name := absent, absent, ""
		switch {
		case j == to.size() || i < from.size() && from.name(i) < to.name(j):
			name, before = from.name(i), from.value(i)
			i++
		case i == from.size() || to.name(j) < from.name(i):
			name, after = to.name(j), to.value(j)
			j++
		default:
			i, j = i+1, j+1
			if from.same(i-1, to, j-1) {
				continue
			}
			name, before, after = from.name(i-1), from.value(i-1), to.value(j-1)
		}
		if err := diffEntry(ctx, s, dir.Join(name), before, after, m, visit, disk); err != nil {
			return err
		}
	}
	return nil
}

func diffEntry(ctx context.Context, s Store, path Path, before, after Merge[TreeValue], m Matcher, visit DiffVisit, disk bool) error {
	dirA, dirB := dirOf{EmptyTreeID}, dirOf{EmptyTreeID}
	fileA, fileB := before, after
	absent := Resolved(TreeValue{})
	if isDir(before) {
		dirA, fileA = dirOf(treeIDs(before)), absent
	}
	if isDir(after) {
		dirB, fileB = dirOf(treeIDs(after)), absent
	}
	files := func() error {
		if fileA.Equal(fileB) || !m.Match(path) {
			return nil
		}
		return visit(path, fileA, fileB)
	}
	dirs := func() error { return diffDirs(ctx, s, path, dirA, dirB, m, visit, disk) }
	if disk && isDir(before) {
		files, dirs = dirs, files
	}
	if err := files(); err != nil {
		return err
	}
	return dirs()
}
