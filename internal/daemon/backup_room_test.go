package daemon

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem/internal/fault"
)

// A copy to a slow disk had everything that was written meanwhile wait beside the database, until the server's own disk was full.
func TestACopyIsGivenUpBeforeTheDiskIsFull(t *testing.T) {
	for _, c := range []struct {
		waits int64
		full  error
		given bool
	}{
		{waits: 1 << 30},
		{waits: 60 << 20, full: errors.New("only 10 MB left")}, // what always waits is not the copy's
		{waits: 200 << 20, full: errors.New("only 10 MB left"), given: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := whileRoom(t.Context(), func() (int64, error) { return c.waits, nil }, func() error { return c.full })
			time.Sleep(time.Minute)
			err := context.Cause(ctx)
			if c.given != fault.Is(err, fault.Unavailable) || c.given && !strings.Contains(err.Error(), "200 MB") || !c.given && err != nil {
				t.Errorf("%d MB wait, room: %v: %v", c.waits>>20, c.full, err)
			}
			stop()
		})
	}
}

// The state that a copy reads is let go when it is given up, even while the disk that it goes to hangs: only then the room comes back.
func TestACopyThatHangsLetsGo(t *testing.T) {
	k := keptAt(t, "")
	for _, key := range []string{"a", "b", "c"} { // more than is read ahead
		k.must("resource.put", obj{"key": key, "value": strings.Repeat("x", 60_000)})
	}
	ctx, giveUp := context.WithCancelCause(t.Context())
	begun, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := k.d.copyTables(ctx, func(from io.Reader) error {
			_, err := from.Read(make([]byte, 1))
			close(begun)
			<-goOn
			return err
		})
		ended <- err
	}()
	<-begun
	giveUp(errors.New("given up"))
	k.must("resource.put", obj{"key": "later", "value": "y"})
	if _, err := k.d.db.Shrink(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := k.d.db.Waiting(); n != 0 || err != nil {
		t.Errorf("%d bytes still wait, %v", n, err)
	}
	close(goOn)
	if err := <-ended; err == nil || err.Error() != "given up" {
		t.Errorf("the copy ended with %v", err)
	}
}
