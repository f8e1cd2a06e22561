package repo

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Encode is the view as jj 0.45 stores it, with the mirrors older versions
// read. The bytes are ours; the id is what both agree on.
func (v *View) Encode() []byte {
	var b []byte
	for _, id := range v.HeadIDs() {
		b = appendBytes(b, 1, id)
	}
	b = appendNamedTargets(b, 3, v.GitRefs, 3)
	b = v.appendBookmarks(b)
	b = appendNamedTargets(b, 6, v.Tags, 2)
	for _, name := range slices.Sorted(maps.Keys(v.Workspaces)) {
		e := appendText(nil, 1, name)
		e = appendBytes(e, 2, v.Workspaces[name])
		b = appendBytes(b, 8, string(e))
	}
	if t, ok := v.GitHeads[DefaultWorkspace]; ok {
		b = appendBytes(b, 9, string(encodeTarget(t)))
	}
	for _, name := range slices.Sorted(maps.Keys(v.Remotes)) {
		r := v.Remotes[name]
		e := appendText(nil, 1, name)
		e = appendRemoteRefs(e, 2, r.Bookmarks)
		e = appendRemoteRefs(e, 3, r.Tags)
		b = appendBytes(b, 11, string(e)+r.unknown)
	}
	b = appendVarint(b, 12, 1)
	b = appendNamedTargets(b, 13, v.GitHeads, 2)
	return append(b, v.unknown...)
}

// appendBookmarks writes local bookmarks and, beside each, the old mirror of
// what remotes have under that name.
func (v *View) appendBookmarks(b []byte) []byte {
	names := map[string]struct{}{}
	for name := range v.Bookmarks {
		names[name] = struct{}{}
	}
	for _, r := range v.Remotes {
		for name := range r.Bookmarks {
			names[name] = struct{}{}
		}
	}
	remotes := slices.Sorted(maps.Keys(v.Remotes))
	for _, name := range slices.Sorted(maps.Keys(names)) {
		e := appendText(nil, 1, name)
		e = appendBytes(e, 2, string(encodeTarget(v.Bookmark(name))))
		for _, remote := range remotes {
			ref, ok := v.Remotes[remote].Bookmarks[name]
			if !ok {
				continue
			}
			m := appendText(nil, 1, remote)
			m = appendBytes(m, 2, string(encodeTarget(ref.Target)))
			m = appendVarint(m, 3, stateNumber(ref))
			e = appendBytes(e, 3, string(m))
		}
		b = appendBytes(b, 5, string(e))
	}
	return b
}

func stateNumber(r RemoteRef) uint64 {
	if r.Tracked {
		return 1
	}
	return 0
}

func appendNamedTargets(b []byte, num protowire.Number, m map[string]RefTarget, targetNum protowire.Number) []byte {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		e := appendText(nil, 1, name)
		e = appendBytes(e, targetNum, string(encodeTarget(m[name])))
		b = appendBytes(b, num, string(e))
	}
	return b
}

func appendRemoteRefs(b []byte, num protowire.Number, m map[string]RemoteRef) []byte {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		ref := m[name]
		e := appendText(nil, 1, name)
		for _, id := range orNone(ref.Target) {
			e = appendBytes(e, 2, string(encodeTerm(id)))
		}
		e = appendInt(e, 3, int64(stateNumber(ref)))
		b = appendBytes(b, num, string(e)+ref.unknown)
	}
	return b
}

func encodeTerm(id CommitID) []byte {
	if id == "" {
		return nil
	}
	return appendBytes(nil, 1, id)
}

func encodeTarget(t RefTarget) []byte {
	t = orNone(t)
	var c []byte
	for _, id := range t.Removes() {
		c = appendBytes(c, 1, string(encodeTerm(id)))
	}
	for _, id := range t.Adds() {
		c = appendBytes(c, 2, string(encodeTerm(id)))
	}
	return appendBytes(nil, 3, string(c))
}
