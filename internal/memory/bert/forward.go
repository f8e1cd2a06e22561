package bert

import (
	"context"
	"errors"
	"math"
)

// Of is where a text points: Dims numbers of length one. What is behind the first 254 pieces does not count.
func (m *Model) Of(ctx context.Context, text string) ([]float32, error) {
	tokens := m.tokens(text)
	n, h := len(tokens), m.Hidden
	x := make([]float32, n*h)
	for i, t := range tokens {
		if err := m.file.numbers(m.piece, int(t)*h, x[i*h:(i+1)*h]); err != nil {
			return nil, err
		}
	}
	for i := range x {
		x[i] += m.positions[i]
	}
	m.level(x, m.norm)
	s := space{q: make([]float32, n*h), k: make([]float32, n*h), v: make([]float32, n*h), wide: make([]float32, n*m.Inner),
		scores: make([]float32, n)}
	for i := range m.layers {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m.step(x, n, &m.layers[i], &s)
	}
	return m.pool(x, n)
}

// space is where a forward computes.
type space struct{ q, k, v, wide, scores []float32 }

// tokens are the pieces of a text between those that stand for its beginning and its end.
func (m *Model) tokens(text string) []int32 {
	const each = 40 // bytes: nothing behind so many for each piece counts, however long a text is
	most := min(m.Positions, maxTokens)
	text = text[:min(len(text), each*most)]
	pieces := m.words.Pieces(text)
	return append(append([]int32{m.first}, pieces[:min(len(pieces), most-2)]...), m.last)
}

// step is one layer: each token looks at all, and then is changed by itself. What comes out is added to what was there.
func (m *Model) step(x []float32, n int, l *layer, s *space) {
	l.query.turn(s.q, x, n)
	l.key.turn(s.k, x, n)
	l.value.turn(s.v, x, n)
	m.attend(s, n)
	l.joined.turn(s.k, s.q, n) // where keys were
	add(x, s.k)
	m.level(x, l.afterAttention)
	l.wide.turn(s.wide, x, n)
	for i, v := range s.wide {
		s.wide[i] = float32(0.5 * float64(v) * (1 + math.Erf(float64(v)/math.Sqrt2)))
	}
	l.narrow.turn(s.k, s.wide, n)
	add(x, s.k)
	m.level(x, l.afterAll)
}

// attend replaces each token's query by the mean of all values, weighted by how well their keys answer it, head by head.
func (m *Model) attend(s *space, n int) {
	h, d := m.Hidden, m.Hidden/m.Heads
	by := float32(1 / math.Sqrt(float64(d)))
	for head := range m.Heads {
		at := head * d
		for i := range n {
			q := s.q[i*h+at : i*h+at+d]
			top := float32(math.Inf(-1))
			for j := range n {
				s.scores[j] = by * dot(q, s.k[j*h+at:j*h+at+d])
				top = max(top, s.scores[j])
			}
			var sum float32
			for j, score := range s.scores {
				s.scores[j] = float32(math.Exp(float64(score - top)))
				sum += s.scores[j]
			}
			clear(q)
			for j, score := range s.scores {
				weigh(q, s.v[j*h+at:j*h+at+d], score/sum)
			}
		}
	}
}

// level applies a norm to each token.
func (m *Model) level(x []float32, l norm) {
	for h := m.Hidden; len(x) > 0; x = x[h:] {
		row := x[:h]
		var mean, spread float64
		for _, v := range row {
			mean += float64(v)
		}
		mean /= float64(h)
		for _, v := range row {
			spread += (float64(v) - mean) * (float64(v) - mean)
		}
		by := 1 / math.Sqrt(spread/float64(h)+m.Epsilon)
		for i, v := range row {
			row[i] = float32((float64(v)-mean)*by)*l.weight[i] + l.bias[i]
		}
	}
}

// errNowhere is a model whose numbers are none.
var errNowhere = errors.New("the model computes no numbers: its weights are broken")

// pool is the one vector for a text: the mean of its tokens, or the first.
func (m *Model) pool(x []float32, n int) ([]float32, error) {
	out := make([]float32, m.Hidden)
	if m.firstPools {
		n = 1
	}
	for i := range n {
		add(out, x[i*m.Hidden:(i+1)*m.Hidden])
	}
	var long float64
	for _, v := range out {
		long += float64(v) * float64(v)
	}
	if long = math.Sqrt(long); !(long > 0) || math.IsInf(long, 0) {
		return nil, errNowhere
	}
	for i := range out {
		out[i] = float32(float64(out[i]) / long)
	}
	return out, nil
}
