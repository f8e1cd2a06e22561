package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestBridgeLogGoesOnBehindItsLastWholeLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bridge.log")
	if _, _, err := lastLine(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	for text, want := range map[string]struct {
		seq  int64
		torn bool
		gone bool
	}{
		"":                               {0, false, true},
		"{\"seq\":4}\n":                  {4, false, false},
		"{\"seq\":4}\n{\"seq\":9}\n":     {9, false, false},
		"{\"seq\":4}\n{\"seq\":9":        {4, true, false},
		"{\"seq\":4}\n{\"seq\":9\nnot\n": {4, false, false},
		"rubbish":                        {0, true, true},
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if seq, torn, err := lastLine(path); seq != want.seq || torn != want.torn || errors.Is(err, os.ErrNotExist) != want.gone {
			t.Errorf("%q: %d %v %v", text, seq, torn, err)
		}
	}
}
