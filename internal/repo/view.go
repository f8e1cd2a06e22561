package repo

import (
	"maps"
	"slices"
)

// RefTarget is where a bookmark, tag or git ref points: a resolved commit, a
// conflict of several, or (the empty id, resolved) nowhere.
type RefTarget = Merge[CommitID]

// NoTarget is the target of a ref that does not exist.
func NoTarget() RefTarget { return RefTarget{""} }

// Target points at one commit.
func Target(id CommitID) RefTarget { return RefTarget{id} }

// IsAbsentTarget says whether the ref does not exist.
func IsAbsentTarget(t RefTarget) bool { return len(t) == 0 || (len(t) == 1 && t[0] == "") }

// TargetIDs lists the commits a target names, sides only.
func TargetIDs(t RefTarget) []CommitID {
	var out []CommitID
	for i := 0; i < len(t); i += 2 {
		if t[i] != "" {
			out = append(out, t[i])
		}
	}
	return out
}

// RemoteRef is a bookmark or tag as last seen on a remote.
type RemoteRef struct {
	Target  RefTarget
	Tracked bool
	unknown string // protobuf fields of a newer jj, kept as they came
}

// RemoteView is what is known of one remote.
type RemoteView struct {
	Bookmarks map[string]RemoteRef
	Tags      map[string]RemoteRef
	unknown   string
}

// GitRemote is the name under which the backing git repository's own refs
// are remembered; no real remote may have it.
const GitRemote = "git"

// DefaultWorkspace is the name of a repository's first workspace.
const DefaultWorkspace = "default"

// ServerWorkspace is the name of the workspace in a server's own folder, where
// the server made the repository.
const ServerWorkspace = "server"

// View is the state of a repository at an operation. Absent targets are not
// kept in the maps.
type View struct {
	Heads      map[CommitID]struct{} // visible heads; none is another's ancestor
	Bookmarks  map[string]RefTarget
	Tags       map[string]RefTarget
	Remotes    map[string]RemoteView
	GitRefs    map[string]RefTarget // full names, as last imported or exported
	GitHeads   map[string]RefTarget // git's HEAD by workspace
	Workspaces map[string]CommitID  // the working-copy commit of each workspace
	unknown    string
}

// RootView is the view before the first operation.
func RootView() *View {
	return &View{
		Heads:      map[CommitID]struct{}{RootCommitID: {}},
		Bookmarks:  map[string]RefTarget{},
		Tags:       map[string]RefTarget{},
		Remotes:    map[string]RemoteView{},
		GitRefs:    map[string]RefTarget{},
		GitHeads:   map[string]RefTarget{},
		Workspaces: map[string]CommitID{},
	}
}

// Clone is a copy that may be changed.
func (v *View) Clone() *View {
	w := *v
	w.Heads = maps.Clone(v.Heads)
	w.Bookmarks = maps.Clone(v.Bookmarks)
	w.Tags = maps.Clone(v.Tags)
	w.GitRefs = maps.Clone(v.GitRefs)
	w.GitHeads = maps.Clone(v.GitHeads)
	w.Workspaces = maps.Clone(v.Workspaces)
	w.Remotes = make(map[string]RemoteView, len(v.Remotes))
	for name, r := range v.Remotes {
		w.Remotes[name] = RemoteView{Bookmarks: maps.Clone(r.Bookmarks), Tags: maps.Clone(r.Tags), unknown: r.unknown}
	}
	return &w
}

// HeadIDs lists the heads in order of id.
func (v *View) HeadIDs() []CommitID { return slices.Sorted(maps.Keys(v.Heads)) }

// Bookmark is a local bookmark's target, absent when there is none.
func (v *View) Bookmark(name string) RefTarget { return orNone(v.Bookmarks[name]) }

// Tag is a local tag's target, absent when there is none.
func (v *View) Tag(name string) RefTarget { return orNone(v.Tags[name]) }

// RemoteBookmark is a bookmark as last seen on a remote.
func (v *View) RemoteBookmark(remote, name string) RemoteRef {
	return orNoRef(v.Remotes[remote].Bookmarks[name])
}

// RemoteTag is a tag as last seen on a remote.
func (v *View) RemoteTag(remote, name string) RemoteRef {
	return orNoRef(v.Remotes[remote].Tags[name])
}

func orNone(t RefTarget) RefTarget {
	if len(t) == 0 {
		return NoTarget()
	}
	return t
}

func orNoRef(r RemoteRef) RemoteRef {
	r.Target = orNone(r.Target)
	return r
}

// SetBookmark points a local bookmark, or removes it when the target is absent;
// then nothing is left to track a remote's absent one.
func (v *View) SetBookmark(name string, t RefTarget) {
	setTarget(v.Bookmarks, name, t)
	if IsAbsentTarget(t) {
		for _, r := range v.Remotes {
			dropAbsent(r.Bookmarks, name)
		}
	}
}

// SetTag points a local tag, or removes it when the target is absent.
func (v *View) SetTag(name string, t RefTarget) {
	setTarget(v.Tags, name, t)
	if IsAbsentTarget(t) {
		for _, r := range v.Remotes {
			dropAbsent(r.Tags, name)
		}
	}
}

func dropAbsent(refs map[string]RemoteRef, name string) {
	if r, ok := refs[name]; ok && IsAbsentTarget(r.Target) {
		delete(refs, name)
	}
}

// SetGitRef records a git ref, or forgets it when the target is absent.
func (v *View) SetGitRef(name string, t RefTarget) { setTarget(v.GitRefs, name, t) }

// SetGitHead records git's HEAD in a workspace.
func (v *View) SetGitHead(workspace string, t RefTarget) { setTarget(v.GitHeads, workspace, t) }

// SetRemoteBookmark records a remote's bookmark, or forgets it when absent. An
// absent one that is tracked stays while there is a local bookmark to push.
func (v *View) SetRemoteBookmark(remote, name string, r RemoteRef) {
	if !IsAbsentTarget(r.Target) || (r.Tracked && !IsAbsentTarget(v.Bookmark(name))) {
		v.remote(remote).Bookmarks[name] = r
	} else if rv, ok := v.Remotes[remote]; ok {
		delete(rv.Bookmarks, name)
	}
}

// SetRemoteTag records a remote's tag, or forgets it when absent. An absent
// one that is tracked stays while there is a local tag to push.
func (v *View) SetRemoteTag(remote, name string, r RemoteRef) {
	if !IsAbsentTarget(r.Target) || (r.Tracked && !IsAbsentTarget(v.Tag(name))) {
		v.remote(remote).Tags[name] = r
	} else if rv, ok := v.Remotes[remote]; ok {
		delete(rv.Tags, name)
	}
}

// EnsureRemote makes a remote known, empty when it is new.
func (v *View) EnsureRemote(remote string) { v.remote(remote) }

func (v *View) remote(name string) RemoteView {
	rv, ok := v.Remotes[name]
	if !ok || rv.Bookmarks == nil || rv.Tags == nil {
		if rv.Bookmarks == nil {
			rv.Bookmarks = map[string]RemoteRef{}
		}
		if rv.Tags == nil {
			rv.Tags = map[string]RemoteRef{}
		}
		v.Remotes[name] = rv
	}
	return rv
}

func setTarget(m map[string]RefTarget, name string, t RefTarget) {
	if IsAbsentTarget(t) {
		delete(m, name)
		return
	}
	m[name] = t
}

// CommitIDs lists every commit the view names, in any role, conflict bases
// included. All of them must be present for the view to be usable.
func (v *View) CommitIDs() []CommitID {
	seen := map[CommitID]struct{}{}
	v.AddCommitIDs(seen)
	return slices.Sorted(maps.Keys(seen))
}

// AddCommitIDs adds them to a set: views that follow each other name nearly the
// same.
func (v *View) AddCommitIDs(seen map[CommitID]struct{}) {
	add := func(id CommitID) {
		if id != "" {
			seen[id] = struct{}{}
		}
	}
	addAll := func(m map[string]RefTarget) {
		for _, t := range m {
			for _, id := range t {
				add(id)
			}
		}
	}
	for id := range v.Heads {
		add(id)
	}
	for _, id := range v.Workspaces {
		add(id)
	}
	addAll(v.Bookmarks)
	addAll(v.Tags)
	addAll(v.GitRefs)
	addAll(v.GitHeads)
	for _, r := range v.Remotes {
		for _, refs := range []map[string]RemoteRef{r.Bookmarks, r.Tags} {
			for _, ref := range refs {
				for _, id := range ref.Target {
					add(id)
				}
			}
		}
	}
}
