package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/op"
)

// Ops are the streams of this door.
func Ops() []op.Op {
	return []op.Op{journal.EventStream.Stream(op.Spec{Right: "journal.read", Method: "GET", Path: "/event",
		Doc: "Follow the journal as server-sent events, from any point on.\nReconnecting with Last-Event-ID continues where it broke off: " +
			"nothing is lost between."},
		func(journal.EventsIn) op.Resource { return op.Resource{Kind: "journal", Path: "/"} }, nil)}
}

const heartbeat = 15 * time.Second

func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	if s.Compat != nil && r.URL.Query().Has("sessionID") {
		s.Compat.ServeHTTP(w, r)
		return
	}
	o := s.Gate.Table().Get(string(journal.EventStream))
	in, err := readInput(o, r)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	ctx, err := s.Gate.Admit(r.Context(), o.Name, in)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	after, err := s.start(ctx, in.(journal.EventsIn), r.Header.Get("Last-Event-ID"))
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	if err := s.follow(ctx, w, after, in.(journal.EventsIn).Type); err != nil && !errors.Is(err, context.Canceled) {
		s.Log.Debug("event stream ended", "err", err)
	}
}

// start is the sequence number behind which the stream begins.
func (s *Server) start(ctx context.Context, in journal.EventsIn, last string) (int64, error) {
	if last != "" {
		n, err := strconv.ParseInt(last, 10, 64)
		if err != nil || n < 0 {
			return 0, fault.New(fault.Invalid, string(journal.EventStream), "Last-Event-ID should be a sequence number")
		}
		return n, nil
	}
	if in.Since != nil {
		if *in.Since < 0 {
			return 0, fault.New(fault.Invalid, string(journal.EventStream), "since_seq should not be negative")
		}
		return *in.Since, nil
	}
	return s.Journal.Head(ctx)
}

func (s *Server) follow(ctx context.Context, w http.ResponseWriter, after int64, typ string) error {
	out := http.NewResponseController(w)
	fmt.Fprintf(w, ": tandem events behind %d\n\n", after)
	for {
		if err := out.Flush(); err != nil {
			return err
		}
		for {
			page, at, err := s.Journal.Next(ctx, op.CallerFrom(ctx).Tenant, after, 200, journal.Filter{Type: typ})
			if err != nil {
				return err
			}
			if after = at; len(page) == 0 {
				break
			}
			out.SetWriteDeadline(time.Now().Add(30 * time.Second))
			for i := range page {
				if err := writeEvent(ctx, w, &page[i]); err != nil {
					return err
				}
			}
			if err := out.Flush(); err != nil {
				return err
			}
		}
		wait, cancel := context.WithTimeout(ctx, heartbeat)
		err := s.Journal.Wait(wait, after)
		cancel()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		out.SetWriteDeadline(time.Now().Add(30 * time.Second))
		if err != nil {
			fmt.Fprint(w, ": still here\n\n")
		}
	}
}

// writeEvent sends one entry, unless it tells of something that the caller may
// not see.
func writeEvent(ctx context.Context, w http.ResponseWriter, e *journal.Entry) error {
	if !e.Visible(ctx) {
		return nil
	}
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "id: %d\nevent: %s\ndata: %s\n\n", e.Seq, e.Type, data)
	return err
}
