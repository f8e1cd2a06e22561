package repo

import (
	"context"
	"maps"
)

// MergeTrees merges the trees of a conflict, directory by directory and file
// by file. The result is resolved, or has as many terms as there were, in
// which only what is still in conflict differs.
func MergeTrees(ctx context.Context, s Store, ids Merge[TreeID]) (Merge[TreeID], error) {
	if ids.IsResolved() {
		return ids, nil
	}
	return mergeDir(ctx, s, ids)
}

func mergeDir(ctx context.Context, s Store, ids Merge[TreeID]) (Merge[TreeID], error) {
	if id, ok := ids.Trivial(); ok && id != "" {
		return Resolved(id), nil
	}
	trees := make([]Tree, len(ids))
	for i, id := range ids {
		t, err := s.Tree(ctx, id)
		if err != nil {
			return nil, err
		}
		trees[i] = t
	}
	resolved := Tree{}
	var names []string
	conflicts := map[string]Merge[TreeValue]{}
	for name, values := range mergedEntries(trees) {
		if v, ok := values.Trivial(); ok {
			if !v.IsAbsent() {
				resolved = append(resolved, Entry{name, v})
			}
			continue
		}
		values, err := mergeEntry(ctx, s, values)
		if err != nil {
			return nil, err
		}
		if v, ok := values.Trivial(); ok {
			if !v.IsAbsent() {
				resolved = append(resolved, Entry{name, v})
			}
			continue
		}
		conflicts[name] = values
		names = append(names, name)
	}
	if len(conflicts) == 0 {
		id, err := s.PutTree(ctx, resolved)
		return Resolved(id), err
	}
	out := make(Merge[TreeID], len(ids))
	for i := range ids {
		side := append(Tree{}, resolved...)
		for _, name := range names {
			if v := conflicts[name][i]; !v.IsAbsent() {
				side = append(side, Entry{name, v})
			}
		}
		SortTree(side)
		id, err := s.PutTree(ctx, side)
		if err != nil {
			return nil, err
		}
		out[i] = id
	}
	return out, nil
}

// mergedEntries walks several directories in step, name by name.
func mergedEntries(trees []Tree) func(yield func(string, Merge[TreeValue]) bool) {
	return func(yield func(string, Merge[TreeValue]) bool) {
		at := make([]int, len(trees))
		for {
			next, found := "", false
			for i, t := range trees {
				if at[i] < len(t) && (!found || t[at[i]].Name < next) {
					next, found = t[at[i]].Name, true
				}
			}
			if !found {
				return
			}
			values := make(Merge[TreeValue], len(trees))
			for i, t := range trees {
				if at[i] < len(t) && t[at[i]].Name == next {
					values[i] = t[at[i]].Value
					at[i]++
				}
			}
			if !yield(next, values) {
				return
			}
		}
	}
}

// isTreeMerge says whether all terms are directories or absent.
func isTreeMerge(values Merge[TreeValue]) bool {
	for _, v := range values {
		if !v.IsTree() && !v.IsAbsent() {
			return false
		}
	}
	return true
}

// treeIDs takes absence for an empty directory.
func treeIDs(values Merge[TreeValue]) Merge[TreeID] {
	return MapMerge(values, func(v TreeValue) TreeID {
		if v.IsAbsent() {
			return EmptyTreeID
		}
		return v.TreeID()
	})
}

// mergeEntry merges what a name stands for; an unresolved result keeps its
// number of terms.
func mergeEntry(ctx context.Context, s Store, values Merge[TreeValue]) (Merge[TreeValue], error) {
	if !isTreeMerge(values) {
		return mergeFileValues(ctx, s, values)
	}
	merged, err := mergeDir(ctx, s, treeIDs(values))
	if err != nil {
		return nil, err
	}
	return MapMerge(merged, func(id TreeID) TreeValue {
		if id == EmptyTreeID {
			return TreeValue{}
		}
		return TreeValue{Subtree, string(id)}
	}), nil
}

// ResolveFileValue merges the contents of a file in conflict as far as that
// can be done by itself. What cannot is returned as it came.
func ResolveFileValue(ctx context.Context, s Store, values Merge[TreeValue]) (Merge[TreeValue], error) {
	if v, ok := values.Trivial(); ok {
		return Resolved(v), nil
	}
	return mergeFileValues(ctx, s, values)
}

func mergeFileValues(ctx context.Context, s Store, values Merge[TreeValue]) (Merge[TreeValue], error) {
	// Directories that cancel each other would hide that the rest are files.
	simple := values.Simplify()
	for _, v := range simple {
		if !v.IsFile() {
			return values, nil
		}
	}
	kind, ok := MapMerge(simple, func(v TreeValue) Kind { return v.Kind }).Trivial()
	if !ok {
		return values, nil
	}
	ids := MapMerge(simple, TreeValue.FileID)
	if id, ok := ids.Trivial(); ok {
		return Resolved(TreeValue{kind, string(id)}), nil
	}
	ids = ids.Simplify()
	contents, ok, err := readTerms(ctx, s, ids)
	if err != nil {
		return nil, err
	}
	if !ok {
		return values, nil // several large files would have to be held
	}
	merged, ok := tryMergeFiles(contents)
	if !ok {
		return values, nil
	}
	id, err := s.PutFile(ctx, merged)
	return Resolved(TreeValue{kind, string(id)}), err
}

// Labelled is a term of a merge of commits' trees, with what to call it.
type Labelled struct {
	Tree  MergedTree
	Label string
}

// MergeMergedTrees merges trees that may themselves be in conflict, and
// resolves what can be resolved. Terms alternate as in a Merge. A label names
// its term in conflicts; the terms of a conflicted tree keep their own.
func MergeMergedTrees(ctx context.Context, s Store, terms ...Labelled) (MergedTree, error) {
	return ResolveTree(ctx, s, joinTrees(terms))
}

// joinTrees puts the terms of all trees into one merge, without looking into
// files.
func joinTrees(terms []Labelled) MergedTree {
	ids := make([]Merge[TreeID], len(terms))
	labels := make([]Merge[string], len(terms))
	for i, t := range terms {
		ids[i] = t.Tree.IDs
		switch {
		case t.Tree.IDs.IsResolved():
			labels[i] = Resolved(t.Label)
		case len(t.Tree.Labels) > 0:
			labels[i] = Merge[string](t.Tree.Labels)
		default:
			labels[i] = make(Merge[string], len(t.Tree.IDs))
		}
	}
	return simplifyTree(MergedTree{Flatten(ids), MakeLabels(Flatten(labels))})
}

// simplifyTree cancels equal terms and keeps the labels of the rest.
func simplifyTree(t MergedTree) MergedTree {
	places := t.IDs.simplifiedFrom()
	out := MergedTree{IDs: pick(t.IDs, places)}
	if len(t.Labels) > 0 {
		out.Labels = MakeLabels(pick(Merge[string](t.Labels), places))
	}
	return out
}

// ResolveTree resolves what can be resolved of a conflicted tree.
func ResolveTree(ctx context.Context, s Store, t MergedTree) (MergedTree, error) {
	ids, err := MergeTrees(ctx, s, t.IDs)
	if err != nil {
		return MergedTree{}, err
	}
	if ids.IsResolved() {
		return MergedTree{IDs: ids}, nil
	}
	return simplifyTree(MergedTree{ids, t.Labels}), nil
}

// TreeEdit collects changes to a tree, path by path.
type TreeEdit struct {
	store   Store
	base    MergedTree
	changes map[Path]Merge[TreeValue]
}

// EditTree starts to change a tree.
func EditTree(s Store, base MergedTree) *TreeEdit {
	return &TreeEdit{s, base, map[Path]Merge[TreeValue]{}}
}

// Set makes a path stand for a value, conflicted or not; the zero value,
// resolved, removes it.
func (e *TreeEdit) Set(p Path, v Merge[TreeValue]) { e.changes[p] = v }

// Write makes the changed tree.
func (e *TreeEdit) Write(ctx context.Context) (MergedTree, error) {
	if len(e.changes) == 0 {
		return e.base, nil
	}
	sides := 0
	for _, v := range e.changes {
		sides = max(sides, v.Sides())
	}
	base := e.base.IDs.Pad(sides, EmptyTreeID)
	ids := make(Merge[TreeID], len(base))
	for i, id := range base {
		root := &dirEdit{}
		for path, v := range e.changes {
			term := v.First()
			if !v.IsResolved() {
				term = TreeValue{}
				if i < len(v) {
					term = v[i]
				}
			}
			root.set(path.Components(), term)
		}
		written, err := root.write(ctx, e.store, id)
		if err != nil {
			return MergedTree{}, err
		}
		ids[i] = written
	}
	t := MergedTree{IDs: ids}
	if len(e.base.Labels) == len(ids) {
		t.Labels = e.base.Labels
	}
	t = simplifyTree(t)
	if t.IDs.IsResolved() {
		return MergedTree{IDs: t.IDs}, nil
	}
	return ResolveTree(ctx, e.store, t)
}

// dirEdit is the changes below one directory.
type dirEdit struct {
	values map[string]TreeValue
	dirs   map[string]*dirEdit
}

func (d *dirEdit) set(path []string, v TreeValue) {
	if len(path) == 1 {
		if d.values == nil {
			d.values = map[string]TreeValue{}
		}
		d.values[path[0]] = v
		return
	}
	if d.dirs == nil {
		d.dirs = map[string]*dirEdit{}
	}
	sub := d.dirs[path[0]]
	if sub == nil {
		sub = &dirEdit{}
		d.dirs[path[0]] = sub
	}
	sub.set(path[1:], v)
}

// write applies the changes to a directory. Names set at this level come
// first, then what lies below: a directory that is left empty goes, unless a
// file has taken its name.
func (d *dirEdit) write(ctx context.Context, s Store, base TreeID) (TreeID, error) {
	old, err := s.Tree(ctx, base)
	if err != nil {
		return "", err
	}
	entries := make(map[string]TreeValue, len(old)+len(d.values))
	for _, e := range old {
		entries[e.Name] = e.Value
	}
	for name, v := range d.values {
		if v.IsAbsent() {
			delete(entries, name)
		} else {
			entries[name] = v
		}
	}
	for name, sub := range d.dirs {
		from := EmptyTreeID
		if v := old.Value(name); v.IsTree() {
			from = v.TreeID()
		}
		id, err := sub.write(ctx, s, from)
		if err != nil {
			return "", err
		}
		if id != EmptyTreeID {
			entries[name] = TreeValue{Subtree, string(id)}
		} else if entries[name].IsTree() {
			delete(entries, name)
		}
	}
	t := make(Tree, 0, len(entries))
	for name, v := range maps.All(entries) {
		t = append(t, Entry{name, v})
	}
	SortTree(t)
	return s.PutTree(ctx, t)
}
