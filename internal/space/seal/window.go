package seal

// Window remembers the last sequence seen from each sender. Sequences start at
// one and have no gaps, so a replay, a reordering and a hole are all visible to
// every receiver, whatever the host claims.
type Window map[MemberID]uint64

// Check reports whether seq is the sender's next. It does not advance.
func (w Window) Check(from MemberID, seq uint64) error {
	switch last := w[from]; {
	case seq == last+1:
		return nil
	case seq <= last:
		return refuseKind(ErrOrder, "%s already sent number %d: this is a replay", from, seq)
	default:
		return refuseKind(ErrOrder, "%s sent number %d after %d: something is missing or out of order", from, seq, last)
	}
}

// Advance checks seq and remembers it.
func (w Window) Advance(from MemberID, seq uint64) error {
	if err := w.Check(from, seq); err != nil {
		return err
	}
	w[from] = seq
	return nil
}
