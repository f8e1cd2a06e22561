package bert

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// tiny is a model of random weights, and the weights for who computes with them otherwise.
type tiny struct {
	config
	pieces []string
	all    map[string][]float64
	shapes map[string][]int
}

func newTiny(seed uint64) *tiny {
	r := rand.New(rand.NewPCG(seed, 20))
	t := &tiny{config: config{Type: "bert", Hidden: 12, Layers: 3, Heads: 3, Inner: 20, Activation: "gelu", Epsilon: 1e-12, Positions: 24,
		Types: 2}, all: map[string][]float64{}, shapes: map[string][]int{}}
	t.pieces = []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "release", "##s", "are", "cut", "on", "tues",
		"##day", ".", "the", "build", "green"}
	t.Vocab = len(t.pieces)
	put := func(name string, spread, around float64, shape ...int) {
		n := 1
		for _, s := range shape {
			n *= s
		}
		for range n {
			t.all[name] = append(t.all[name], float64(float32(around+spread*r.NormFloat64())))
		}
		t.shapes[name] = shape
	}
	h := t.Hidden
	put("embeddings.word_embeddings.weight", 1, 0, t.Vocab, h)
	put("embeddings.position_embeddings.weight", .5, 0, t.Positions, h)
	put("embeddings.token_type_embeddings.weight", .5, 0, t.Types, h)
	level := func(name string) {
		put(name+".LayerNorm.weight", .2, 1, h)
		put(name+".LayerNorm.bias", .2, 0, h)
	}
	dense := func(name string, in, out int) {
		put(name+".weight", .5, 0, out, in)
		put(name+".bias", .3, 0, out)
	}
	level("embeddings")
	for i := range t.Layers {
		at := fmt.Sprintf("encoder.layer.%d.", i)
		dense(at+"attention.self.query", h, h)
		dense(at+"attention.self.key", h, h)
		dense(at+"attention.self.value", h, h)
		dense(at+"attention.output.dense", h, h)
		level(at + "attention.output")
		dense(at+"intermediate.dense", h, t.Inner)
		dense(at+"output.dense", t.Inner, h)
		level(at + "output")
	}
	return t
}

// files writes the model as one is published.
func (t *tiny) files(kind, prefix string) Files {
	conf, _ := json.Marshal(t.config)
	type place struct {
		Kind  string `json:"dtype"`
		Shape []int  `json:"shape"`
		At    [2]int `json:"data_offsets"`
	}
	head := map[string]any{"__metadata__": map[string]string{"format": "pt"}}
	var data bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(t.all)) {
		begin := data.Len()
		for _, x := range t.all[name] {
			if kind == "BF16" {
				binary.Write(&data, binary.LittleEndian, uint16(math.Float32bits(float32(x))>>16))
			} else {
				binary.Write(&data, binary.LittleEndian, float32(x))
			}
		}
		head[prefix+name] = place{Kind: kind, Shape: t.shapes[name], At: [2]int{begin, data.Len()}}
	}
	header, _ := json.Marshal(head)
	all := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	all = append(append(all, header...), data.Bytes()...)
	return Files{Config: conf, Vocab: []byte(strings.Join(t.pieces, "\n") + "\n"), Weights: bytes.NewReader(all), Size: int64(len(all))}
}

func (t *tiny) row(name string, i int) []float64 {
	w := t.shapes[name][len(t.shapes[name])-1]
	return t.all[name][i*w : (i+1)*w]
}

// of computes slowly, in large numbers and written down as the formulas stand in the paper: row by row, nothing joined.
func (t *tiny) of(tokens []int, first bool) []float64 {
	h, each := t.Hidden, t.Hidden/t.Heads
	level := func(x []float64, name string) []float64 {
		var mean, spread float64
		for _, v := range x {
			mean += v / float64(len(x))
		}
		for _, v := range x {
			spread += math.Pow(v-mean, 2) / float64(len(x))
		}
		out := make([]float64, len(x))
		for i, v := range x {
			out[i] = (v-mean)/math.Sqrt(spread+t.Epsilon)*t.all[name+".LayerNorm.weight"][i] + t.all[name+".LayerNorm.bias"][i]
		}
		return out
	}
	dense := func(x []float64, name string) []float64 {
		out := make([]float64, t.shapes[name+".weight"][0])
		for o := range out {
			for i, w := range t.row(name+".weight", o) {
				out[o] += w * x[i]
			}
			out[o] += t.all[name+".bias"][o]
		}
		return out
	}
	sum := func(a, b []float64) []float64 {
		out := make([]float64, len(a))
		for i := range a {
			out[i] = a[i] + b[i]
		}
		return out
	}
	var x [][]float64
	for i, token := range tokens {
		both := sum(t.row("embeddings.position_embeddings.weight", i), t.row("embeddings.token_type_embeddings.weight", 0))
		x = append(x, level(sum(t.row("embeddings.word_embeddings.weight", token), both), "embeddings"))
	}
	for l := range t.Layers {
		at := fmt.Sprintf("encoder.layer.%d.", l)
		var next [][]float64
		for i := range x {
			seen := make([]float64, h)
			for head := range t.Heads {
				var weights []float64
				var total float64
				q := dense(x[i], at+"attention.self.query")
				for j := range x {
					k, score := dense(x[j], at+"attention.self.key"), 0.0
					for n := head * each; n < (head+1)*each; n++ {
						score += q[n] * k[n]
					}
					weights = append(weights, math.Exp(score/math.Sqrt(float64(each))))
					total += weights[j]
				}
				for j := range x {
					v := dense(x[j], at+"attention.self.value")
					for n := head * each; n < (head+1)*each; n++ {
						seen[n] += weights[j] / total * v[n]
					}
				}
			}
			y := level(sum(dense(seen, at+"attention.output.dense"), x[i]), at+"attention.output")
			inner := dense(y, at+"intermediate.dense")
			for n, v := range inner {
				inner[n] = v / 2 * (1 + math.Erf(v/math.Sqrt2))
			}
			next = append(next, level(sum(dense(inner, at+"output.dense"), y), at+"output"))
		}
		x = next
	}
	if first {
		x = x[:1]
	}
	out := make([]float64, h)
	var long float64
	for _, row := range x {
		out = sum(out, row)
	}
	for _, v := range out {
		long += v * v
	}
	for i := range out {
		out[i] /= math.Sqrt(long)
	}
	return out
}

func TestAModelComputesWhatTheFormulasSay(t *testing.T) {
	for seed := range uint64(3) {
		small := newTiny(seed)
		for _, c := range []struct {
			text   string
			tokens []int
		}{
			{"", []int{2, 3}},
			{"Releases are cut on Tuesday.", []int{2, 4, 5, 6, 7, 8, 9, 10, 11, 3}},
			{"the GREEN build", []int{2, 12, 14, 13, 3}},
			{"volcano release", []int{2, 1, 4, 3}},
			{strings.Repeat("cut ", 50), append(append([]int{2}, slices.Repeat([]int{7}, 22)...), 3)}, // more than it has places
		} {
			for _, first := range []bool{false, true} {
				files := small.files("F32", map[bool]string{true: "bert."}[first])
				if first {
					files.Pooling = []byte(`{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}`)
				}
				m, err := Read(files)
				if err != nil {
					t.Fatal(err)
				}
				got, err := m.Of(t.Context(), c.text)
				if err != nil || len(got) != m.Dims() {
					t.Fatal(got, err)
				}
				for i, want := range small.of(c.tokens, first) {
					if math.Abs(float64(got[i])-want) > 1e-5 {
						t.Fatalf("%q, number %d is %g, not %g", c.text, i, got[i], want)
					}
				}
			}
		}
	}
}

func TestNumbersOfSixteenBitsAreRead(t *testing.T) {
	small := newTiny(7)
	m, err := Read(small.files("BF16", ""))
	if err != nil {
		t.Fatal(err)
	}
	for name, all := range small.all { // as they are with 8 bits of fraction
		for i, x := range all {
			small.all[name][i] = float64(math.Float32frombits(math.Float32bits(float32(x)) >> 16 << 16))
		}
	}
	got, err := m.Of(t.Context(), "releases")
	for i, want := range small.of([]int{2, 4, 5, 3}, false) {
		if err != nil || math.Abs(float64(got[i])-want) > 1e-5 {
			t.Fatal(i, got[i], want, err)
		}
	}
	for bits, want := range map[uint16]float32{0: 0, 0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 1: 5.9604645e-08, 0x3555: 0.33325195} {
		if got := half(bits); got != want {
			t.Errorf("%#x is %g, not %g", bits, got, want)
		}
	}
}

// What a file says of itself is not believed.
func TestBrokenModelsAreRefusedWithAReason(t *testing.T) {
	good := newTiny(1)
	for what, change := range map[string]func(*tiny, *Files){
		"another kind of model": func(m *tiny, f *Files) { f.Config = []byte(`{"model_type": "t5"}`) },
		"no JSON":               func(m *tiny, f *Files) { f.Config = []byte(`{`) },
		"as large as the world": func(m *tiny, f *Files) { m.Hidden = 1 << 30; f.Config, _ = json.Marshal(m.config) },
		"more than may be held": func(m *tiny, f *Files) {
			m.Hidden, m.Inner, m.Layers = 1024, 4096, 24
			f.Config, _ = json.Marshal(m.config)
		},
		"heads that do not fit":   func(m *tiny, f *Files) { m.Heads = 5; f.Config, _ = json.Marshal(m.config) },
		"another activation":      func(m *tiny, f *Files) { m.Activation = "relu"; f.Config, _ = json.Marshal(m.config) },
		"relative positions":      func(m *tiny, f *Files) { m.Embedding = "relative_key"; f.Config, _ = json.Marshal(m.config) },
		"other shapes":            func(m *tiny, f *Files) { m.Inner = 24; f.Config, _ = json.Marshal(m.config) },
		"a layer that is missing": func(m *tiny, f *Files) { m.Layers = 4; f.Config, _ = json.Marshal(m.config) },
		"too short a vocabulary":  func(m *tiny, f *Files) { f.Vocab = []byte("[UNK]\n[CLS]\n[SEP]\n") },
		"no beginning":            func(m *tiny, f *Files) { f.Vocab = bytes.ReplaceAll(f.Vocab, []byte("[CLS]"), []byte("[XXX]")) },
		"capitals":                func(m *tiny, f *Files) { f.Vocab = bytes.ReplaceAll(f.Vocab, []byte("green"), []byte("Green")) },
		"no pooling":              func(m *tiny, f *Files) { f.Pooling = []byte(`{"pooling_mode_max_tokens": true}`) },
		"no weights":              func(m *tiny, f *Files) { f.Weights, f.Size = bytes.NewReader(nil), 0 },
		"a header without an end": func(m *tiny, f *Files) {
			f.Weights, f.Size = bytes.NewReader(binary.LittleEndian.AppendUint64(nil, math.MaxUint64)), 8
		},
		"cut off":     func(m *tiny, f *Files) { f.Size /= 2 },
		"other words": func(m *tiny, f *Files) { f.Weights = bytes.NewReader(make([]byte, f.Size)) },
		"no words": func(m *tiny, f *Files) {
			raw := make([]byte, f.Size)
			f.Weights.ReadAt(raw, 0)
			f.Weights = bytes.NewReader(bytes.Replace(raw, []byte("word_embeddings"), []byte("ward_embeddings"), 1))
		},
		"integers": func(m *tiny, f *Files) {
			raw := make([]byte, f.Size)
			f.Weights.ReadAt(raw, 0)
			f.Weights = bytes.NewReader(bytes.ReplaceAll(raw, []byte(`"F32"`), []byte(`"I32"`)))
		},
	} {
		m := *good
		f := m.files("F32", "")
		if _, err := Read(f); err != nil {
			t.Fatal(err)
		}
		change(&m, &f)
		if m, err := Read(f); err == nil || m != nil {
			t.Errorf("%s: it is read, %v", what, err)
		}
	}
	broken := newTiny(2)
	for name := range broken.all {
		broken.all[name][0] = math.NaN()
	}
	m, err := Read(broken.files("F32", ""))
	if err != nil {
		t.Fatal(err)
	}
	if v, err := m.Of(t.Context(), "release"); err == nil {
		t.Errorf("numbers that are none point to %v", v)
	}
}

func FuzzTensors(f *testing.F) {
	good := newTiny(3).files("F32", "")
	raw := make([]byte, good.Size)
	good.Weights.ReadAt(raw, 0)
	f.Add(raw[:5000])
	f.Add([]byte("\x02\x00\x00\x00\x00\x00\x00\x00{}"))
	f.Add([]byte("\x50\x00\x00\x00\x00\x00\x00\x00" +
		`{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}}      1234`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		all, err := readTensors(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			return
		}
		for name, of := range all.all {
			if got, err := all.read(name, of.shape...); err == nil && int64(len(got))*width[of.kind] > int64(len(raw)) {
				t.Fatalf("%d numbers of %d bytes", len(got), len(raw))
			}
		}
	})
}

func BenchmarkTurn(b *testing.B) {
	linear := linear{make([]float32, 384*1536), make([]float32, 1536), 384, 1536}
	in, out := make([]float32, 32*384), make([]float32, 32*1536)
	for b.Loop() {
		linear.turn(out, in, 32)
	}
	b.ReportMetric(float64(2*32*384*1536*b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}
