package gitstore

import (
	"io"
	"sync"

	"tandem/internal/fault"
)

// Share is what all quarantines of one caller hold together, so that many requests at once hold no more than one may. The zero Share is
// ready.
type Share struct {
	mu            sync.Mutex
	named, packed int64
}

// mostPacked bounds the packs of one caller that lie on the disk and are not accepted yet.
const mostPacked = 8 << 30

// add counts bytes of operations and views, which are in memory, and of packs.
func (s *Share) add(named, packed, mostNamed int64) error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.named += named
	s.packed += packed
	if named > 0 && s.named > mostNamed || packed > 0 && s.packed > mostPacked {
		return fault.New(fault.Exhausted, "repo.receive", "what you send at once is too much together: %d MiB of operations and %d MiB of packs",
			s.named>>20, s.packed>>20).WithNext("let one request end before the next; it waits here meanwhile")
	}
	return nil
}

// arriving counts what is read of a pack towards its caller's share.
type arriving struct {
	r  io.Reader
	in *Incoming
}

func (a arriving) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	a.in.packed += int64(n)
	if full := a.in.Share.add(0, int64(n), 0); full != nil {
		return n, full
	}
	return n, err
}
