package bert

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Bounds of a file of tensors.
const (
	maxHeader  = 1 << 20
	maxTensors = 4096
	maxNumbers = 1 << 28 // in one tensor
)

// tensors is a file in the form called safetensors: the length of a header, the header in JSON, and numbers.
type tensors struct {
	from  io.ReaderAt
	begin int64
	all   map[string]tensor
}

// tensor is where the numbers of one lie, from the end of the header.
type tensor struct {
	kind       string
	shape      []int
	begin, end int64
}

// width is how many bytes a number has, by its kind.
var width = map[string]int64{"F32": 4, "F16": 2, "BF16": 2}

func readTensors(from io.ReaderAt, size int64) (*tensors, error) {
	var first [8]byte
	if _, err := from.ReadAt(first[:], 0); err != nil {
		return nil, errors.New("the weights have no header")
	}
	n := binary.LittleEndian.Uint64(first[:])
	if n > maxHeader || int64(n) > size-8 {
		return nil, fmt.Errorf("the weights say that their header has %d bytes", n)
	}
	raw := make([]byte, n)
	if _, err := from.ReadAt(raw, 8); err != nil {
		return nil, errors.New("the header of the weights is cut off")
	}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(raw, &header); err != nil || len(header) > maxTensors {
		return nil, errors.New("the header of the weights cannot be read")
	}
	t := &tensors{from: from, begin: int64(8 + n), all: map[string]tensor{}}
	for name, said := range header {
		if name == "__metadata__" {
			continue
		}
		var of struct {
			Kind  string  `json:"dtype"`
			Shape []int   `json:"shape"`
			At    []int64 `json:"data_offsets"`
		}
		if err := json.Unmarshal(said, &of); err != nil || len(of.At) != 2 || of.At[0] < 0 || of.At[1] < of.At[0] ||
			of.At[1] > size-t.begin {
			return nil, fmt.Errorf("of the weights, %.80q lies nowhere", name)
		}
		t.all[strings.TrimPrefix(name, "bert.")] = tensor{of.Kind, of.Shape, of.At[0], of.At[1]}
	}
	return t, nil
}

// find is a tensor of a shape, which holds as many numbers as it should.
func (t *tensors) find(name string, shape ...int) (tensor, error) {
	of, ok := t.all[name]
	if !ok {
		return of, fmt.Errorf("the weights have no %s", name)
	}
	count := int64(1)
	for _, n := range shape {
		if count *= int64(n); n <= 0 || count > maxNumbers {
			return of, fmt.Errorf("%s is too large", name)
		}
	}
	switch w := width[of.kind]; {
	case w == 0:
		return of, fmt.Errorf("%s holds numbers of the kind %.20q, not F32, F16 or BF16", name, of.kind)
	case !slices.Equal(of.shape, shape):
		return of, fmt.Errorf("%s has the shape %.60s, not %v", name, fmt.Sprint(of.shape), shape)
	case of.end-of.begin != w*count:
		return of, fmt.Errorf("%s has %d bytes, not %d", name, of.end-of.begin, w*count)
	}
	return of, nil
}

// read holds all numbers of a tensor.
func (t *tensors) read(name string, shape ...int) ([]float32, error) {
	of, err := t.find(name, shape...)
	if err != nil {
		return nil, err
	}
	out := make([]float32, (of.end-of.begin)/width[of.kind])
	return out, t.numbers(of, 0, out)
}

// numbers reads some of a tensor, from the one with a number on.
func (t *tensors) numbers(of tensor, from int, into []float32) error {
	w := width[of.kind]
	if w == 0 {
		return fmt.Errorf("the weights hold numbers of the kind %.20q", of.kind)
	}
	raw := make([]byte, w*int64(len(into)))
	if _, err := t.from.ReadAt(raw, t.begin+of.begin+w*int64(from)); err != nil {
		return fmt.Errorf("read the weights: %w", err)
	}
	for i := range into {
		switch of.kind {
		case "F32":
			into[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		case "BF16":
			into[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(raw[2*i:])) << 16)
		default:
			into[i] = half(binary.LittleEndian.Uint16(raw[2*i:]))
		}
	}
	return nil
}

// half is a number of 16 bits: a sign, 5 bits of exponent and 10 of fraction.
func half(h uint16) float32 {
	sign, exp, frac := float64(1-2*int(h>>15)), int(h>>10&31), float64(h&1023)
	switch exp {
	case 0:
		return float32(sign * math.Ldexp(frac, -24))
	case 31:
		if frac != 0 {
			return float32(math.NaN())
		}
		return float32(math.Inf(int(sign)))
	}
	return float32(sign * math.Ldexp(1024+frac, exp-25))
}
