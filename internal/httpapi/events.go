package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/stream"
)

// Ops are the streams of this door.
func Ops() []op.Op {
	return []op.Op{journal.EventStream.Stream(op.Spec{Right: "journal.read", Method: "GET", Path: "/event",
		Doc: "Follow the journal as server-sent events, from any point on.\nReconnecting with Last-Event-ID continues where it broke off: " +
			"nothing is lost between."},
		func(journal.EventsIn) op.Resource { return op.Resource{Kind: "journal", Path: "/"} }, nil)}
}

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
	if err := s.follow(ctx, stream.Open(w), after, in.(journal.EventsIn).Type); err != nil && !errors.Is(err, context.Canceled) {
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

func (s *Server) follow(ctx context.Context, out *stream.Out, after int64, typ string) error {
	if err := out.Comment(fmt.Sprintf("tandem events behind %d", after)); err != nil {
		return err
	}
	for {
		for {
			page, at, err := s.Journal.Next(ctx, op.CallerFrom(ctx).Tenant, after, 200, journal.Filter{Type: typ})
			if err != nil {
				return err
			}
			if after = at; len(page) == 0 {
				break
			}
			if err := writeEvents(ctx, out, page); err != nil {
				return err
			}
		}
		wait, cancel := context.WithTimeout(ctx, stream.Beat)
		err := s.Journal.Wait(wait, after)
		cancel()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			continue
		}
		if err := out.Beat(); err != nil {
			return err
		}
	}
}

// writeEvents sends entries at once, but for those that tell of something that the caller may not see.
func writeEvents(ctx context.Context, out *stream.Out, page []journal.Entry) error {
	var text strings.Builder
	for i := range page {
		e := &page[i]
		if !e.Visible(ctx) {
			continue
		}
		data, err := json.Marshal(e)
		if err != nil {
			return err
		}
		text.WriteString(stream.Event(strconv.FormatInt(e.Seq, 10), e.Type, data))
	}
	if text.Len() == 0 {
		return nil
	}
	return out.Write(text.String())
}
