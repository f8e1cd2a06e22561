package text

import (
	"cmp"
	"math"
	"slices"
)

// Corpus is what is counted of a tenant's texts: nobody else's.
type Corpus struct {
	Texts  int     // how many there are
	Length float64 // how many terms one has, on average
}

// The constants of BM25, within what its authors recommend. Length counts for less than the usual 0.75 says: a record is a sentence or a
// paragraph, and a long one is so because it says more, not because it says the same more often. Chosen with the paraphrased questions in
// sight; on the conversations of LoCoMo that were kept apart the difference is within the noise.
const (
	k1 = 1.2
	b  = 0.5
)

// Weight is what a term is worth in a corpus where so many texts have it. A term that nearly every text has is still worth a little.
func (c Corpus) Weight(texts int) float64 {
	n, df := float64(c.Texts), float64(min(texts, c.Texts))
	return math.Log(1 + (n-df+0.5)/(df+0.5))
}

// Score is what one term adds to a text of the given length that has it so often.
func (c Corpus) Score(weight float64, often, length int) float64 {
	avg := c.Length
	if avg <= 0 {
		avg = 1
	}
	tf := float64(often)
	return weight * tf * (k1 + 1) / (tf + k1*(1-b+b*float64(length)/avg))
}

// Hit is a text that was found.
type Hit struct {
	ID    string
	Score float64
}

// Sort puts the best first. Equal scores are ordered by id, so that an answer is the same every time.
func Sort(hits []Hit) {
	slices.SortFunc(hits, func(x, y Hit) int {
		return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.ID, y.ID))
	})
}

// neighbour is what a chunk gets of the score of the one beside it, and of that one's share the next: the answer is often near the words of
// the question.
const (
	neighbour = 0.5
	reach     = 2
)

// Lend gives each hit a part of its neighbours' scores, and adds neighbours that were not found themselves. The neighbours of a chunk are
// those so many steps before and behind it in the same document.
func Lend(hits []Hit, beside func(id string, steps int) []string) []Hit {
	total := make(map[string]float64, 4*len(hits))
	for _, h := range hits {
		total[h.ID] += h.Score
		for steps, part := 1, h.Score; steps <= reach; steps++ {
			part *= neighbour
			for _, id := range beside(h.ID, steps) {
				total[id] += part
			}
		}
	}
	out := make([]Hit, 0, len(total))
	for id, s := range total {
		out = append(out, Hit{id, s})
	}
	Sort(out)
	return out
}

// fuseK is how quickly a rank loses weight when lists are joined. The usual 60 lets the tail of one list outweigh the head of another.
const fuseK = 10

// Fuse joins lists by rank: scores of different kinds cannot be added, places can.
func Fuse(lists ...[]Hit) []Hit {
	total := map[string]float64{}
	for _, list := range lists {
		for place, h := range list {
			total[h.ID] += 1 / float64(fuseK+place+1)
		}
	}
	out := make([]Hit, 0, len(total))
	for id, s := range total {
		out = append(out, Hit{id, s})
	}
	Sort(out)
	return out
}
