package diff

import "slices"

// pair is a match: the place of a word in the left and in the right text.
type pair struct{ left, right int }

// internWords numbers the tokens of all texts so that equal ones have equal
// numbers.
func internWords(texts [][]byte, spans [][]Span, compare Compare) [][]int {
	numbers := map[string]int{}
	out := make([][]int, len(texts))
	for i, t := range texts {
		out[i] = make([]int, len(spans[i]))
		for j, s := range spans[i] {
			key := compare(t[s.Start:s.End])
			n, ok := numbers[key]
			if !ok {
				n = len(numbers)
				numbers[key] = n
			}
			out[i][j] = n
		}
	}
	return out
}

// intersect keeps the base's words that match in every text so far and in the
// next one.
func intersect(common [][]int, next []pair) [][]int {
	var out [][]int
	for _, m := range next {
		for len(common) > 0 && common[0][0] < m.left {
			common = common[1:]
		}
		if len(common) > 0 && common[0][0] == m.left {
			out = append(out, append(common[0], m.right))
		}
	}
	return out
}

// matcher matches the words of two texts.
type matcher struct {
	left, right []int
	found       []pair
}

func matchPairs(left, right []int) []pair {
	m := &matcher{left: left, right: right}
	m.match(0, len(left), 0, len(right))
	return m.found
}

// maxOccurrences is where a word stops being worth an anchor.
const maxOccurrences = 100

// match finds matches within left[l0:l1] and right[r0:r1].
func (m *matcher) match(l0, l1, r0, r1 int) {
	if l0 == l1 || r0 == r1 {
		return
	}
	before := len(m.found)
	m.matchAnchors(l0, l1, r0, r1)
	if len(m.found) > before {
		return
	}
	// No anchors: what both start with and what both end with still match.
	lead := 0
	for l0+lead < l1 && r0+lead < r1 && m.left[l0+lead] == m.right[r0+lead] {
		m.found = append(m.found, pair{l0 + lead, r0 + lead})
		lead++
	}
	trail := 0
	for l1-trail > l0+lead && r1-trail > r0+lead && m.left[l1-trail-1] == m.right[r1-trail-1] {
		trail++
	}
	for i := trail; i >= 1; i-- {
		m.found = append(m.found, pair{l1 - i, r1 - i})
	}
}

// matchAnchors takes the words that are rarest on the left among those that
// occur as often on the right, keeps the longest run of them in common order,
// and matches what lies between.
func (m *matcher) matchAnchors(l0, l1, r0, r1 int) {
	lefts := histogram(m.left[l0:l1])
	rarest := maxOccurrences + 1
	byCount := map[int][]int{}
	for word, places := range lefts {
		byCount[len(places)] = append(byCount[len(places)], word)
		rarest = min(rarest, len(places))
	}
	if rarest > maxOccurrences {
		return
	}
	rights := histogram(m.right[r0:r1])
	var leftPlaces, rightPlaces []place
	for count := rarest; count <= maxOccurrences+1 && len(leftPlaces) == 0; count++ {
		for _, word := range byCount[count] {
			rs := rights[word]
			if len(rs) != count {
				continue
			}
			for i, l := range lefts[word] {
				serial := len(leftPlaces)
				leftPlaces = append(leftPlaces, place{l, serial})
				rightPlaces = append(rightPlaces, place{rs[i], serial})
			}
		}
	}
	if len(leftPlaces) == 0 {
		return
	}
	byAt := func(a, b place) int { return a.at - b.at }
	slices.SortFunc(leftPlaces, byAt)
	slices.SortFunc(rightPlaces, byAt)
	rank := make([]int, len(leftPlaces))
	for i, p := range leftPlaces {
		rank[p.serial] = i
	}
	order := make([]int, len(rightPlaces))
	for i, p := range rightPlaces {
		order[i] = rank[p.serial]
	}
	l, r := l0, r0
	for _, step := range longestRun(order) {
		nextL, nextR := l0+leftPlaces[step.left].at, r0+rightPlaces[step.right].at
		m.match(l, nextL, r, nextR)
		m.found = append(m.found, pair{nextL, nextR})
		l, r = nextL+1, nextR+1
	}
	m.match(l, l1, r, r1)
}

// place is where a word stands and which occurrence it is.
type place struct{ at, serial int }

// histogram lists the places of each word, one more than maxOccurrences at
// most.
func histogram(words []int) map[int][]int {
	out := make(map[int][]int, len(words))
	for i, w := range words {
		if places := out[w]; len(places) <= maxOccurrences {
			out[w] = append(places, i)
		}
	}
	return out
}

// longestRun finds the longest ascending subsequence of a permutation, as
// pairs of (value, index). Among equally long ones it takes the one jj takes:
// going back from an element, the nearest predecessor wins.
func longestRun(order []int) []pair {
	type link struct{ length, left, previous int }
	chain := make([]link, len(order))
	longest, last := 0, 0
	for right, left := range order {
		here := link{1, left, -1}
		for i := right - 1; i >= 0; i-- {
			if chain[i].left >= left {
				continue
			}
			if n := chain[i].length + 1; n > here.length {
				here.length, here.previous = n, i
				if n > longest {
					longest, last = n, right
					break // no earlier one can be longer
				}
			}
		}
		chain[right] = here
	}
	var out []pair
	for right := last; right >= 0; right = chain[right].previous {
		out = append(out, pair{chain[right].left, right})
	}
	slices.Reverse(out)
	return out
}
