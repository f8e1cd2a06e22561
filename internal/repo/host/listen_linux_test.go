package host

import (
	"context"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// What git does in a served folder is noticed at once, in folders of refs that were
// not there before, too; and while nothing happens nobody looks.
func TestAServedFolderIsHeard(t *testing.T) {
	_, git := ownHome(t)
	h, s, ctx := serve(t, git)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.Run(ctx)
	}()
	defer func() {
		cancel()
		<-ended
	}()
	until := func(what string, done func() bool) {
		t.Helper()
		testenv.Eventually(t, what+" is noticed", lookAnyway-time.Second, done)
	}
	until("the start", func() bool { return s.looks.Load() > 0 })
	for _, branch := range []string{"plain", "in/a/folder", "in/a/second"} {
		git("-C", s.root, "branch", branch)
		until(branch, func() bool {
			v, _, _, err := s.view(ctx)
			if err != nil {
				return false
			}
			_, there := v.Bookmarks[branch]
			return there
		})
	}
	git("-C", s.root, "pack-refs", "--all")
	git("-C", s.root, "branch", "-D", "plain")
	until("plain is gone", func() bool {
		v, _, _, err := s.view(ctx)
		if err != nil {
			return false
		}
		_, there := v.Bookmarks["plain"]
		return !there
	})
	// Our own work is heard, too. Then there comes a while in which nobody looks, longer
	// than any clock of ours but the slow one would leave.
	since, looks := time.Now(), s.looks.Load()
	until("quiet", func() bool {
		if now := s.looks.Load(); now != looks {
			since, looks = time.Now(), now
		}
		return time.Since(since) > lookAlone+lookAlone/2
	})
}
