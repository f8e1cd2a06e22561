package repo

import "context"

// dirOf is a directory that may be in conflict: the ids of its terms.
type dirOf Merge[TreeID]

// read lists a directory's entries in order, each resolved as far as that can
// be done without looking inside.
func (d dirOf) read(ctx context.Context, s Store) (names []string, values []Merge[TreeValue], err error) {
	trees := make([]Tree, len(d))
	for i, id := range d {
		if trees[i], err = s.Tree(ctx, id); err != nil {
			return nil, nil, err
		}
	}
	if len(trees) == 1 {
		for _, e := range trees[0] {
			names = append(names, e.Name)
			values = append(values, Merge[TreeValue]{e.Value})
		}
		return names, values, nil
	}
	for name, v := range mergedEntries(trees) {
		if t, ok := v.Trivial(); ok {
			if t.IsAbsent() {
				continue
			}
			v = Resolved(t)
		}
		names = append(names, name)
		values = append(values, v)
	}
	return names, values, nil
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
	names, values, err := d.read(ctx, s)
	if err != nil {
		return err
	}
	for i, name := range names {
		path := dir.Join(name)
		if isDir(values[i]) {
			err = walkDir(ctx, s, path, dirOf(treeIDs(values[i])), m, visit)
		} else if m.Match(path) {
			err = visit(path, values[i])
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
	names, values, err := d.read(ctx, s)
	if err != nil {
		return err
	}
	for i, name := range names {
		if values[i].IsResolved() {
			continue
		}
		path := dir.Join(name)
		if isDir(values[i]) {
			err = conflictsIn(ctx, s, path, dirOf(treeIDs(values[i])), m, visit)
		} else if m.Match(path) {
			err = visit(path, values[i])
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
	namesA, valuesA, err := a.read(ctx, s)
	if err != nil {
		return err
	}
	namesB, valuesB, err := b.read(ctx, s)
	if err != nil {
		return err
	}
	absent := Resolved(TreeValue{})
	for i, j := 0, 0; i < len(namesA) || j < len(namesB); {
		before, after, name := absent, absent, ""
		switch {
		case j == len(namesB) || i < len(namesA) && namesA[i] < namesB[j]:
			name, before = namesA[i], valuesA[i]
			i++
		case i == len(namesA) || namesB[j] < namesA[i]:
			name, after = namesB[j], valuesB[j]
			j++
		default:
			name, before, after = namesA[i], valuesA[i], valuesB[j]
			i, j = i+1, j+1
		}
		if before.Equal(after) {
			continue
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
