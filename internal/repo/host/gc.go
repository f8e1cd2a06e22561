package host

import (
	"bytes"
	"context"
	"strings"
	"time"

	"tandem/internal/fault"
)

// GCIn asks that what nothing names is removed.
type GCIn struct {
	Repo      string `json:"repo" jsonschema:"the repository, by name or id"`
	OlderThan int64  `json:"older_than_secs,omitempty" jsonschema:"how old something must be to be removed, in seconds; two weeks when left out, an hour at least"`
}

// GCOut is the repository's size before and after.
type GCOut struct {
	Before Size `json:"before"`
	After  Size `json:"after"`
}

// Size is how much a repository holds.
type Size struct {
	Operations int   `json:"operations"`
	Objects    int   `json:"objects"`
	Bytes      int64 `json:"bytes"`
}

const (
	gcAge    = 14 * 24 * time.Hour
	gcAgeMin = time.Hour
)

// Check refuses ages at which a push on its way could lose something.
func (in GCIn) Check() error {
	if in.OlderThan != 0 && (in.OlderThan < int64(gcAgeMin/time.Second) || in.OlderThan > 1<<31) {
		return fault.New(fault.Invalid, "repo.gc", "what is younger than an hour may belong to a push on its way").
			WithNext("leave the age out, or make it 3600 or more")
	}
	return nil
}

// gc removes what no operation of the history names: views, operations and
// objects of pushes that were refused or broken off. A copy holds operations of
// the history and what it made on them itself, so nothing that it holds can go.
// Age keeps out of the way of pushes that are under way, and nobody waits.
func (h *Host) gc(ctx context.Context, in GCIn) (out GCOut, err error) {
	s, err := h.find(ctx, in.Repo)
	if err != nil {
		return out, err
	}
	age := gcAge
	if in.OlderThan != 0 {
		age = time.Duration(in.OlderThan) * time.Second
	}
	keep := time.Now().Add(-age)
	if out.Before, err = s.size(ctx); err != nil {
		return out, err
	}
	head, _, _ := s.now()
	r, err := s.store.At(ctx, head)
	if err != nil {
		return out, err
	}
	if err := s.store.GC(ctx, r, keep); err != nil {
		return out, err
	}
	if err := s.collect(ctx, keep); err != nil {
		return out, err
	}
	if err := s.store.Reload(); err != nil {
		return out, err
	}
	out.After, err = s.size(ctx)
	return out, err
}

// collect has git pack what is there and drop what no ref leads to.
func (s *served) collect(ctx context.Context, keep time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	if err := s.refuseUnsafe(ctx); err != nil {
		return err
	}
	cmd, err := s.safeGit(ctx, "gc", "--quiet", "--prune="+keep.UTC().Format(time.RFC3339))
	if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err = ended(cmd.Run())
	if err != nil {
		return fault.New(fault.Conflict, "repo.gc", "git gc failed: %s", strings.TrimSpace(said.String())).
			WithNext("run it in the served folder: git gc")
	}
	return nil
}
