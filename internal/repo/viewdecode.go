package repo

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// DecodeView reads a view of any jj since 0.8. It does not check the id.
func DecodeView(data []byte) (*View, error) {
	d, err := decodeView(data)
	if err != nil {
		return nil, err
	}
	v := d.View
	v.Heads = make(map[CommitID]struct{}, len(d.heads))
	for _, id := range d.heads {
		v.Heads[id] = struct{}{}
	}
	v.Workspaces = make(map[string]CommitID, len(d.workspaces))
	for _, w := range d.workspaces {
		v.Workspaces[w.name] = w.at
	}
	return v, nil
}

func decodeView(data []byte) (*viewDecoder, error) {
	v := RootView()
	clear(v.Heads)
	d := &viewDecoder{View: v, mirror: map[string]RemoteView{}}
	var err error
	v.unknown, err = fields(data, d.field)
	if err != nil {
		return nil, fmt.Errorf("decode view: %w", err)
	}
	d.migrate()
	return d, nil
}

// workspaceAt is a workspace and its commit.
type workspaceAt struct {
	name string
	at   CommitID
}

// viewDecoder holds heads and workspaces as lists, and what older versions wrote
// until it is known whether the newer fields are there too.
type viewDecoder struct {
	*View
	heads        []CommitID
	workspaces   []workspaceAt
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
		d.heads = append(d.heads, CommitID(b))
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
		var w workspaceAt
		err := decodePair(f, &w.name, func(f field) error {
			id, err := f.bytes()
			w.at = CommitID(id)
			return err
		})
		d.workspaces = append(d.workspaces, w)
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
	isDefault := func(w workspaceAt) bool { return w.name == DefaultWorkspace }
	if d.oldWorkspace != "" && !slices.ContainsFunc(d.workspaces, isDefault) {
		d.workspaces = append(d.workspaces, workspaceAt{DefaultWorkspace, d.oldWorkspace})
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
