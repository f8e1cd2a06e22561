package compat

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"tandem/internal/fault"
)

// change is a journal entry about shared keys, as far as the clients need it.
type change struct {
	Seq     int64           `json:"seq"`
	Time    time.Time       `json:"time"`
	Type    string          `json:"type"`
	Phase   string          `json:"phase"`
	Actor   string          `json:"actor"`
	Payload json.RawMessage `json:"payload"`
}

// frames are the events that a change is: one for each key. What was refused is none.
func (c change) frames() ([]obj, error) {
	if c.Phase != "done" {
		return nil, nil
	}
	var p struct {
		Input struct{ Key string }
		Facts struct {
			Rev     int64
			Expired []string
		}
	}
	if err := json.Unmarshal(c.Payload, &p); err != nil {
		return nil, err
	}
	typ, keys := "", []string{p.Input.Key}
	switch c.Type {
	case "resource.put":
		typ = "resource.updated"
	case "resource.delete":
		typ = "resource.deleted"
	case "resource.sweep":
		typ, keys = "resource.deleted", p.Facts.Expired
	}
	var out []obj
	for _, key := range keys {
		props := obj{"key": key, "updatedBy": c.Actor, "timestampMs": ms(c.Time), "seq": c.Seq}
		if p.Facts.Rev > 0 {
			props["rev"] = p.Facts.Rev
		}
		out = append(out, obj{"type": typ, "properties": props, "timestampMs": ms(c.Time)})
	}
	return out, nil
}

// changes is a page of them.
type changes struct {
	Entries  []change
	At, Head int64
	More     bool
}

// end is how far the page looked.
func (c *changes) end() int64 {
	if c.More {
		return c.At
	}
	if n := len(c.Entries); n > 0 {
		return max(c.Head, c.Entries[n-1].Seq) // written while the page was read
	}
	return c.Head
}

func (s *Server) changes(ctx context.Context, in obj) (page changes, err error) {
	in["type"], in["limit"] = "resource.*", 200
	return page, s.call(ctx, "audit.log", in, &page)
}

// resourceEvents is GET /resource/events: changes of shared keys, from a place, from the newest few, or from now on.
func (s *Server) resourceEvents(w http.ResponseWriter, r *http.Request) {
	ctx := s.Gate.Stay(r.Context())
	after, err := s.firstChange(ctx, r)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	out := s.stream(w)
	if out.connected() != nil {
		return
	}
	for {
		looked := time.Now()
		page, err := s.changes(ctx, obj{"after": after})
		if err != nil {
			return // the client comes back with its place, and hears why
		}
		for _, c := range page.Entries {
			frames, err := c.frames()
			if err != nil {
				return
			}
			for _, f := range frames {
				if out.send(strconv.FormatInt(c.Seq, 10), f) != nil {
					return
				}
			}
		}
		if after = max(after, page.end()); page.More {
			continue
		}
		wait, cancel := context.WithTimeout(ctx, 15*time.Second)
		err = s.Wait(wait, after)
		cancel()
		if ctx.Err() != nil || err != nil && out.Beat() != nil || !rests(ctx, looked) {
			return
		}
	}
}

// firstChange is the place behind which a stream begins.
func (s *Server) firstChange(ctx context.Context, r *http.Request) (int64, error) {
	newest, err := s.changes(ctx, obj{"newest": true}) // also who may not read them is told so before anything is sent
	if err != nil {
		return 0, err
	}
	v := r.URL.Query()
	from := r.Header.Get("Last-Event-ID")
	if from == "" {
		from = v.Get("since_seq")
	}
	if from != "" {
		after, err := strconv.ParseInt(from, 10, 64)
		if err != nil || after < 0 {
			return 0, fault.New(fault.Invalid, "resource.events", "since_seq should be a sequence number, not %.40q", from)
		}
		return after, nil
	}
	if n := min(number(v.Get("tail"), 0), len(newest.Entries)); n > 0 {
		return newest.Entries[n-1].Seq - 1, nil
	}
	return newest.Head, nil
}
