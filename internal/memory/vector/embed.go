package vector

import (
	"math"

	"tandem/internal/memory/text"
)

// Vector is a direction: numbers between -127 and 127, of which the largest is 127. One without direction is nil. It has Dims numbers when
// it is of the table, and as many as its model when a model made it.
type Vector []int8

// MaxDims is how many numbers a model's vectors may have.
const MaxDims = 4096

// most is how many words of a text count: what it is about is said by then.
const most = 2000

// Of is the vector of a text.
func (t *Table) Of(s string) Vector {
	var sum [Dims]float32
	words := text.Folded(s)
	var room [16]int32
	for _, w := range words[:min(len(words), most)] {
		t.sum(&sum, room[:0], w, 1)
	}
	return Direction(sum[:])
}

// Question is the vector of a question, in which each word has the weight of its stem.
func (t *Table) Question(s string, weight func(stem string) float64) Vector {
	var sum [Dims]float32
	words := text.Words(s)
	for _, w := range words[:min(len(words), most)] {
		t.sum(&sum, nil, w.Folded, float32(weight(w.Stem)))
	}
	return Direction(sum[:])
}

// sum adds the pieces of a word that carry meaning.
func (t *Table) sum(sum *[Dims]float32, room []int32, word string, by float32) {
	for _, piece := range t.pieces(room, word) {
		if piece != t.nothing {
			t.add(sum, piece, by)
		}
	}
}

// Direction is where numbers point, in a byte a number.
func Direction(sum []float32) Vector {
	var top float64
	for _, x := range sum {
		if math.IsNaN(float64(x)) {
			return nil
		}
		top = max(top, math.Abs(float64(x)))
	}
	if top == 0 || math.IsInf(top, 0) {
		return nil
	}
	out := make(Vector, len(sum))
	for i, x := range sum {
		out[i] = int8(math.Round(float64(x) / top * 127))
	}
	return out
}

// Bytes is a vector as it is stored.
func (v Vector) Bytes() []byte {
	out := make([]byte, len(v))
	for i, x := range v {
		out[i] = byte(x)
	}
	return out
}

// Stored is a vector as it was stored, nil when it is none.
func Stored(b []byte) Vector {
	if len(b) < 2 || len(b) > MaxDims {
		return nil
	}
	out := make(Vector, len(b))
	for i, x := range b {
		out[i] = int8(x)
	}
	return out
}

// Likeness is how near two directions are: 1 the same, 0 nothing in common.
func Likeness(a, b Vector) float64 {
	if len(a) != len(b) {
		return 0
	}
	var ab, aa, bb int64
	for i := range a {
		x, y := int64(a[i]), int64(b[i])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return float64(ab) / math.Sqrt(float64(aa)*float64(bb))
}
