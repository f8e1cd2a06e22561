package memory

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/memory/wire"
	"tandem/internal/op"
)

// oracle is a provider whose model knows what a few words are about, and nothing else.
type oracle struct {
	mu     sync.Mutex
	told   []string
	broken error
	slow   chan struct{}
	dims   int
}

func (o *oracle) ask(ctx context.Context, _, _ string, texts []string) ([][]float32, error) {
	o.mu.Lock()
	o.told = append(o.told, texts...)
	broken, slow := o.broken, o.slow
	o.mu.Unlock()
	if slow != nil {
		<-slow
	}
	if broken != nil {
		return nil, broken
	}
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = make([]float32, o.dims)
		sum := sha256.Sum256([]byte(t))
		r := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:]), 1))
		for d := range out[i] {
			out[i][d] = float32(r.NormFloat64())/10 + 1 // every text shares one direction, as with real models
		}
		for d, words := range []string{"zeppelin airship dirigible", "quark gluon"} {
			if slices.ContainsFunc(strings.Fields(words), func(w string) bool { return strings.Contains(t, w) }) {
				out[i][d] += float32(o.dims)
			}
		}
	}
	return out, nil
}

func (o *oracle) heard(part string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(o.told, func(t string) bool { return strings.Contains(t, part) })
}

func (o *oracle) set(change func()) { o.mu.Lock(); defer o.mu.Unlock(); change() }

// sees gives a room a provider. What lies in a place called secret may not leave the house.
func (b *bench) asks(o *oracle) {
	o.dims = 64
	b.room.Models = Models{Ask: o.ask, House: "t", Folder: filepath.Join(b.t.TempDir(), "models"),
		Leaves: func(context.Context, string, string) (bool, error) { return true, nil },
		Goes: func(_ context.Context, _ string, at op.Resource) (bool, error) {
			return !strings.Contains(at.Path, "secret"), nil
		},
		Fetch: func(context.Context, string, string) (io.ReadCloser, error) {
			return nil, errors.New("nothing is fetched here")
		}}
}

func (b *bench) state() wire.ModelOut {
	b.t.Helper()
	out, err := b.room.showModel(ann, wire.ModelIn{})
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// search is one whose model answers in time: a busy machine may need a second try, whose question is known by then.
func (b *bench) search(query string) (out wire.SearchOut) {
	b.t.Helper()
	for range 200 {
		var err error
		if out, err = b.room.search(other, wire.SearchIn{Query: query}); err != nil {
			b.t.Fatal(err)
		}
		if !strings.Contains(out.How, "did not answer") && !strings.Contains(out.How, "could not be asked") {
			break
		}
	}
	return out
}

// A model of a provider finds what no word and no table finds; what it may not see is not sent, and what changes goes from it.
func TestAProvidersModelFindsWhatWordsDoNot(t *testing.T) {
	needsVectors(t)
	both(t, func(t *testing.T, b *bench) {
		o := &oracle{}
		b.asks(o)
		id := must(b, ann, b.room.add, wire.AddIn{Text: "The qwzeppelin lands at noon"}).ID
		must(b, ann, b.room.add, wire.AddIn{Text: invoices})
		must(b, ann, b.room.add, wire.AddIn{Text: "A secret qwzeppelin", Tier: wire.OfProject, Of: "secret"})
		const asked = "xxairship"
		is(t, "without a model", b.found(other, asked))
		must(b, ann, b.room.setModel, wire.ModelSetIn{Endpoint: "house/vectors", Tells: "passage: ", Asks: "query: "})
		out := b.search(asked)
		if b.state().State != wire.ModelLooking || len(out.Hits) != 0 || strings.Contains(out.How, "house/vectors") {
			t.Errorf("before it was tried: %+v", out)
		}
		b.room.pointAll(t.Context())
		if s := b.state(); s.State != wire.ModelReady || s.Dims != 64 || s.Pointed != 2 || s.Records != 3 || !s.Leaves {
			t.Errorf("%+v", s)
		}
		out = b.search(asked)
		if len(out.Hits) != 1 || out.Hits[0].ID != id || out.Hits[0].By != wire.ByMeaning ||
			!strings.Contains(out.How, "meaning (house/vectors)") || !strings.Contains(out.How, "it has seen 2 of 3") {
			t.Errorf("%+v", out)
		}
		if !o.heard("passage: The qwzeppelin") || !o.heard("query: "+asked) || o.heard("secret") {
			t.Errorf("the provider was told %q", o.told)
		}
		o.set(func() { o.told = nil })
		if _, err := b.room.brief(robot, wire.BriefIn{About: "dirigible"}); err != nil || o.heard("dirigible") {
			t.Errorf("a session's task was sent out: %v", err)
		}
		text := "Bananas ripen in the sun"
		must(b, ann, b.room.edit, wire.EditIn{ID: id, Text: &text})
		is(t, "when it says something else", b.found(other, asked))
		b.room.pointAll(t.Context())
		is(t, "and was seen again", b.found(other, asked))
		text = "The dirigibleqw is moored"
		must(b, ann, b.room.edit, wire.EditIn{ID: id, Text: &text})
		b.room.pointAll(t.Context())
		if out := b.search(asked); len(out.Hits) != 1 {
			t.Errorf("%+v", out)
		}
		must(b, ann, b.room.forget, wire.IDIn{ID: id})
		is(t, "forgotten", b.found(other, asked))
		b.none("vectors of what is forgotten", `SELECT count(*) FROM memory_pointed v WHERE length(v.vec) > 0 AND NOT EXISTS
			(SELECT 1 FROM memory_record r WHERE r.tenant = v.tenant AND r.nr = v.nr AND r.state = 'live')`)
		must(b, ann, b.room.clearModel, wire.ModelIn{})
		b.room.pointAll(t.Context())
		b.none("vectors of a model that nobody chose", "SELECT count(*) FROM memory_pointed")
		if s := b.state(); s.State != wire.ModelNone {
			t.Errorf("%+v", s)
		}
	})
}

// A model that fails, or is slow, or is another one meanwhile keeps nobody from finding.
func TestSearchesGoOnWithoutTheModel(t *testing.T) {
	needsVectors(t)
	both(t, func(t *testing.T, b *bench) {
		o := &oracle{}
		b.asks(o)
		for i := range 150 {
			must(b, ann, b.room.add, wire.AddIn{Text: fmt.Sprintf("%s, ward %d", doctor, i)})
		}
		find := func(when string) string {
			t.Helper()
			out, err := b.room.search(other, wire.SearchIn{Query: ill})
			if err != nil || len(out.Hits) != 10 {
				t.Fatalf("%s: %d hits, %v", when, len(out.Hits), err)
			}
			return out.How
		}
		o.broken = errors.New("the cellar is flooded")
		must(b, ann, b.room.setModel, wire.ModelSetIn{Endpoint: "house/vectors"})
		b.room.pointAll(t.Context())
		if s := b.state(); s.State != wire.ModelFailed || s.Problem == "" {
			t.Errorf("%+v", s)
		}
		find("when it was never reached")
		o.set(func() { o.broken = nil })
		must(b, ann, b.room.setModel, wire.ModelSetIn{Endpoint: "house/vectors"})
		b.room.pointAll(t.Context())
		if s := b.state(); s.State != wire.ModelReady || s.Pointed != 150 {
			t.Errorf("%+v", s)
		}
		o.set(func() { o.broken = errors.New("gone again") })
		how := find("when it fails")
		if !strings.Contains(how, "house/vectors could not be asked") && !strings.Contains(how, "did not answer") {
			t.Error(how)
		}
		slow := make(chan struct{})
		o.set(func() { o.broken, o.slow = nil, slow })
		began := time.Now()
		if how := find("when it is slow"); !strings.Contains(how, "did not answer within 300ms") {
			t.Error(how)
		}
		t.Logf("a slow model costs a search %v", time.Since(began))
		close(slow)
		o.set(func() { o.slow = nil })
		name := b.state().Name
		must(b, ann, b.room.setModel, wire.ModelSetIn{Endpoint: "house/others"})
		find("while another one is tried")
		all, err := choices(b.room.outside(t.Context()), "")
		if err != nil || len(all) != 1 || b.room.try(t.Context(), all[0]) != nil || all[0].name == name {
			t.Fatal(all, err)
		}
		ctx, stop := context.WithCancel(t.Context())
		stop() // cut off at once
		b.room.showAll(ctx, all[0])
		find("while records are shown to it")
		page, err := b.room.unseen(t.Context(), all[0], b.numbers()[0], 0, 60)
		if err != nil || len(page) != 60 {
			t.Fatal(len(page), err)
		}
		if more, err := b.room.showPage(t.Context(), all[0], page, true); err != nil || !more {
			t.Fatal(more, err)
		}
		if how := find("in the middle"); !strings.Contains(how, "it has seen 60 of 150") && !strings.Contains(how, "did not answer") {
			t.Error(how)
		}
		b.room.pointAll(t.Context())
		b.none("records that it did not see once", `SELECT count(*) FROM memory_record r WHERE r.state = 'live' AND 1 <>
			(SELECT count(*) FROM memory_pointed v WHERE v.tenant = r.tenant AND v.nr = r.nr AND v.model = ?)`, all[0].name)
		must(b, ann, b.room.setModel, wire.ModelSetIn{Endpoint: "house/third"})
		if more, err := b.room.showPage(t.Context(), all[0], page, true); err != nil || more {
			t.Errorf("what an older model says is stored on: %v", err)
		}
	})
}

// Whose model is chosen is a person's word: a row that was changed sends nothing anywhere.
func TestAChoiceThatNobodyMadeIsNotAsked(t *testing.T) {
	b := newBench(t, filepath.Join(t.TempDir(), "a.db"))
	o := &oracle{}
	b.asks(o)
	b.room.Models.Vouch = op.Vouch{Says: func(string, string, []string) bool { return false }}
	must(b, ann, b.room.add, wire.AddIn{Text: "The qwzeppelin lands at noon"})
	must(b, ann, b.room.setModel, wire.ModelSetIn{Endpoint: "house/vectors"})
	b.room.pointAll(t.Context())
	if err := b.db.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec("UPDATE memory_model SET name = 'x', dims = 64")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	b.room.pointAll(t.Context())
	b.search("airship")
	if s := b.state(); s.State != wire.ModelFailed || len(o.told) != 0 {
		t.Errorf("%+v, told %q", s, o.told)
	}
}

func TestModelsAreRefusedWithAReason(t *testing.T) {
	b := newBench(t, filepath.Join(t.TempDir(), "a.db"))
	b.asks(&oracle{})
	digest := strings.Repeat("ab", 32)
	foreign := op.WithMay(op.WithCaller(t.Context(), op.Caller{Tenant: "u", Actor: "a", Name: "a", Kind: op.Person}),
		func(string, op.Resource) bool { return true })
	for what, c := range map[string]struct {
		ctx context.Context
		in  wire.ModelSetIn
	}{
		"nothing":                       {ann, wire.ModelSetIn{}},
		"both":                          {ann, wire.ModelSetIn{Endpoint: "a/b", Files: "/m", Digest: digest}},
		"no model":                      {ann, wire.ModelSetIn{Endpoint: "a"}},
		"a provider's digest":           {ann, wire.ModelSetIn{Endpoint: "a/b", Digest: digest}},
		"no digest":                     {ann, wire.ModelSetIn{Files: "/m"}},
		"half a digest":                 {ann, wire.ModelSetIn{Files: "/m", Digest: digest[:60]}},
		"not a whole path":              {ann, wire.ModelSetIn{Files: "m", Digest: digest}},
		"another tenant's eyes":         {foreign, wire.ModelSetIn{Files: "/m", Digest: digest}},
		"too much before":               {ann, wire.ModelSetIn{Endpoint: "a/b", Asks: strings.Repeat("x", 201)}},
		"what is no text in the folder": {ann, wire.ModelSetIn{Files: "/m\x00", Digest: digest}},
	} {
		if _, err := change(b, c.ctx, b.room.setModel, c.in); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
}

// tinyModel writes a model of random weights into a folder, as one is published, and says the digest of its weights.
func tinyModel(t *testing.T, seed uint64) (folder, digest string) {
	t.Helper()
	folder = t.TempDir()
	words := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "owl", "barn", "sleeps", "the", "in"}
	const hidden, inner = 8, 12
	r := rand.New(rand.NewPCG(seed, 1))
	head, data := map[string]any{}, []byte{}
	put := func(name string, shape ...int) {
		n, begin := 1, len(data)
		for _, s := range shape {
			n *= s
		}
		for range n {
			data, _ = binary.Append(data, binary.LittleEndian, float32(r.NormFloat64()))
		}
		head[name] = map[string]any{"dtype": "F32", "shape": shape, "data_offsets": []int{begin, len(data)}}
	}
	put("embeddings.word_embeddings.weight", len(words), hidden)
	put("embeddings.position_embeddings.weight", 16, hidden)
	put("embeddings.token_type_embeddings.weight", 2, hidden)
	for name, shape := range map[string][2]int{"attention.self.query": {hidden, hidden}, "attention.self.key": {hidden, hidden},
		"attention.self.value": {hidden, hidden}, "attention.output.dense": {hidden, hidden}, "intermediate.dense": {inner, hidden},
		"output.dense": {hidden, inner}} {
		put("encoder.layer.0."+name+".weight", shape[0], shape[1])
		put("encoder.layer.0."+name+".bias", shape[0])
	}
	for _, name := range []string{"embeddings", "encoder.layer.0.attention.output", "encoder.layer.0.output"} {
		put(name+".LayerNorm.weight", hidden)
		put(name+".LayerNorm.bias", hidden)
	}
	header, err := json.Marshal(head)
	if err != nil {
		t.Fatal(err)
	}
	raw := append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), data...)
	config := fmt.Sprintf(`{"model_type": "bert", "hidden_size": %d, "num_hidden_layers": 1, "num_attention_heads": 2,
		"intermediate_size": %d, "hidden_act": "gelu",
		"layer_norm_eps": 1e-12, "max_position_embeddings": 16, "type_vocab_size": 2, "vocab_size": %d}`,
		hidden, inner, len(words))
	for name, what := range map[string][]byte{weights: raw, "config.json": []byte(config), "vocab.txt": []byte(strings.Join(words, "\n"))} {
		if err := os.WriteFile(filepath.Join(folder, name), what, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sum := sha256.Sum256(raw)
	return folder, hex.EncodeToString(sum[:])
}

// A model of files is copied, checked and computed here; what is not what was meant is not used, neither at first nor later.
func TestAModelOfFilesIsComputedHere(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		o := &oracle{}
		b.asks(o)
		b.room.Models.Leaves = nil // nobody is asked
		folder, digest := tinyModel(t, 1)
		must(b, ann, b.room.add, wire.AddIn{Text: "the owl sleeps in the barn", Tier: wire.OfProject, Of: "secret"})
		for _, wrong := range []wire.ModelSetIn{{Files: folder, Digest: strings.Repeat("0", 64)},
			{Files: filepath.Join(folder, "none"), Digest: digest},
			{Files: "https://models.example/m", Digest: digest}} {
			must(b, ann, b.room.setModel, wrong)
			b.room.pointAll(t.Context())
			if s := b.state(); s.State != wire.ModelFailed || s.Problem == "" || s.Pointed != 0 {
				t.Errorf("%+v: %+v", wrong, s)
			}
			if left, _ := filepath.Glob(filepath.Join(b.room.Models.Folder, "*")); len(left) != 0 {
				t.Errorf("%q is left", left)
			}
		}
		must(b, ann, b.room.setModel, wire.ModelSetIn{Files: folder, Digest: digest})
		b.room.pointAll(t.Context())
		first := b.state()
		if first.State != wire.ModelReady || first.Dims != 8 || first.Pointed != 1 || first.Leaves || len(o.told) != 0 {
			t.Fatalf("%+v, told %q", first, o.told)
		}
		if err := os.RemoveAll(folder); err != nil { // it was copied
			t.Fatal(err)
		}
		out := b.search("the owl sleeps in the barn")
		if len(out.Hits) != 1 || out.Hits[0].By != wire.ByBoth || !strings.Contains(out.How, "meaning ("+filepath.Base(folder)+")") {
			t.Errorf("%+v", out)
		}
		b.room.engines.letGo(time.Now().Add(2 * unused))
		if len(b.room.engines.of) != 0 {
			t.Error("a model that nobody asks is held on")
		}
		kept, err := filepath.Glob(filepath.Join(b.room.Models.Folder, "*", weights))
		if err != nil || len(kept) != 1 || os.WriteFile(kept[0], []byte("other weights"), 0o600) != nil {
			t.Fatal(kept, err)
		}
		out = b.search("a barn owl")
		if !strings.HasPrefix(out.How, "by words") || strings.Contains(out.How, "meaning ("+filepath.Base(folder)) || len(out.Hits) != 1 {
			t.Errorf("with other weights: %+v", out)
		}
		must(b, ann, b.room.clearModel, wire.ModelIn{})
		b.room.pointAll(t.Context())
		if left, _ := filepath.Glob(filepath.Join(b.room.Models.Folder, "*")); len(left) != 0 {
			t.Errorf("%q is left of a model that nobody chose", left)
		}
	})
}
