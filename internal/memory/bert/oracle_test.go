//go:build oracle

package bert

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Run by scripts/check-embeddings, which has another implementation compute the same.
func TestARealModelSaysWhatAnotherImplementationSays(t *testing.T) {
	dir := os.Getenv("MODEL")
	raw, err := os.ReadFile(os.Getenv("ORACLE"))
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Text   string
		Vector []float64
	}
	if err := json.Unmarshal(raw, &all); err != nil || len(all) < 50 {
		t.Fatal(len(all), err)
	}
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	weights, err := os.Open(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer weights.Close()
	at, err := weights.Stat()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	m, err := Read(Files{Config: read("config.json"), Vocab: read("vocab.txt"), Pooling: read("1_Pooling/config.json"), Weights: weights,
		Size: at.Size()})
	if err != nil {
		t.Fatal(err)
	}
	loaded := time.Since(began)
	least, sum, pieces := 1.0, 0.0, 0
	began = time.Now()
	for _, c := range all {
		pieces += len(m.tokens(c.Text))
		got, err := m.Of(t.Context(), c.Text)
		if err != nil {
			t.Fatal(err)
		}
		var same, long float64
		for i, x := range got {
			same += float64(x) * c.Vector[i]
			long += c.Vector[i] * c.Vector[i]
		}
		same /= math.Sqrt(long)
		least, sum = min(least, same), sum+same
		if same < .999 {
			t.Errorf("%.60q: cosine %.5f", c.Text, same)
		}
	}
	took := time.Since(began)
	t.Logf("%d texts: cosine %.7f on average, %.7f at least; loaded in %v; %d pieces in %v, %.2f ms each", len(all), sum/float64(len(all)),
		least, loaded, pieces, took, took.Seconds()*1000/float64(pieces))
}
