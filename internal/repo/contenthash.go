package repo

import (
	"encoding/binary"
	"maps"
	"slices"

	"golang.org/x/crypto/blake2b"
)

// hashWriter builds jj's structural encoding, over which ids of views and
// operations are taken: fixed-width little-endian integers, lengths as u64,
// enum and option tags as u32, maps and sets in key order.
type hashWriter []byte

func (w *hashWriter) u32(n uint32) { *w = binary.LittleEndian.AppendUint32(*w, n) }
func (w *hashWriter) u64(n uint64) { *w = binary.LittleEndian.AppendUint64(*w, n) }

func (w *hashWriter) bytes(s string) {
	w.u64(uint64(len(s)))
	*w = append(*w, s...)
}

func (w *hashWriter) bool(b bool) {
	if b {
		*w = append(*w, 1)
	} else {
		*w = append(*w, 0)
	}
}

func (w *hashWriter) time(t Timestamp) {
	w.u64(uint64(t.Millis))
	w.u32(uint32(t.Offset))
}

func (w *hashWriter) target(t RefTarget) {
	t = orNone(t)
	w.u64(uint64(len(t)))
	for _, id := range t {
		if id == "" {
			w.u32(0)
			continue
		}
		w.u32(1)
		w.bytes(string(id))
	}
}

func (w *hashWriter) targets(m map[string]RefTarget) {
	writeMap(w, m, w.target)
}

func (w *hashWriter) remoteRefs(m map[string]RemoteRef) {
	writeMap(w, m, func(r RemoteRef) {
		w.target(r.Target)
		if r.Tracked {
			w.u32(1)
		} else {
			w.u32(0)
		}
	})
}

func writeMap[K ~string, V any](w *hashWriter, m map[K]V, value func(V)) {
	w.u64(uint64(len(m)))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		w.bytes(string(k))
		value(m[k])
	}
}

// heads writes heads, which are in order.
func (w *hashWriter) heads(ids []CommitID) {
	w.u64(uint64(len(ids)))
	for _, id := range ids {
		w.bytes(string(id))
	}
}

// refs writes what a view says of refs.
func (w *hashWriter) refs(v *View) {
	w.targets(v.Bookmarks)
	w.targets(v.Tags)
	writeMap(w, v.Remotes, func(r RemoteView) {
		w.remoteRefs(r.Bookmarks)
		w.remoteRefs(r.Tags)
	})
	w.targets(v.GitRefs)
	w.targets(v.GitHeads)
}

// workspaces writes workspaces, which are in order.
func (w *hashWriter) workspaces(all []workspaceAt) {
	w.u64(uint64(len(all)))
	for _, x := range all {
		w.bytes(x.name)
		w.bytes(string(x.at))
	}
}

// ComputeID is the view's id: a hash of what it says, not of its bytes.
func (v *View) ComputeID() ViewID {
	w := make(hashWriter, 0, 1024+40*len(v.Heads)+80*len(v.Workspaces))
	w.heads(v.HeadIDs())
	w.refs(v)
	workspaces := make([]workspaceAt, 0, len(v.Workspaces))
	for _, name := range slices.Sorted(maps.Keys(v.Workspaces)) {
		workspaces = append(workspaces, workspaceAt{name, v.Workspaces[name]})
	}
	w.workspaces(workspaces)
	sum := blake2b.Sum512(w)
	return ViewID(sum[:])
}

// ComputeID is the operation's id: a hash of what it says, not of its bytes.
func (o *Operation) ComputeID() OperationID {
	w := make(hashWriter, 0, 512)
	w.bytes(string(o.View))
	w.u64(uint64(len(o.Parents)))
	for _, p := range o.Parents {
		w.bytes(string(p))
	}
	m := &o.Meta
	w.time(m.Start)
	w.time(m.End)
	w.bytes(m.Description)
	w.bytes(m.Hostname)
	w.bytes(m.Username)
	w.bool(m.Snapshot)
	if m.Workspace == "" {
		w.u32(0)
	} else {
		w.u32(1)
		w.bytes(m.Workspace)
	}
	writeMap(&w, m.Attributes, w.bytes)
	if o.Predecessors == nil {
		w.u32(0)
	} else {
		w.u32(1)
		writeMap(&w, o.Predecessors, func(ids []CommitID) {
			w.u64(uint64(len(ids)))
			for _, id := range ids {
				w.bytes(string(id))
			}
		})
	}
	sum := blake2b.Sum512(w)
	return OperationID(sum[:])
}
