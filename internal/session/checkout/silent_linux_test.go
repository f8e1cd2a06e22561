package checkout_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tandem/internal/fault"
)

// A git that something ended said nothing about the repository, whichever of its commands that was.
func TestAGitThatWasEndedSaidNothing(t *testing.T) {
	p := newPlace(t)
	for _, c := range []string{"*config*", "*rev-parse*"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\ncase \"$*\" in\n"+c+") kill -9 $$ ;;\nesac\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
		if at, err := p.tools.At(t.Context(), p.repo, "refs/heads/main"); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: %q, %v", c, at, err)
		}
	}
}

// Whoever gave up is told so, and hears no empty answer.
func TestWhoGaveUpHearsNoAnswer(t *testing.T) {
	p := newPlace(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if at, err := p.tools.At(ctx, p.repo, "refs/heads/main"); !errors.Is(err, context.Canceled) {
		t.Errorf("%q, %v", at, err)
	}
}
