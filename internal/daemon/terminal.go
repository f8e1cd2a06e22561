package daemon

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"tandem/internal/fault"
	"tandem/internal/session/terminal"
	"tandem/internal/session/terminal/tmux"
	"tandem/internal/stream"
)

// watchTerminal streams a session's terminal: GET /sessions/{id}/terminal.
// Output of one moment is sent in one piece.
func (d *Daemon) watchTerminal(w http.ResponseWriter, r *http.Request) {
	if !sameSite(r) {
		d.web.Fail(w, r, fault.New(fault.Denied, "http", "a page of another origin asked for a terminal"))
		return
	}
	in := terminal.WatchIn{ID: r.PathValue("id")}
	ctx, err := d.gate.Admit(r.Context(), string(terminal.SessionWatch), in)
	if err != nil {
		d.web.Fail(w, r, err)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	frames := make(chan tmux.Frame, 64)
	ended := make(chan error, 1)
	go func() {
		ended <- d.rooms.terminal.Watch(ctx, in.ID, func(f tmux.Frame) error {
			select {
			case frames <- f:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	s := stream.Open(w)
	defer func() { cancel(); <-ended }()
	tick := time.NewTicker(stream.Beat)
	defer tick.Stop()
	for {
		select {
		case f := <-frames:
			err = sendFrames(s, f, frames)
		case <-tick.C:
			err = s.Beat()
		case <-d.stopping:
			return
		case why := <-ended:
			ended <- nil
			if ctx.Err() != nil { // whoever looked may not any more: nor at what still waits
				return
			}
			for len(frames) > 0 && err == nil {
				err = sendFrames(s, <-frames, frames)
			}
			said := "the terminal is gone"
			if why != nil {
				said = fault.Public(why).Msg
			}
			data, _ := json.Marshal(map[string]string{"said": said})
			_ = s.Event("0", "gone", data) // the last thing there is to say
			return
		}
		if err != nil {
			return
		}
	}
}

// frame is a tmux.Frame on the wire; Data is base64.
type frame struct {
	Cols int    `json:"cols,omitempty"`
	Rows int    `json:"rows,omitempty"`
	Data []byte `json:"data"`
}

// sendFrames sends a frame with all that waits behind it; a screen begins anew.
func sendFrames(s *stream.Out, f tmux.Frame, more <-chan tmux.Frame) error {
	for len(more) > 0 && len(f.Data) < 256<<10 {
		next := <-more
		if next.Screen {
			f = next
			continue
		}
		f.Data = append(f.Data, next.Data...)
	}
	kind := "output"
	if f.Screen {
		kind = "screen"
	}
	data, err := json.Marshal(frame{f.Cols, f.Rows, f.Data})
	if err != nil {
		return err
	}
	return s.Event("0", kind, data)
}

// sameSite refuses what a browser says comes from another site's page. The
// listener checks this for requests that change something; a terminal's
// content deserves it for reading, too.
func sameSite(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return true
	case "":
		origin := r.Header.Get("Origin")
		return origin == "" || origin == "http://"+r.Host || origin == "https://"+r.Host
	}
	return false
}
