package repo

// MergeTargets merges two moves of a ref away from a base. Equal moves are
// one; of two moves along one line the further wins; anything else is a
// conflict.
func MergeTargets(ix *Index, left, base, right RefTarget) RefTarget {
	left, base, right = orNone(left), orNone(base), orNone(right)
	switch {
	case left.Equal(right), base.Equal(right):
		return left
	case base.Equal(left):
		return right
	}
	m := Flatten([]RefTarget{left, base, right}).Simplify()
	if id, ok := m.Trivial(); ok {
		return RefTarget{id}
	}
	for {
		remove, add, ok := supersededPair(ix, m)
		if !ok {
			return m
		}
		m = m.SwapRemove(remove, add)
	}
}

// supersededPair finds a side that is an ancestor of another side and a base
// that it came from: the further side speaks for both.
func supersededPair(ix *Index, m RefTarget) (remove, add int, ok bool) {
	adds, removes := m.Adds(), m.Removes()
	for i, a := range adds {
		for j := i + 1; j < len(adds); j++ {
			b := adds[j]
			if a == "" || b == "" {
				continue
			}
			older, at := a, i
			switch {
			case a == b || ix.IsAncestor(a, b):
			case ix.IsAncestor(b, a):
				older, at = b, j
			default:
				continue
			}
			for k, r := range removes {
				if r == "" || ix.IsAncestor(r, older) {
					return k, at, true
				}
			}
		}
	}
	return 0, 0, false
}

// MergeRemoteRefs merges target and tracking state, each by itself.
func MergeRemoteRefs(ix *Index, left, base, right RemoteRef) RemoteRef {
	out := left
	out.Target = MergeTargets(ix, left.Target, base.Target, right.Target)
	if left.Tracked == base.Tracked {
		out.Tracked = right.Tracked
	}
	return out
}
