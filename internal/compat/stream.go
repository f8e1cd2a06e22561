package compat

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/stream"
)

// sender writes events for the clients.
type sender struct{ *stream.Out }

func (s *Server) stream(w http.ResponseWriter) *sender { return &sender{stream.Open(w)} }

func (s *sender) send(id string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.Event(id, "", b)
}

// connected greets as the engine does.
func (s *sender) connected() error {
	if err := s.send("", obj{"type": "server.connected", "properties": obj{}}); err != nil {
		return err
	}
	return s.send("", obj{"type": "engine.lifecycle.ready",
		"properties": obj{"status": "ready", "transport": "sse", "timestamp_ms": ms(time.Now())}})
}

// Events is GET /event for a client that names a session. With a run it replays that run from its beginning and ends with it;
// without one it begins with the run that is open, or with what comes next.
func (s *Server) Events(w http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	id, run := v.Get("sessionID"), v.Get("runID")
	ctx, err := s.admit(r.Context(), id)
	if err == nil && run != "" {
		err = s.call(ctx, "session.turns", obj{"id": id, "turn": run}, nil)
	}
	var after int64
	from := r.Header.Get("Last-Event-ID")
	if from == "" {
		from = v.Get("since_seq")
	}
	if err == nil && from == "" && run == "" {
		run, after, err = s.now(ctx, id)
	}
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	out := s.stream(w)
	if out.connected() != nil {
		return
	}
	only := v.Get("runID")
	tr := &translator{session: id}
	err = s.Follow(ctx, op.CallerFrom(ctx).Tenant, id, from, out.Beat, func(raw json.RawMessage) error {
		var e event
		if err := json.Unmarshal(raw, &e); err != nil {
			return err
		}
		list, err := tr.translate(e)
		if err != nil {
			return err
		}
		if only != "" && e.Turn != only || only == "" && e.Seq <= after && e.Turn != run {
			return nil
		}
		return s.forward(out, id, e, list, only != "")
	})
	if err != nil && err != errEnded && ctx.Err() == nil {
		// the client may be gone
		_ = out.send("", obj{"type": "session.error", "properties": obj{"sessionID": id, "error": fault.Public(err).Msg}})
	}
}

// forward sends what an event became. Only the last of them carries the place: a client that comes back never misses a part.
func (s *Server) forward(out *sender, session string, e event, list []told, ends bool) error {
	for i, t := range list {
		place := ""
		if i == len(list)-1 {
			place = e.place()
		}
		if err := out.send(place, t.frame(e, session)); err != nil {
			return err
		}
		if ends && t.terminal() {
			return errEnded
		}
	}
	return nil
}

// admit lets a caller into a session's stream.
func (s *Server) admit(ctx context.Context, id string) (context.Context, error) {
	b, err := json.Marshal(obj{"id": id})
	if err != nil {
		return ctx, err
	}
	in, err := s.Gate.Table().Get("session.follow").Decode(b)
	if err != nil {
		return ctx, err
	}
	return s.Gate.Admit(ctx, "session.follow", in)
}

// now is where a session stands: its open turn, and its newest event.
func (s *Server) now(ctx context.Context, id string) (run string, last int64, err error) {
	var info struct{ Events int64 }
	if err := s.call(ctx, "session.get", obj{"id": id}, &info); err != nil {
		return "", 0, err
	}
	var out struct{ Turns []turn }
	if err := s.call(ctx, "session.turns", obj{"id": id}, &out); err != nil {
		return "", 0, err
	}
	for _, t := range out.Turns {
		if !t.ended() {
			run = t.ID
		}
	}
	return run, info.Events, nil
}

// runEvents answers the stored events of a run, as JSON, or as a stream when the client asks for one.
func (s *Server) runEvents(w http.ResponseWriter, r *http.Request) {
	run := r.PathValue("run")
	var t turn
	if err := s.call(r.Context(), "session.turn", obj{"turn": run}, &t); err != nil {
		s.Fail(w, r, err)
		return
	}
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		v := r.URL.Query()
		v.Set("sessionID", t.Session)
		v.Set("runID", run)
		r.URL.RawQuery = v.Encode()
		s.Events(w, r)
		return
	}
	after, _ := strconv.ParseInt(r.URL.Query().Get("since_seq"), 10, 64) // what is not a number is the beginning
	tail := number(r.URL.Query().Get("tail"), 0)
	list := []any{}
	tr := &translator{session: t.Session}
	for {
		var page struct{ Events []event }
		if err := s.call(r.Context(), "session.events", obj{"id": t.Session, "after": after, "limit": 1000}, &page); err != nil {
			s.Fail(w, r, err)
			return
		}
		for _, e := range page.Events {
			after = e.Seq
			got, err := tr.translate(e)
			if err != nil {
				s.Fail(w, r, err)
				return
			}
			for _, x := range got {
				if e.Turn == run {
					list = append(list, x.frame(e, t.Session))
				}
			}
		}
		if len(page.Events) < 1000 {
			break
		}
	}
	if tail > 0 && len(list) > tail {
		list = list[len(list)-tail:]
	}
	write(w, http.StatusOK, list)
}

// maxFollowed bounds how many sessions one global stream follows at once.
const maxFollowed = 200

// GlobalEvents is GET /global/event: every session that the caller may watch, from now on.
func (s *Server) GlobalEvents(w http.ResponseWriter, r *http.Request) {
	var list struct{ Sessions []session }
	if err := s.call(r.Context(), "session.list", obj{"limit": maxFollowed}, &list); err != nil {
		s.Fail(w, r, err)
		return
	}
	ctx, cancel := context.WithCancel(s.Gate.Stay(r.Context()))
	defer cancel()
	out := s.stream(w)
	if out.connected() != nil {
		return
	}
	type sent struct {
		id string
		e  event
	}
	all := make(chan sent)
	followed := map[string]bool{}
	follow := func(id string) {
		if followed[id] || len(followed) >= maxFollowed {
			return
		}
		followed[id] = true
		admitted, err := s.admit(ctx, id)
		if err != nil {
			return
		}
		_, last, err := s.now(ctx, id)
		if err != nil {
			return
		}
		go func() {
			_ = s.Follow(admitted, op.CallerFrom(ctx).Tenant, id, strconv.FormatInt(last, 10), func() error { return nil },
				func(raw json.RawMessage) error {
					var e event
					if err := json.Unmarshal(raw, &e); err != nil {
						return err
					}
					select {
					case all <- sent{id, e}:
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				}) // it ends with the request
		}()
	}
	for _, x := range list.Sessions {
		follow(x.ID)
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	trs := map[string]*translator{}
	quiet := 0
	for {
		select {
		case <-ctx.Done():
			return
		case x := <-all:
			quiet = 0
			if trs[x.id] == nil {
				trs[x.id] = &translator{session: x.id}
			}
			got, err := trs[x.id].translate(x.e)
			if err != nil || s.forward(out, x.id, x.e, got, false) != nil {
				return
			}
		case <-tick.C:
			// Sessions that were opened since.
			if err := s.call(ctx, "session.list", obj{"limit": 20}, &list); err == nil {
				for _, x := range list.Sessions {
					follow(x.ID)
				}
			}
			if quiet++; quiet%15 == 0 && out.Beat() != nil {
				return
			}
		}
	}
}
