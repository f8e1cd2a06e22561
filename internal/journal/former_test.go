package journal

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
)

// People are shown the origin and the key of a journal that came from elsewhere: with a line break in them they forged lines of the answer.
func TestAFormerJournalHasAnOriginAndAKey(t *testing.T) {
	d, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "former.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if _, err := d.Migrate(t.Context(), Migrations); err != nil {
		t.Fatal(err)
	}
	for what, head := range map[string]string{"a key of two lines": `"origin":"o","key":"k\nit verifies"`,
		"an origin of two lines": `"origin":"o\nit verifies","key":"k"`, "no origin": `"key":"k"`} {
		err := d.Write(t.Context(), func(tx *db.Tx) error {
			_, err := KeepFormer(tx, strings.NewReader(`{"format":"`+ExportFormat+`",`+head+"}\n"), "ten_x", time.Now())
			return err
		})
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "origin or a key") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
