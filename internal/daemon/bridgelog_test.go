package daemon

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tandem/internal/logfile"
	"tandem/internal/testenv"
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

// A bridge log that is full goes on in a new file, and after a start behind the
// last line of either.
func TestBridgeLogRotates(t *testing.T) {
	d, _ := walked(t)
	path := filepath.Join(t.TempDir(), "bridge.log")
	line := []byte("{\"seq\":1}\n")
	if err := os.WriteFile(path, bytes.Repeat(line, logfile.Size/len(line)), 0o600); err != nil {
		t.Fatal(err)
	}
	keep := func() (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- d.keepBridgeLog(ctx, path) }()
		return func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	wrote := func(n int) {
		t.Helper()
		var got []byte
		whole := func() bool {
			var err error
			if got, err = os.ReadFile(path); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			return bytes.Count(got, []byte("session.create")) == n && len(got) < 1<<20
		}
		if !testenv.Within(time.Minute, whole) {
			t.Fatalf("%d bytes, not %d lines: %.300s", len(got), n, got)
		}
	}
	create := func() {
		t.Helper()
		if _, err := d.gate.Invoke(owner(t, d), "session.create", nil); err != nil {
			t.Fatal(err)
		}
	}
	stop := keep()
	create()
	wrote(1)
	stop()
	if st, err := os.Stat(path + ".1"); err != nil || st.Size() < logfile.Size-int64(len(line)) {
		t.Fatalf("the full one: %v, %v", st, err)
	}
	if err := os.Remove(path); err != nil { // as if it had become full at the very end
		t.Fatal(err)
	}
	stop = keep()
	defer stop()
	wrote(1) // it is behind the full one's last line
	create()
	wrote(2)
}
