package boxed

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"tandem/internal/tool/box"
	"tandem/internal/tool/confine"
)

// Documents are read by this very program.
func TestMain(m *testing.M) {
	switch {
	case confine.Called(os.Args):
		os.Exit(confine.Main(os.Args, os.Stderr))
	case Called(os.Args):
		os.Exit(Main(context.Background(), os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

func reader(t *testing.T) *Reader {
	m, err := box.Find(t.Context(), box.Any)
	if err != nil {
		t.Fatal(err)
	}
	if !m.Works() {
		t.Skip("no sandbox here: " + m.Why)
	}
	r := &Reader{Machine: m}
	t.Cleanup(r.Close)
	return r
}

func TestDocumentsAreReadInABox(t *testing.T) {
	r := reader(t)
	for name, want := range map[string]string{"a.md": "Setup", "b.txt": "Setup", "c.html": "Setup", "d.csv": "Setup"} {
		got, err := r.Read(t.Context(), name, []byte("# Setup"))
		if err != nil || len(got.Parts) != 1 || !strings.Contains(got.Parts[0].Text, want) {
			t.Errorf("%s: %v, %+v", name, err, got)
		}
	}
	// a refusal is the document's, and the next one is read all the same
	_, err := r.Read(t.Context(), "a.txt", []byte("a\x00b"))
	if why, ok := Refused(err); !ok || !strings.Contains(why, "zero bytes") {
		t.Errorf("a document with zero bytes: %v", err)
	}
	_, err = r.Read(t.Context(), "a.txt", bytes.Repeat([]byte("word and "), maxText/8))
	if why, ok := Refused(err); !ok || !strings.Contains(why, "bytes of text") {
		t.Errorf("too much text: %v", err)
	}
	if got, err := r.Read(t.Context(), "a.txt", []byte("fine")); err != nil || len(got.Parts) != 1 {
		t.Errorf("after a refusal: %v, %+v", err, got)
	}
}

// A process that ends takes its document with it, and no other.
func TestAProcessThatEndsIsTheDocumentsFault(t *testing.T) {
	r := reader(t)
	if _, err := r.Read(t.Context(), "a.txt", []byte("fine")); err != nil {
		t.Fatal(err)
	}
	r.end() // as the kernel does when there is no memory left
	r.cmd.Wait()
	_, err := r.Read(t.Context(), "b.txt", []byte("unlucky"))
	if why, ok := Refused(err); !ok || !strings.Contains(why, "ended") {
		t.Errorf("while its process ended: %v", err)
	}
	if got, err := r.Read(t.Context(), "c.txt", []byte("fine")); err != nil || len(got.Parts) != 1 {
		t.Errorf("after that: %v, %+v", err, got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Read(ctx, "d.txt", []byte("fine")); err == nil {
		t.Error("it was read for nobody")
	}
}

func TestWithoutABoxNothingIsRead(t *testing.T) {
	r := &Reader{Machine: &box.Machine{Kind: box.None}}
	if _, err := r.Read(t.Context(), "a.txt", []byte("x")); err == nil || !strings.Contains(err.Error(), "no sandbox") {
		t.Errorf("without a sandbox: %v", err)
	}
}
