package vector

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

func builtin(t testing.TB) *Table {
	t.Helper()
	b := Builtin()
	if b == nil {
		t.Skip("built without a table")
	}
	return b
}

func TestTheTableIsTheOneThatWasDistilled(t *testing.T) {
	b := builtin(t)
	raw, err := os.ReadFile("static.bin")
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(raw); "minilm-static-"+hex.EncodeToString(sum[:])[:12] != b.Model {
		t.Fatalf("static.bin has the digest %x, and the program says %s", sum, b.Model)
	}
	for _, cut := range []int{0, 7, 19, 20, 1000, len(raw) - 1} {
		if _, err := Read(string(raw[:cut])); err == nil {
			t.Errorf("a table that was cut at %d is read", cut)
		}
	}
}

func TestTextsAreTakenApartAsTheTokenizerDoes(t *testing.T) {
	b := builtin(t)
	raw, err := os.ReadFile("testdata/wordpiece.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Text string
		IDs  []int32
	}
	if err := json.Unmarshal(raw, &all); err != nil || len(all) < 20 {
		t.Fatal(len(all), err)
	}
	for _, c := range all {
		if got := b.Pieces(c.Text); !slices.Equal(got, c.IDs) {
			t.Errorf("%q\n got %v\nwant %v", c.Text, got, c.IDs)
		}
	}
}

// A text of which every word has the same weight points where the text does.
func TestAQuestionOfEvenWeightPointsWhereTheTextDoes(t *testing.T) {
	b := builtin(t)
	for _, s := range []string{"The invoices of März are unqualifiedly overdue, qzxwv", "fooBar foo_bar 中文 naïveté's", "", "of the"} {
		if got, want := b.Question(s, func(string) float64 { return 1 }), b.Of(s); !slices.Equal(got, want) {
			t.Errorf("%q: %v and %v", s, got, want)
		}
	}
}

func TestNearMeaningsAreNear(t *testing.T) {
	b := builtin(t)
	for _, c := range []struct{ like, near, far string }{
		{"the physician treated the patient", "a doctor helped somebody who was ill", "the invoice is paid on Friday"},
		{"delete the directory", "remove a folder", "the cat sleeps"},
		{"deploymentSchedule", "when do we ship the release", "passwords are hashed"},
	} {
		near, far := Likeness(b.Of(c.like), b.Of(c.near)), Likeness(b.Of(c.like), b.Of(c.far))
		if near <= far+0.1 {
			t.Errorf("%q: %.2f to %q, %.2f to %q", c.like, near, c.near, far, c.far)
		}
	}
	if v := b.Of("the of and"); v != nil {
		t.Error("words without meaning have a direction")
	}
	v := b.Of("release day")
	if back := Stored(v.Bytes()); !slices.Equal(v, back) || Stored([]byte("s")) != nil {
		t.Error("a vector is not read as it was stored")
	}
}

func TestTheNearestAreFoundBySigns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func() Vector {
		v := make(Vector, Dims)
		for i := range v {
			v[i] = int8(r.IntN(255) - 127)
		}
		return v
	}
	var x Index
	q := random()
	for nr := range int64(3000) {
		v := random()
		if nr%100 == 0 { // these lie near the question
			for i := range v {
				if r.IntN(4) > 0 {
					v[i] = q[i]
				}
			}
		}
		x.Put(nr%3, nr, v.Sign())
	}
	x.Put(0, 0, q.Sign())
	got := x.Near(q.Sign(), []int64{0, 1, 2}, 30)
	for i, nr := range got {
		if nr != int64(i)*100 {
			t.Fatalf("the nearest are %v", got)
		}
	}
	if got := x.Near(q.Sign(), []int64{1}, 5000); len(got) != 1000 || x.Len() != 3000 {
		t.Errorf("a place of 1000 has %d of %d", len(got), x.Len())
	}
	for _, nr := range x.Near(q.Sign(), []int64{1, 7}, 30) {
		if nr%3 != 1 {
			t.Errorf("%d lies in another place", nr)
		}
	}
}

// A model's vectors have another length than the table's: their signatures must tell near from far as well.
func TestSignaturesOfOtherLengthsTellNearFromFar(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, dims := range []int{2, 12, 384, 768, 1536, 4096} {
		draw := func() []float32 {
			v := make([]float32, dims)
			for i := range v {
				v[i] = float32(r.NormFloat64())
			}
			return v
		}
		var far, near int
		for range 50 {
			a, b := draw(), draw()
			for i := range b {
				b[i] = a[i] + b[i]/3 // some 18 degrees apart
			}
			far += Direction(a).Sign().apart(Direction(draw()).Sign())
			near += Direction(a).Sign().apart(Direction(b).Sign())
		}
		if far < 50*100 || dims > 2 && near > 50*45 || near > far/2 {
			t.Errorf("%d numbers: %d of 256 signs apart when near, %d when far", dims, near/50, far/50)
		}
	}
}

func FuzzPieces(f *testing.F) {
	b := builtin(f)
	f.Add("naïve boardRoom 日本語 \x00\xff ﬁ")
	f.Fuzz(func(t *testing.T, s string) {
		for _, id := range b.Pieces(s) {
			if id < 0 || int(id) >= len(b.Words) {
				t.Fatalf("%d is no piece", id)
			}
		}
		if v := b.Of(s); v != nil && len(v) != Dims {
			t.Fatal(len(v))
		}
	})
}

func BenchmarkOf(b *testing.B) {
	table := builtin(b)
	for b.Loop() {
		table.Of("The release script fails on Tuesdays because the queue of the builder is full and nobody looked at the disk")
	}
}
