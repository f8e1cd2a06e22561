package postings

import (
	"fmt"
	"path/filepath"
	"testing"
	"testing/fstest"

	"tandem/internal/db"
	"tandem/internal/memory/text"
)

// migrations are the tables of a room called my.
var migrations = db.Migrations{Room: "my", FS: fstest.MapFS{"schema/0001_my.sql": {Data: []byte(`
CREATE TABLE my_posting (tenant TEXT, term BLOB, place BIGINT, nr BIGINT, often BIGINT, length BIGINT, spots TEXT,
	PRIMARY KEY (tenant, term, place, nr)) WITHOUT ROWID;
CREATE TABLE my_words (tenant TEXT, nr BIGINT, length BIGINT, words TEXT, PRIMARY KEY (tenant, nr)) WITHOUT ROWID;
`)}}}

// A search reads a bounded number of postings, however many texts have its words: of a common word the newest, of a rare one all, and of a
// phrase what says whether it stands there.
func TestASearchReadsABoundedNumberOfRows(t *testing.T) {
	most := maxPostings
	maxPostings = 50
	t.Cleanup(func() { maxPostings = most })
	d, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Migrate(t.Context(), migrations); err != nil {
		t.Fatal(err)
	}
	const texts = 300
	s := Search{Of: "my", Tenant: "t", Places: []int64{1}, Corpus: text.Corpus{Texts: texts, Length: 3}}
	err = d.Write(t.Context(), func(tx *db.Tx) error {
		var err error
		for nr := int64(1); err == nil && nr <= texts; nr++ {
			rare := ""
			if nr == 3 {
				rare = " barn"
			}
			_, err = Put(tx, "my", "t", 1, nr, fmt.Sprintf("owl number %d%s", nr, rare))
		}
		for nr := int64(0); err == nil && nr < texts; nr++ { // two in another place, many in a third one
			place, from := int64(3), int64(2*texts)
			if nr < 2 {
				place, from = 2, texts+1
			}
			_, err = Put(tx, "my", "t", place, from+nr, "owl")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = d.Read(t.Context(), func(tx *db.Tx) error {
		s.Tx = tx
		common, counts, err := s.Score(text.Read("owl"))
		if err != nil {
			return err
		}
		if len(common) != maxPostings || counts["owl"] != maxPostings+1 {
			t.Errorf("%d texts are weighed, %d counted", len(common), counts["owl"])
		}
		for _, h := range common {
			if Nr(h) <= texts-int64(maxPostings) {
				t.Errorf("%d is none of the newest", Nr(h))
			}
		}
		// Of several places each is heard, whatever the last one has.
		wide := s
		wide.Places = []int64{1, 2, 3}
		common, _, err = wide.Score(text.Read("owl"))
		if err != nil {
			return err
		}
		of := map[int64]int{}
		for _, h := range common {
			of[min((Nr(h)-1)/texts, 2)]++
		}
		if len(common) != maxPostings || of[0] < maxPostings/3 || of[1] != 2 || of[2] < maxPostings/3 {
			t.Errorf("of %d texts that are weighed so many lie in each place: %v", len(common), of)
		}
		if found, _, err := s.Score(text.Read("owl barn")); err != nil || len(found) != 1 || Nr(found[0]) != 3 {
			t.Errorf("of a rare word %v, %v", found, err)
		}
		phrase, _, err := s.Score(text.Read(`"owl number 7"`))
		if len(phrase) != 1 || Nr(phrase[0]) != 7 {
			t.Errorf("of a phrase %v", phrase)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
