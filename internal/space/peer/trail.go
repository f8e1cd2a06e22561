package peer

import (
	"context"
	"errors"
	"fmt"

	"tandem/internal/space"
)

// trail is the hashes of the newest entries of a seat's log, without gaps.
type trail struct {
	first  int64 // the number of the first
	hashes []string
}

// trailLength is how many are at hand: whoever speaks has seen one of the newest, unless it was away for long.
const trailLength = 1024

func (t *trail) add(e *space.Entry) {
	if e.Seq != t.first+int64(len(t.hashes)) {
		t.first, t.hashes = e.Seq, nil
	}
	t.hashes = append(t.hashes, e.Hash)
	if len(t.hashes) == 2*trailLength {
		t.hashes = append([]string(nil), t.hashes[trailLength:]...)
		t.first += trailLength
	}
}

func (t *trail) at(seq int64) (string, bool) {
	i := seq - t.first
	if i < 0 || i >= int64(len(t.hashes)) {
		return "", false
	}
	return t.hashes[i], true
}

// errForked is for a host that shows two histories.
var errForked = errors.New("the host shows two histories")

// forked compares what an entry's sender had seen with this seat's own copy of the log; before are the entries that are taken in
// with it. A host refuses envelopes of members who saw something else, so one that passes them on has shown two histories.
func (r *Room) forked(ctx context.Context, s *seat, before []*space.Entry, e *space.Entry) error {
	if e.Env == nil || e.Env.SeenSeq == 0 {
		return nil
	}
	n, have, ok := e.Env.SeenSeq, "", false
	switch {
	case n > s.seq:
	case len(before) > 0 && n >= before[0].Seq:
		have = before[n-before[0].Seq].Hash
	default:
		if have, ok = s.trail.at(n); !ok {
			var err error
			if have, err = r.hashAt(ctx, s, n); err != nil {
				return err
			}
		}
	}
	if have != e.Env.Seen {
		return fmt.Errorf("%w: in entry %d %s says that it had seen another entry %d than is known here", errForked, e.Seq,
			s.name(e.Env.From), n)
	}
	return nil
}
