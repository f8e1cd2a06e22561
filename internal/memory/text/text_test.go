package text

import (
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	_ "modernc.org/sqlite"
)

func stems(s string) string {
	var out []string
	for _, t := range Terms(s) {
		out = append(out, fmt.Sprintf("%s@%d", t.Stem, t.At))
	}
	return strings.Join(out, " ")
}

func TestTerms(t *testing.T) {
	for in, want := range map[string]string{
		"The boards were merged":        "board@1 merg@3",
		"boardRoom":                     "board@0 room@1 boardroom@0",
		"board_room":                    "board@0 room@1 boardroom@0",
		"HTTPServer":                    "http@0 server@1 httpserver@0",
		"internal/board/task.go:12":     "intern@0 board@1 task@2 go@3 12@4",
		"it's Müller's naïve straße":    "muller@1 naiv@2 strass@3",
		"nai\u0308ve":                   "naiv@0",
		"e-mail":                        "e@0 mail@1 email@0",
		"-- x - y --":                   "x@0 y@1",
		"日本語 текст":                     "日本語@0 текст@1",
		"not safe":                      "not@0 safe@1",
		strings.Repeat("f", 65) + " ok": "ok@1",
		"":                              "",
	} {
		if got := stems(in); got != want {
			t.Errorf("%.40q: %s, want %s", in, got, want)
		}
	}
}

// SQLite's own tokenizer has Porter's rules, too: stems are compared with those it stores.
func TestStemIsPorters(t *testing.T) {
	d, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	d.SetMaxOpenConns(1)
	t.Cleanup(func() { d.Close() })
	for _, q := range []string{"CREATE VIRTUAL TABLE f USING fts5(x, tokenize = 'porter ascii')",
		"CREATE VIRTUAL TABLE v USING fts5vocab(f, 'row')"} {
		if _, err := d.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	tx, err := d.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing is kept
	for range 1000 {
		word := randomWord(r)
		if _, err := tx.Exec("INSERT INTO f(x) VALUES (?)", word); err != nil {
			t.Fatal(err)
		}
		var want string
		if err := tx.QueryRow("SELECT term FROM v").Scan(&want); err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec("DELETE FROM f"); err != nil {
			t.Fatal(err)
		}
		if got := Stem(word); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
}

// randomWord has syllables and an ending that a rule is about.
func randomWord(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(3) {
		b.WriteByte("bcdfghjklmnpqrstvwxz"[r.IntN(20)])
		b.WriteByte("aeiouy"[r.IntN(6)])
		if r.IntN(2) == 0 {
			b.WriteByte("bcdlmnrstz"[r.IntN(10)])
		}
	}
	ends := []string{"", "s", "es", "ies", "sses", "ed", "eed", "ing", "y", "e", "ll", "ion", "sion", "tion"}
	for _, e := range slices.Concat(doubles, singles) {
		ends = append(ends, e.from)
	}
	ends = append(ends, dropped...)
	return b.String() + ends[r.IntN(len(ends))]
}

func TestRead(t *testing.T) {
	q := Read(`the "merge queue" for auth* fooBar the merging`)
	if fmt.Sprint(q.Stems) != "[merg queue foo bar foobar]" || fmt.Sprint(q.Phrases) != "[[merg queue]]" ||
		fmt.Sprint(q.Prefixes) != "[auth]" {
		t.Errorf("%+v", q)
	}
	if q := Read("to be or not to be"); fmt.Sprint(q.Stems) != "[not]" {
		t.Errorf("%+v", q)
	}
	if q := Read("who are you"); fmt.Sprint(q.Stems) != "[who ar you]" {
		t.Errorf("nothing but words without meaning: %+v", q)
	}
	vast := Read(strings.Repeat(`x1 y2* "a3 b4" `, 100) + strings.Join(strings.Split(strings.Repeat("q", 300), ""), "1 "))
	if len(vast.Stems) > maxQuery || len(vast.Phrases) > maxPhrases || len(vast.Prefixes) > maxPrefixes {
		t.Errorf("%d stems, %d phrases, %d prefixes", len(vast.Stems), len(vast.Phrases), len(vast.Prefixes))
	}
}

func TestFollow(t *testing.T) {
	for _, c := range []struct {
		places [][]int
		want   bool
	}{
		{[][]int{{1, 9}, {10}}, true}, {[][]int{{1}, {3}}, true}, {[][]int{{1}, {4}}, false}, {[][]int{{5}, {4}}, false},
		{[][]int{{1, 5}, {2, 7}, {9}}, true}, {nil, false}, {[][]int{{1}, nil}, false},
	} {
		if got := Follow(c.places); got != c.want {
			t.Errorf("%v: %v", c.places, got)
		}
	}
}

func TestScores(t *testing.T) {
	c := Corpus{Texts: 1000, Length: 20}
	if rare, common := c.Weight(2), c.Weight(900); rare < 10*common || common <= 0 {
		t.Errorf("a rare term weighs %v, a common one %v", rare, common)
	}
	w := c.Weight(10)
	if c.Score(w, 2, 20) <= c.Score(w, 1, 20) || c.Score(w, 1, 10) <= c.Score(w, 1, 100) || c.Score(w, 1000, 20) > w*(k1+1) {
		t.Error("more often, shorter, and bounded")
	}
	if s := (Corpus{}).Score(1, 1, 5); math.IsNaN(s) || math.IsInf(s, 0) {
		t.Errorf("an empty corpus: %v", s)
	}
}

func TestNeighboursAndFusion(t *testing.T) {
	beside := func(id string, steps int) []string {
		return map[string][][]string{"d1": {{"d0", "d2"}, {"d3"}}, "e5": {{"e4", "e6"}, {}}}[id][steps-1]
	}
	if got := fmt.Sprint(Lend([]Hit{{"d1", 4}, {"e5", 3}}, beside)); got != "[{d1 4} {e5 3} {d0 2} {d2 2} {e4 1.5} {e6 1.5} {d3 1}]" {
		t.Error(got)
	}
	joined := Fuse([]Hit{{"a", 9}, {"b", 8}, {"c", 7}}, []Hit{{"c", .9}, {"b", .8}})
	if ids := fmt.Sprint(joined[0].ID, joined[1].ID, joined[2].ID); ids != "cba" {
		t.Error(ids)
	}
}

func FuzzTerms(f *testing.F) {
	for _, s := range []string{"fooBar_baz-qux's", "\xff\xfe", "ﬁ İ ẞ", "a’b", strings.Repeat("é", 100)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, term := range Terms(s) {
			if term.Stem == "" || len(term.Stem) > maxTerm || utf8.ValidString(s) && !utf8.ValidString(term.Stem) {
				t.Errorf("%q has the term %q", s, term.Stem)
			}
			if term.At < 0 || term.At > len(s) {
				t.Errorf("%q has %q at %d", s, term.Stem, term.At)
			}
		}
		Read(s)
	})
}
