package bert

import (
	"fmt"
	"io"

	"tandem/internal/memory/vector"
)

// Files are what a model is published as.
type Files struct {
	Config, Vocab []byte
	Pooling       []byte // 1_Pooling/config.json, where there is one; without, the mean is taken
	Weights       io.ReaderAt
	Size          int64 // of the weights
}

// Model is one that can be asked, by many at once.
type Model struct {
	config
	words       vector.Words
	first, last int32 // pieces around every text
	firstPools  bool

	file      *tensors
	piece     tensor    // of the vocabulary: it stays in the file
	positions []float32 // a row for each place, with that of the first type of text added
	norm      norm
	layers    []layer
}

// norm brings numbers to a mean of nought and a spread of one, and then to what was learnt.
type norm struct{ weight, bias []float32 }

// linear is a learnt turn of numbers: a row of weights for each that comes out.
type linear struct {
	weight, bias []float32
	in, out      int
}

type layer struct {
	query, key, value, joined linear
	afterAttention            norm
	wide, narrow              linear
	afterAll                  norm
}

// Read makes a model of its files. The weights are read later, too: they stay open as long as the model is used.
func Read(f Files) (*Model, error) {
	c, err := readConfig(f.Config)
	if err != nil {
		return nil, err
	}
	m := &Model{config: c}
	if m.words, m.first, m.last, err = readVocab(f.Vocab, c.Vocab); err != nil {
		return nil, err
	}
	if m.firstPools, err = firstPools(f.Pooling); err != nil {
		return nil, err
	}
	if m.file, err = readTensors(f.Weights, f.Size); err != nil {
		return nil, err
	}
	if err := m.load(); err != nil {
		return nil, err
	}
	return m, nil
}

// Dims is how many numbers a vector of it has.
func (m *Model) Dims() int { return m.Hidden }

func (m *Model) load() (err error) {
	get := func(name string, shape ...int) []float32 {
		if err != nil {
			return nil
		}
		var out []float32
		out, err = m.file.read(name, shape...)
		return out
	}
	turn := func(name string, in, out int) linear {
		return linear{get(name+".weight", out, in), get(name+".bias", out), in, out}
	}
	level := func(name string) norm {
		return norm{get(name+".LayerNorm.weight", m.Hidden), get(name+".LayerNorm.bias", m.Hidden)}
	}
	m.norm = level("embeddings")
	used := min(m.Positions, maxTokens)
	m.positions = get("embeddings.position_embeddings.weight", m.Positions, m.Hidden)
	types := get("embeddings.token_type_embeddings.weight", m.Types, m.Hidden)
	if err != nil {
		return err
	}
	m.positions = append([]float32(nil), m.positions[:used*m.Hidden]...)
	for i := range m.positions {
		m.positions[i] += types[i%m.Hidden]
	}
	if m.piece, err = m.file.find("embeddings.word_embeddings.weight", m.Vocab, m.Hidden); err != nil {
		return err
	}
	for i := range m.Layers {
		at := fmt.Sprintf("encoder.layer.%d.", i)
		m.layers = append(m.layers, layer{
			query: turn(at+"attention.self.query", m.Hidden, m.Hidden), key: turn(at+"attention.self.key", m.Hidden, m.Hidden),
			value:          turn(at+"attention.self.value", m.Hidden, m.Hidden),
			joined:         turn(at+"attention.output.dense", m.Hidden, m.Hidden),
			afterAttention: level(at + "attention.output"),
			wide:           turn(at+"intermediate.dense", m.Hidden, m.Inner), narrow: turn(at+"output.dense", m.Inner, m.Hidden),
			afterAll: level(at + "output"),
		})
		if err != nil {
			return err
		}
	}
	return nil
}
