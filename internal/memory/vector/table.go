package vector

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
)

// Dims is how many numbers a vector has.
const Dims = 256

// Table is a vector for each piece of a vocabulary.
type Table struct {
	Model string // by which the vectors that were made with it are known

	Words
	nothing int32  // the piece of what is unknown
	scales  string // a float32 a piece
	rows    string // Dims int8 a piece
}

const magic = "tandemv1"

// Read reads a table; the form is in docs/formats/word-vectors.md. It keeps the bytes and copies none of the vectors.
func Read(s string) (*Table, error) {
	bad := errors.New("this is no table of word vectors")
	if len(s) < len(magic)+12 || s[:len(magic)] != magic {
		return nil, bad
	}
	s = s[len(magic):]
	dims, count, listed := number(s), int(number(s[4:])), int(number(s[8:]))
	s = s[12:]
	if dims != Dims || count > 1<<20 || len(s) != listed+count*(4+Dims) {
		return nil, bad
	}
	words := strings.Split(s[:listed], "\n")
	if len(words) != count {
		return nil, bad
	}
	t := &Table{Words: make(Words, count), scales: s[listed : listed+4*count], rows: s[listed+4*count:]}
	for i, w := range words {
		t.Words[w] = int32(i)
	}
	t.nothing = t.Words[unknown]
	return t, nil
}

func number(s string) uint32 {
	return binary.LittleEndian.Uint32([]byte{s[0], s[1], s[2], s[3]})
}

// add adds the vector of a piece, weighted.
func (t *Table) add(sum *[Dims]float32, piece int32, weight float32) {
	weight *= math.Float32frombits(number(t.scales[4*piece:]))
	row := t.rows[int(piece)*Dims : (int(piece)+1)*Dims]
	for i := range Dims {
		sum[i] += weight * float32(int8(row[i]))
	}
}
