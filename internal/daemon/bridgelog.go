package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"

	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/logfile"
)

// bridgeLine is one line of bridge.log: who opened, prompted, interrupted or
// closed a session or steered a relay. It is a view of the journal for tail -f.
type bridgeLine struct {
	TS       time.Time `json:"ts"`
	Seq      int64     `json:"seq"`
	Action   string    `json:"action"`
	Phase    string    `json:"phase"`
	Actor    string    `json:"actor"`
	Resource string    `json:"resource"`
}

var bridgeActions = map[string]bool{"session.open": true, "session.create": true, "session.prompt": true, "session.cancel": true,
	"session.close": true, "session.take": true, "session.release": true,
	"relay.start": true, "relay.enqueue": true, "relay.inject": true, "relay.stop": true, "relay.turn": true, "relay.end": true,
	"tunnel.share": true, "tunnel.stop": true}

// gather is how long events may wait for others before they are read.
const gather = 50 * time.Millisecond

// keepBridgeLog appends to bridge.log until ctx ends. After a start it goes on
// behind the last line that is there.
func (d *Daemon) keepBridgeLog(ctx context.Context, path string) error {
	after, torn, err := lastLine(path)
	if errors.Is(err, os.ErrNotExist) { // it may have become full just before
		after, _, err = lastLine(path + ".1")
	}
	if errors.Is(err, os.ErrNotExist) {
		after, err = d.journal.Head(ctx)
	}
	if err != nil {
		return err
	}
	f, err := logfile.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if torn { // a crash cut the last line off; it is written again
		if _, err := f.Write([]byte("\n")); err != nil {
			return err
		}
	}
	for ctx.Err() == nil {
		page, at, err := d.journal.Next(ctx, identity.LocalTenant, after, 500, journal.Filter{})
		if err != nil { // the database is away
			d.Log.Warn("bridge.log waits", "err", err)
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Second):
			}
			continue
		}
		after = at
		var lines []byte
		for i := range page {
			e := &page[i]
			if !bridgeActions[e.Type] {
				continue
			}
			line, err := json.Marshal(bridgeLine{e.Time, e.Seq, e.Type, e.Phase, e.Actor, e.Resource})
			if err != nil {
				return err
			}
			lines = append(append(lines, line...), '\n')
		}
		if len(lines) > 0 {
			if _, err := f.Write(lines); err != nil {
				return err
			}
		}
		if len(page) == 0 {
			_ = d.journal.Wait(ctx, after) // ends with ctx, and so does the loop
			select {
			case <-ctx.Done():
			case <-time.After(gather): // most events are of others, and on a busy day they come together
			}
		}
	}
	return nil
}

// lastLine is the sequence number in a log's last whole line, and whether
// another one that is not whole comes behind it.
func lastLine(path string) (seq int64, torn bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return 0, false, err
	}
	const most = 64 << 10
	tail := make([]byte, min(st.Size(), most))
	if _, err := f.ReadAt(tail, st.Size()-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return 0, false, err
	}
	torn = len(tail) > 0 && tail[len(tail)-1] != '\n'
	lines := bytes.Split(bytes.TrimSpace(tail), []byte("\n"))
	for i := len(lines) - 1; i >= 0; i-- {
		var l bridgeLine
		if json.Unmarshal(lines[i], &l) == nil && l.Seq > 0 {
			return l.Seq, torn, nil
		}
	}
	return 0, torn, os.ErrNotExist // nothing in it tells where it ended
}
