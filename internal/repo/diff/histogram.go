package diff

import "bytes"

// maxChain is how many places of one line are remembered. Text in which all
// that is common occurs more often is too repetitive for a histogram.
const maxChain = 64

// KeptBytes is how much of the first text's lines the second one keeps in the
// eyes of git's histogram algorithm: the stretch around the rarest common line
// is matched, then what is before and behind it. Whether a file counts as a
// copy of another is decided by this and not by Lines, so ties go the way they
// go in gitoxide's implementation, which stock jj uses.
func KeptBytes(x, y []byte) int {
	names := map[string]int{}
	var size []int
	number := func(text []byte) []int {
		var out []int
		for len(text) > 0 {
			n := bytes.IndexByte(text, '\n') + 1
			if n == 0 {
				n = len(text)
			}
			id, ok := names[string(text[:n])]
			if !ok {
				id = len(size)
				names[string(text[:n])] = id
				size = append(size, n)
			}
			out, text = append(out, id), text[n:]
		}
		return out
	}
	a, b := number(x), number(y)
	h := &keeper{size: size, at: make([][]int, len(size))}
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		h.keep(a[:1])
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		h.keep(a[len(a)-1:])
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	h.match(a, b)
	return h.kept
}

// keeper counts what is kept while it matches.
type keeper struct {
	size []int   // of each line, in bytes
	at   [][]int // where a line occurs in the stretch looked at
	kept int
}

func (h *keeper) keep(lines []int) {
	for _, l := range lines {
		h.kept += h.size[l]
	}
}

// run is a common stretch: where it starts in both texts, and its length.
type run struct{ a, b, n int }

func (h *keeper) match(a, b []int) {
	for len(a) > 0 && len(b) > 0 {
		best, ok := h.rarest(a, b)
		if !ok {
			h.keep(commonLines(a, b))
			return
		}
		if best.n == 0 {
			return
		}
		h.match(a[:best.a], b[:best.b])
		h.keep(a[best.a : best.a+best.n])
		a, b = a[best.a+best.n:], b[best.b+best.n:]
	}
}

// rarest is the common stretch with the rarest line in it, the longer one among
// equals. It is not ok where all common lines occur too often.
func (h *keeper) rarest(a, b []int) (best run, ok bool) {
	for i, l := range a {
		if len(h.at[l]) < maxChain {
			h.at[l] = append(h.at[l], i)
		}
	}
	defer func() {
		for _, l := range a {
			h.at[l] = h.at[l][:0]
		}
	}()
	fewest, common := maxChain, false
	for j := 0; j < len(b); {
		n := len(h.at[b[j]])
		if n == 0 || n > fewest {
			common = common || n > 0
			j++
			continue
		}
		common = true
		j = h.around(a, b, j, &best, &fewest)
	}
	return best, !common || fewest < maxChain
}

// around extends every occurrence of line j of b to a stretch and says from
// where to go on.
func (h *keeper) around(a, b []int, j int, best *run, fewest *int) int {
	next, past := j+1, -1
	for _, i := range h.at[b[j]] {
		if past >= 0 && i <= past { // a place in a against an end in b: so does the original
			continue
		}
		rare := len(h.at[b[j]])
		r := run{i, j, 0}
		for r.a > 0 && r.b > 0 && a[r.a-1] == b[r.b-1] {
			r.a, r.b = r.a-1, r.b-1
			rare = min(rare, len(h.at[a[r.a]]))
		}
		end, endB := i+1, j+1
		for end < len(a) && endB < len(b) && a[end] == b[endB] {
			rare = min(rare, len(h.at[a[end]]))
			end, endB = end+1, endB+1
		}
		next, past = max(next, endB), endB
		if r.n = endB - r.b; best.n < r.n || *fewest > rare {
			*best, *fewest = r, rare
		}
	}
	return next
}

// commonLines is a longest common subsequence, for text that repeats itself. It
// gives up, with nothing in common, where texts differ in very many places.
func commonLines(a, b []int) []int {
	const limit = 2000
	// reach[k] is how far into a the best path on diagonal k gets with d edits.
	reach := map[int]int{1: 0}
	var past []map[int]int
	for d := 0; d <= min(len(a)+len(b), limit); d++ {
		now := make(map[int]int, d+1)
		for k := -d; k <= d; k += 2 {
			x := reach[k+1]
			if k != -d && (k == d || reach[k-1] >= x) {
				x = reach[k-1] + 1
			}
			y := x - k
			for x < len(a) && y >= 0 && y < len(b) && a[x] == b[y] {
				x, y = x+1, y+1
			}
			now[k] = x
			if x >= len(a) && y >= len(b) {
				return retrace(a, append(past, now), k)
			}
		}
		past, reach = append(past, now), now
	}
	return nil
}

// retrace collects the lines of a that the path to its end on diagonal k kept.
func retrace(a []int, past []map[int]int, k int) (out []int) {
	x := len(a)
	for d := len(past) - 1; d >= 0; d-- {
		from, enter := 0, 0
		if d > 0 {
			if k != -d && (k == d || past[d-1][k-1] >= past[d-1][k+1]) {
				from, enter = k-1, past[d-1][k-1]+1
			} else {
				from, enter = k+1, past[d-1][k+1]
			}
		}
		if enter < x {
			out = append(out, a[enter:x]...)
		}
		if d > 0 {
			k, x = from, past[d-1][from]
		}
	}
	return out
}
