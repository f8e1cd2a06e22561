package space

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"

	"tandem/internal/fault"
	"tandem/internal/space/seal"
)

// Entry is one line of a space's log.
type Entry struct {
	Seq   int64           `json:"seq"`
	Term  int64           `json:"term"` // rises when another member becomes the host
	At    int64           `json:"at"`   // the host's clock, microseconds
	Class string          `json:"class"`
	Env   *seal.Envelope  `json:"envelope,omitempty"` // absent in the host's own entries
	Facts json.RawMessage `json:"facts,omitempty"`    // what the host decided, for the replay
	Hash  string          `json:"hash"`
}

// The classes of entry that have rules here. Those of tasks are in package board.
const (
	ClassCommit   = "commit"   // a change of members
	ClassLeave    = "leave"    // the sender goes
	ClassMessage  = "message"  // words for all or one
	ClassReceipt  = "receipt"  // messages surfaced or read
	ClassProfile  = "profile"  // the sender's name, folder, tools
	ClassVar      = "var"      // a variable set or deleted
	ClassFinding  = "finding"  // a finding
	ClassReserve  = "reserve"  // a path leased
	ClassRelease  = "release"  // a path let go
	ClassTakeOver = "takeover" // the sender becomes the host
	ClassExpire   = "host.expire"
	ClassShared   = "reserve_shared" // a path leased together with others
	ClassHandOver = "host.handover"  // the host leaves and names the next
)

// Chain computes the hash of e as the successor of the entry with hash prev.
func (e *Entry) Chain(prev string) string {
	h := sha256.New()
	part := func(b []byte) {
		h.Write(binary.AppendUvarint(nil, uint64(len(b))))
		h.Write(b)
	}
	num := func(n int64) { part(binary.BigEndian.AppendUint64(nil, uint64(n))) }
	part([]byte("tandem-space-log-v1"))
	part([]byte(prev))
	num(e.Seq)
	num(e.Term)
	num(e.At)
	part([]byte(e.Class))
	if e.Env != nil {
		sum := e.Env.Hash()
		part(sum[:])
	} else {
		part(nil)
	}
	part(e.Facts)
	return hex.EncodeToString(h.Sum(nil))
}

// Follow checks that e is the entry right behind one with number seq, hash prev
// and term.
func (e *Entry) Follow(seq int64, prev string, term int64) error {
	switch {
	case e.Seq != seq+1:
		return fault.New(fault.Conflict, "space.follow", "the host sent entry %d after %d: something is missing", e.Seq, seq)
	case e.Term < term:
		return fault.New(fault.Conflict, "space.follow", "entry %d is of term %d, which ended; the space is at term %d", e.Seq, e.Term, term)
	case e.Term > term && e.Class != ClassTakeOver:
		return fault.New(fault.Conflict, "space.follow", "entry %d starts term %d without a take-over", e.Seq, e.Term)
	case e.Hash != e.Chain(prev):
		return fault.New(fault.Conflict, "space.follow", "entry %d does not continue the history known here", e.Seq)
	case e.Env != nil && e.Env.Class != e.Class:
		return fault.New(fault.Conflict, "space.follow", "entry %d is filed as %s but was sent as %s", e.Seq, e.Class, e.Env.Class)
	}
	return nil
}

// CommitClear is the clear part of a commit.
type CommitClear struct {
	Commit []byte          `json:"commit"`
	Add    []seal.Card     `json:"add,omitempty"`
	Remove []seal.MemberID `json:"remove,omitempty"`
}

// ReceiptClear is the clear part of a receipt: ids of messages, by how far they came.
type ReceiptClear struct {
	Surfaced []string `json:"surfaced,omitempty"`
	Read     []string `json:"read,omitempty"`
	Waiting  []string `json:"waiting,omitempty"` // they wait: the agent's wakes are used up for now
	How      string   `json:"how,omitempty"`     // the signal trusted: tool_result, hook, transcript
}

// VarClear is the clear part of a variable.
type VarClear struct {
	Tag    string `json:"tag"`
	Delete bool   `json:"delete,omitempty"`
}

// LeaseClear is the clear part of a path lease.
type LeaseClear struct {
	Tag   string   `json:"tag"`
	TTL   int64    `json:"ttl_ms,omitempty"`
	Above []string `json:"above,omitempty"` // tags of the folders that the path lies in
}

// TakeOverClear is the clear part of a take-over.
type TakeOverClear struct {
	Term int64  `json:"term"`
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
}

// Clear reads the clear part of an envelope into v; fields nobody knows are refused.
func Clear(e *seal.Envelope, v any) error {
	if err := strict(e.Clear, v); err != nil {
		return fault.New(fault.Invalid, "space", "the clear part of %s is malformed: %v", e.Class, err)
	}
	return nil
}
