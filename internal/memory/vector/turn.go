package vector

import (
	"math/rand/v2"
	"sync"
)

// flips are the signs by which numbers are turned before they are mixed: the same in every program, as signatures of one search come from
// several servers.
var flips = sync.OnceValue(func() []bool {
	r := rand.New(rand.NewPCG(20, 384))
	out := make([]bool, MaxDims)
	for i := range out {
		out[i] = r.IntN(2) == 0
	}
	return out
})

// turned is the signature of a vector of any length: its numbers are mixed so that each sign tells of all of them (a Hadamard transform
// behind random signs), and the first signs are taken.
func turned(v Vector) (s Signature) {
	if len(v) > MaxDims || len(v) == 0 {
		return s
	}
	size := Dims
	for size < len(v) {
		size *= 2
	}
	mixed, flip := make([]int32, size), flips()
	for i, x := range v {
		if mixed[i] = int32(x); flip[i] {
			mixed[i] = -mixed[i]
		}
	}
	for step := 1; step < size; step *= 2 {
		for at := 0; at < size; at += 2 * step {
			for i := at; i < at+step; i++ {
				mixed[i], mixed[i+step] = mixed[i]+mixed[i+step], mixed[i]-mixed[i+step]
			}
		}
	}
	for i := range Dims {
		if mixed[i] > 0 {
			s[i/64] |= 1 << (i % 64)
		}
	}
	return s
}
