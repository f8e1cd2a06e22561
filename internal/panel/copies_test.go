package panel

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/testenv"
)

// The page says when the last copy was made and when the next one comes; without any it says what to type.
func TestCopiesSayWhenTheLastOneWasMade(t *testing.T) {
	h := startHouse(t)
	b := h.browser(t)
	b.signIn(t)
	if body := b.page(t, "/panel/copies"); !strings.Contains(body, "No copies are made") || !strings.Contains(body,
		"tandem server schedule backup --to") || !strings.Contains(body, "tandem server backup-key ~/copies.identity") {
		t.Errorf("the empty page: %s", refusedWords(body))
	}
	folder := filepath.Join(testenv.Dir(t), "copies")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	h.do(t, "schedule.set", testPIN, map[string]any{"kind": "backup", "when": "every 6h", "path": folder, "unlocked": true, "keep": 3})
	body := b.page(t, "/panel/copies")
	for _, want := range []string{"Copies of everything", "every 6h", "3 copies", "not done yet", "not locked", "tandem server backup",
		"tandem server schedule remove backup"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q: %s", want, refusedWords(body))
		}
	}
	if strings.Contains(body, "No copies are made") {
		t.Error("it still says that no copies are made")
	}
	h.do(t, "schedule.remove", testPIN, map[string]any{"kind": "backup"})
	b.shows(t, "/panel/copies", "No copies are made")
}
