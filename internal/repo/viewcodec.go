package repo

import (
	"fmt"
	"maps"
	"slices"
	"strings"

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

// DecodeView reads a view of any jj since 0.8. It does not check the id.
func DecodeView(data []byte) (*View, error) {
	v := RootView()
	v.Heads = map[CommitID]struct{}{}
	d := viewDecoder{View: v, mirror: map[string]RemoteView{}}
	var err error
	v.unknown, err = fields(data, d.field)
	if err != nil {
		return nil, fmt.Errorf("decode view: %w", err)
	}
	d.migrate()
	return v, nil
}

// viewDecoder holds what older versions wrote until it is known whether the
// newer fields are there too.
type viewDecoder struct {
	*View
	mirror       map[string]RemoteView // remote bookmarks beside local ones, until 0.34
	oldWorkspace CommitID
	gitHead      RefTarget
	gitHeadOld   CommitID
	tagsMigrated bool
}

func (d *viewDecoder) field(num protowire.Number, f field) (bool, error) {
	switch num {
	case 1:
		b, err := f.bytes()
		d.Heads[CommitID(b)] = struct{}{}
		return true, err
	case 2:
		b, err := f.bytes()
		d.oldWorkspace = CommitID(b)
		return true, err
	case 3:
		return true, decodeNamedTarget(f, 3, d.GitRefs)
	case 5:
		return true, d.bookmark(f)
	case 6:
		return true, decodeNamedTarget(f, 2, d.Tags)
	case 7:
		b, err := f.bytes()
		d.gitHeadOld = CommitID(b)
		return true, err
	case 8:
		var name string
		var id []byte
		err := decodePair(f, &name, func(f field) (err error) { id, err = f.bytes(); return err })
		d.Workspaces[name] = CommitID(id)
		return true, err
	case 9:
		t, err := decodeTarget(f)
		d.gitHead = t
		return true, err
	case 11:
		return true, d.remoteView(f)
	case 12:
		return true, f.bool(&d.tagsMigrated)
	case 13:
		return true, decodeNamedTarget(f, 2, d.GitHeads)
	}
	return false, nil
}

func (d *viewDecoder) migrate() {
	if _, ok := d.Workspaces[DefaultWorkspace]; !ok && d.oldWorkspace != "" {
		d.Workspaces[DefaultWorkspace] = d.oldWorkspace
	}
	if len(d.Remotes) == 0 {
		d.Remotes = d.mirror
	}
	if !d.tagsMigrated {
		for full, t := range d.GitRefs {
			if name, ok := strings.CutPrefix(full, "refs/tags/"); ok && name != "" {
				d.SetRemoteTag(GitRemote, name, RemoteRef{Target: t, Tracked: true})
			}
		}
	}
	if len(d.GitHeads) == 0 {
		if IsAbsentTarget(d.gitHead) && d.gitHeadOld != "" {
			d.gitHead = Target(d.gitHeadOld)
		}
		d.SetGitHead(DefaultWorkspace, d.gitHead)
	}
}

func (d *viewDecoder) bookmark(f field) error {
	var name string
	local := NoTarget()
	type mirrored struct {
		remote string
		ref    RemoteRef
	}
	var mirror []mirrored
	_, err := f.message(func(num protowire.Number, f field) (known bool, err error) {
		switch num {
		case 1:
			return true, f.str(&name)
		case 2:
			local, err = decodeTarget(f)
			return true, err
		case 3:
			m := mirrored{ref: RemoteRef{Target: NoTarget()}}
			_, err = f.message(func(num protowire.Number, f field) (known bool, err error) {
				switch num {
				case 1:
					return true, f.str(&m.remote)
				case 2:
					m.ref.Target, err = decodeTarget(f)
					return true, err
				case 3:
					return true, decodeState(f, &m.ref)
				}
				return false, nil
			})
			mirror = append(mirror, m)
			return true, err
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	for _, m := range mirror {
		rv, ok := d.mirror[m.remote]
		if !ok {
			rv = RemoteView{Bookmarks: map[string]RemoteRef{}, Tags: map[string]RemoteRef{}}
			d.mirror[m.remote] = rv
		}
		rv.Bookmarks[name] = m.ref
	}
	d.SetBookmark(name, local)
	return nil
}

func (d *viewDecoder) remoteView(f field) error {
	var name string
	rv := RemoteView{Bookmarks: map[string]RemoteRef{}, Tags: map[string]RemoteRef{}}
	unknown, err := f.message(func(num protowire.Number, f field) (bool, error) {
		switch num {
		case 1:
			return true, f.str(&name)
		case 2:
			return true, decodeRemoteRef(f, rv.Bookmarks)
		case 3:
			return true, decodeRemoteRef(f, rv.Tags)
		}
		return false, nil
	})
	rv.unknown = unknown
	d.Remotes[name] = rv
	return err
}

func decodeRemoteRef(f field, into map[string]RemoteRef) error {
	var name string
	var ref RemoteRef
	unknown, err := f.message(func(num protowire.Number, f field) (bool, error) {
		switch num {
		case 1:
			return true, f.str(&name)
		case 2:
			id, err := decodeTerm(f)
			ref.Target = append(ref.Target, id)
			return true, err
		case 3:
			return true, decodeState(f, &ref)
		}
		return false, nil
	})
	if err == nil && len(ref.Target)%2 == 0 {
		err = fmt.Errorf("ref target of %d terms", len(ref.Target))
	}
	ref.unknown = unknown
	into[name] = ref
	return err
}

func decodeState(f field, ref *RemoteRef) error {
	var n uint64
	err := f.varint(&n)
	if err == nil && n > 1 {
		err = fmt.Errorf("unknown remote ref state %d", n)
	}
	ref.Tracked = n == 1
	return err
}

func decodeTerm(f field) (id CommitID, err error) {
	_, err = f.message(func(num protowire.Number, f field) (bool, error) {
		if num != 1 {
			return false, nil
		}
		b, err := f.bytes()
		id = CommitID(b)
		return true, err
	})
	return id, err
}

func decodeNamedTarget(f field, targetNum protowire.Number, into map[string]RefTarget) error {
	var name string
	var old CommitID
	t := NoTarget()
	_, err := f.message(func(num protowire.Number, f field) (known bool, err error) {
		switch num {
		case 1:
			return true, f.str(&name)
		case targetNum:
			t, err = decodeTarget(f)
			return true, err
		case 2:
			b, err := f.bytes()
			old = CommitID(b)
			return true, err
		}
		return false, nil
	})
	if IsAbsentTarget(t) && old != "" {
		t = Target(old)
	}
	if err == nil {
		into[name] = t
	}
	return err
}

func decodeTarget(f field) (RefTarget, error) {
	target := NoTarget()
	_, err := f.message(func(num protowire.Number, f field) (bool, error) {
		switch num {
		case 1:
			b, err := f.bytes()
			target = Target(CommitID(b))
			return true, err
		case 2:
			removes, adds, err := decodeTerms(f, func(f field) (CommitID, error) {
				b, err := f.bytes()
				return CommitID(b), err
			})
			for len(adds) < len(removes)+1 {
				adds = append(adds, "")
			}
			for len(removes) < len(adds)-1 {
				removes = append(removes, "")
			}
			target, _ = MergeOf(removes, adds)
			return true, err
		case 3:
			removes, adds, err := decodeTerms(f, decodeTerm)
			if err != nil {
				return true, err
			}
			t, ok := MergeOf(removes, adds)
			if !ok {
				return true, fmt.Errorf("ref target of %d sides and %d bases", len(adds), len(removes))
			}
			target = t
			return true, nil
		}
		return false, nil
	})
	return target, err
}

func decodeTerms(f field, term func(field) (CommitID, error)) (removes, adds []CommitID, err error) {
	_, err = f.message(func(num protowire.Number, f field) (bool, error) {
		if num != 1 && num != 2 {
			return false, nil
		}
		id, err := term(f)
		if num == 1 {
			removes = append(removes, id)
		} else {
			adds = append(adds, id)
		}
		return true, err
	})
	return removes, adds, err
}
