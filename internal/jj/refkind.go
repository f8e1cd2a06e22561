package jj

import (
	"maps"
	"slices"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/gitstore"
)

// refKind is a kind of ref that is here and on remotes, for what bookmarks and
// tags have in common.
type refKind struct {
	noun string // as people are told
	git  string // where git keeps them
}

var (
	bookmarkKind = refKind{"bookmark", "refs/heads/"}
	tagKind      = refKind{"tag", "refs/tags/"}
)

// title is the noun at the beginning of a sentence.
func (k refKind) title() string { return strings.ToUpper(k.noun[:1]) + k.noun[1:] }

func (k refKind) local(v *repo.View) map[string]repo.RefTarget {
	if k == tagKind {
		return v.Tags
	}
	return v.Bookmarks
}

func (k refKind) on(r repo.RemoteView) map[string]repo.RemoteRef {
	if k == tagKind {
		return r.Tags
	}
	return r.Bookmarks
}

func (k refKind) target(v *repo.View, name string) repo.RefTarget {
	if k == tagKind {
		return v.Tag(name)
	}
	return v.Bookmark(name)
}

func (k refKind) remote(v *repo.View, remote, name string) repo.RemoteRef {
	if k == tagKind {
		return v.RemoteTag(remote, name)
	}
	return v.RemoteBookmark(remote, name)
}

func (k refKind) setRemote(v *repo.View, remote, name string, r repo.RemoteRef) {
	if k == tagKind {
		v.SetRemoteTag(remote, name, r)
	} else {
		v.SetRemoteBookmark(remote, name, r)
	}
}

// names lists what is here or on a remote.
func (k refKind) names(v *repo.View, remote string) []string {
	all := map[string]bool{}
	for n := range k.local(v) {
		all[n] = true
	}
	for n := range k.on(v.Remotes[remote]) {
		all[n] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// tracked says whether any remote's ref of that name is followed.
func (k refKind) tracked(v *repo.View, name string) bool {
	for remote, rv := range v.Remotes {
		if r, ok := k.on(rv)[name]; ok && remote != repo.GitRemote && r.Tracked {
			return true
		}
	}
	return false
}

// gitRef is where git keeps a ref of a remote.
func (k refKind) gitRef(remote, name string) string {
	switch {
	case k == bookmarkKind:
		return "refs/remotes/" + remote + "/" + name
	case remote == repo.GitRemote:
		return k.git + name
	}
	return gitstore.RemoteTagRef(remote, name)
}
