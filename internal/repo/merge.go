package repo

import "slices"

// Merge is a value that may be conflicted: an odd number of terms in which
// positive and negative ones alternate, starting with a positive. One term is
// a resolved value; three are "side, base, side"; read as a sum, the i-th
// negative term is the base from which the next positive one departs.
type Merge[T comparable] []T

// Resolved is a merge without conflict.
func Resolved[T comparable](v T) Merge[T] { return Merge[T]{v} }

// IsResolved says whether a single term is left. It does not simplify.
func (m Merge[T]) IsResolved() bool { return len(m) == 1 }

// AsResolved is the only term, if there is only one.
func (m Merge[T]) AsResolved() (v T, ok bool) {
	if len(m) == 1 {
		return m[0], true
	}
	return v, false
}

// First is the first side.
func (m Merge[T]) First() T { return m[0] }

// Sides is the number of positive terms.
func (m Merge[T]) Sides() int { return len(m)/2 + 1 }

// Add is the i-th positive term.
func (m Merge[T]) Add(i int) T { return m[2*i] }

// Remove is the i-th negative term.
func (m Merge[T]) Remove(i int) T { return m[2*i+1] }

// Adds lists the positive terms.
func (m Merge[T]) Adds() []T {
	out := make([]T, 0, m.Sides())
	for i := 0; i < len(m); i += 2 {
		out = append(out, m[i])
	}
	return out
}

// Removes lists the negative terms.
func (m Merge[T]) Removes() []T {
	out := make([]T, 0, len(m)/2)
	for i := 1; i < len(m); i += 2 {
		out = append(out, m[i])
	}
	return out
}

// MergeOf interleaves sides and bases; there is one side more than bases.
func MergeOf[T comparable](removes, adds []T) (Merge[T], bool) {
	if len(adds) != len(removes)+1 {
		return nil, false
	}
	m := make(Merge[T], 0, len(adds)+len(removes))
	m = append(m, adds[0])
	for i, r := range removes {
		m = append(m, r, adds[i+1])
	}
	return m, true
}

// Equal compares term by term.
func (m Merge[T]) Equal(o Merge[T]) bool { return slices.Equal(m, o) }

// Clone is a copy that may be changed.
func (m Merge[T]) Clone() Merge[T] { return slices.Clone(m) }

// Pad fills the merge up to so many sides with a value that cancels itself.
func (m Merge[T]) Pad(sides int, v T) Merge[T] {
	out := m.Clone()
	for len(out) < 2*sides-1 {
		out = append(out, v)
	}
	return out
}

// SwapRemove drops one negative and one positive term; the last of each kind
// takes the free place.
func (m Merge[T]) SwapRemove(remove, add int) Merge[T] {
	out := m.Clone()
	last := len(out) - 1
	out[2*add] = out[last]
	out[2*remove+1] = out[last-1]
	return out[:last-1]
}

// Simplify cancels equal positive and negative terms: A→B and B→C become A→C,
// A→A vanishes.
func (m Merge[T]) Simplify() Merge[T] { return pick(m, m.simplifiedFrom()) }

// simplifiedFrom lists, for each term of the simplified merge, the place it
// has in m.
func (m Merge[T]) simplifiedFrom() []int {
	places := make([]int, len(m))
	for i := range places {
		places[i] = i
	}
	for add := 0; add < len(places); {
		remove := -1
		for r := 1; r < len(places); r += 2 {
			if m[places[r]] == m[places[add]] {
				remove = r
				break
			}
		}
		if remove < 0 {
			add += 2
			continue
		}
		// The side moves to the diff whose base it equals, and that diff goes.
		places[remove+1], places[add] = places[add], places[remove+1]
		places = slices.Delete(places, remove, remove+2)
	}
	return places
}

func pick[T comparable](m Merge[T], places []int) Merge[T] {
	out := make(Merge[T], len(places))
	for i, p := range places {
		out[i] = m[p]
	}
	return out
}

// UpdateFromSimplified puts the terms of a changed simplified merge back into
// their places in m; terms that had cancelled stay.
func (m Merge[T]) UpdateFromSimplified(simplified Merge[T]) Merge[T] {
	out := m.Clone()
	for i, p := range m.simplifiedFrom() {
		out[p] = simplified[i]
	}
	return out
}

// Trivial resolves a merge without looking inside the values: sides that equal
// their base do not count, and when all others made the same change that
// change is accepted.
func (m Merge[T]) Trivial() (v T, ok bool) {
	switch len(m) {
	case 1:
		return m[0], true
	case 3:
		switch {
		case m[0] == m[2], m[2] == m[1]:
			return m[0], true
		case m[0] == m[1]:
			return m[2], true
		}
		return v, false
	}
	counts := make(map[T]int, len(m))
	for i, t := range m {
		counts[t] += 1 - 2*(i%2)
	}
	var positive []T
	left := 0
	for t, n := range counts {
		if n == 0 {
			continue
		}
		left++
		if n > 0 {
			positive = append(positive, t)
		}
	}
	if left <= 2 && len(positive) == 1 {
		return positive[0], true
	}
	return v, false
}

// MapMerge applies f to each term.
func MapMerge[T, U comparable](m Merge[T], f func(T) U) Merge[U] {
	out := make(Merge[U], len(m))
	for i, t := range m {
		out[i] = f(t)
	}
	return out
}

// Flatten turns a merge of merges into one merge. The terms of a negative
// merge change sign; its diffs stay together.
func Flatten[T comparable](outer []Merge[T]) Merge[T] {
	out := outer[0].Clone()
	for i := 1; i < len(outer); i += 2 {
		remove := outer[i]
		// −(s0 − b0 + s1 …) follows as b0, s1 reversed in sign, with s0 last.
		for j := 1; j < len(remove); j += 2 {
			out = append(out, remove[j+1], remove[j])
		}
		out = append(out, remove[0])
		out = append(out, outer[i+1]...)
	}
	return out
}
