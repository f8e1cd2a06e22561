package postings

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/internal/db"
	"tandem/internal/memory/text"
	"tandem/internal/testenv"
)

// Texts come and go in places. What a search finds, in which order and with which scores is what weighing each text that is there by
// itself says; of what went no row stays.
func TestWhatIsFoundIsWhatIsThere(t *testing.T) {
	for name, dsn := range map[string]func(testing.TB) string{"postgres": testenv.Postgres,
		"sqlite": func(t testing.TB) string { return filepath.Join(t.TempDir(), "a.db") }} {
		t.Run(name, func(t *testing.T) {
			d, err := db.Open(t.Context(), dsn(t), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			if _, err = d.Migrate(t.Context(), migrations); err != nil {
				t.Fatal(err)
			}
			r := testenv.Random(t)
			vocabulary := strings.Fields("owl barn field night mouse hunting hunts fooBar foo_bar éclair merge queue merging a the x-ray 42 wait")
			there, place := map[int64]string{}, map[int64]int64{}
			sentence := func(most int) string {
				var words []string
				for range r.IntN(most) {
					words = append(words, vocabulary[r.IntN(len(vocabulary))])
				}
				return strings.Join(words, " ")
			}
			for round := range 40 {
				if err := d.Write(t.Context(), func(tx *db.Tx) error {
					for range 5 {
						nr := r.Int64N(60) + 1
						if s, is := there[nr]; is {
							length, err := Drop(tx, "my", "t", place[nr], nr)
							if err != nil || int(length) != len(text.Terms(s)) {
								return fmt.Errorf("%q has %d terms: %w", s, length, err)
							}
							delete(there, nr)
							continue
						}
						there[nr], place[nr] = sentence(80), 1+r.Int64N(3)
						if _, err := Put(tx, "my", "t", place[nr], nr, there[nr]); err != nil {
							return err
						}
						if _, err := Put(tx, "my", "other", place[nr], nr+int64(round)*1000, there[nr]); err != nil {
							return err
						}
					}
					if length, err := Drop(tx, "my", "t", 1, 1000); err != nil || length != 0 {
						return fmt.Errorf("what is not there has %d terms: %w", length, err)
					}
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				for _, q := range []string{sentence(6), "owl", "merg* hunt", `"merge queue" owl`} {
					same(t, d, q, there, place)
				}
			}
			if err := d.Write(t.Context(), func(tx *db.Tx) error {
				for nr := range there {
					if _, err := Drop(tx, "my", "t", place[nr], nr); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			var left int
			if err := d.QueryRow(t.Context(), "SELECT (SELECT count(*) FROM my_posting WHERE tenant = 't') + "+
				"(SELECT count(*) FROM my_words WHERE tenant = 't')").Scan(&left); err != nil || left != 0 {
				t.Errorf("%d rows are left, %v", left, err)
			}
		})
	}
}

// same compares a search of the places 1 and 2 with weighing each text that lies there.
func same(t *testing.T, d *db.DB, question string, there map[int64]string, place map[int64]int64) {
	t.Helper()
	q := text.Read(question)
	s := Search{Of: "my", Tenant: "t", Places: []int64{1, 2}}
	terms, all := map[int64]map[string][]int{}, 0
	for nr, says := range there {
		if place[nr] == 3 {
			continue
		}
		terms[nr] = map[string][]int{}
		for _, w := range text.Terms(says) {
			terms[nr][w.Stem] = append(terms[nr][w.Stem], w.At)
			all++
		}
		s.Corpus.Texts++
	}
	s.Corpus.Length = float64(all) / float64(max(1, s.Corpus.Texts))
	has := map[string]int{}
	for _, of := range terms {
		for stem := range of {
			has[stem]++
		}
	}
	asked := slices.Clone(q.Stems)
	for _, begin := range q.Prefixes {
		for stem := range has {
			if strings.HasPrefix(stem, begin) && !slices.Contains(asked, stem) {
				asked = append(asked, stem)
			}
		}
	}
	want := map[int64]float64{}
	for nr, of := range terms {
		length := len(text.Terms(there[nr]))
		for _, stem := range asked {
			if at := of[stem]; at != nil {
				want[nr] += s.Corpus.Score(s.Corpus.Weight(has[stem]), len(at), length)
			}
		}
		for _, p := range q.Phrases {
			var spots [][]int
			for _, stem := range p {
				spots = append(spots, of[stem])
			}
			if !text.Follow(spots) {
				delete(want, nr)
			}
		}
	}
	err := d.Read(t.Context(), func(tx *db.Tx) error {
		s.Tx = tx
		hits, counts, err := s.Score(q)
		for _, h := range hits {
			if score, ok := want[Nr(h)]; !ok || math.Abs(score-h.Score) > 1e-9 {
				t.Fatalf("%q: %d has %v, and should %v", question, Nr(h), h.Score, score)
			}
		}
		if len(hits) != len(want) || !slices.IsSortedFunc(hits, func(a, b text.Hit) int {
			if a.Score > b.Score || a.Score == b.Score && a.ID < b.ID {
				return -1
			}
			return 1
		}) {
			t.Fatalf("%q finds %d, and should %d, in order: %v", question, len(hits), len(want), hits)
		}
		for stem, n := range counts {
			if n != has[stem] {
				t.Fatalf("%q: %s stands in %d, and is counted in %d", question, stem, has[stem], n)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
