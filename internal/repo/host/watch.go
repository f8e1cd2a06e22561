package host

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"tandem/internal/fault"
	"tandem/internal/repo"
	"tandem/internal/stream"
)

// WatchIn follows a repository.
type WatchIn struct {
	Repo  string `json:"repo" jsonschema:"the repository, by name or id"`
	After int64  `json:"after,omitempty" jsonschema:"the last version seen; only later ones are told"`
	Seen  int64  `json:"seen,omitempty" jsonschema:"the newest version known; the present state is told, under a later one"`
}

// Change is one step of a repository's head.
type Change struct {
	Version     int64    `json:"version"`
	Heads       []string `json:"heads"`
	Repo        string   `json:"repo"`
	Description string   `json:"description,omitempty"`
	Workspace   string   `json:"workspace,omitempty"`
	User        string   `json:"user,omitempty"`
	Time        string   `json:"time,omitempty"`
	Did         []Did    `json:"did,omitempty"` // who did what since the step before, the newest first
}

// beatEvery is how often a silent stream says that it is alive.
const beatEvery = 5 * time.Second

// Watch streams changes of the head as server-sent events:
// GET /repo/{repo}/watch?after=VERSION. Reconnecting with Last-Event-ID goes on
// where it broke off. Steps that follow each other faster than a reader reads
// come as one.
func (h *Host) Watch(w http.ResponseWriter, r *http.Request) {
	in := WatchIn{Repo: r.PathValue("repo")}
	for _, v := range []struct {
		text string
		to   *int64
	}{{r.URL.Query().Get("after"), &in.After}, {r.Header.Get("Last-Event-ID"), &in.After}, {r.URL.Query().Get("seen"), &in.Seen}} {
		if v.text == "" {
			continue
		}
		n, err := strconv.ParseInt(v.text, 10, 64)
		if err != nil || n < 0 {
			h.Fail(w, r, fault.New(fault.Invalid, "repo.watch", "%q is not a version", clip(v.text)))
			return
		}
		*v.to = n
	}
	ctx, err := h.Gate().Admit(r.Context(), string(RepoWatch), in)
	if err != nil {
		h.Fail(w, r, err)
		return
	}
	s, err := h.find(ctx, in.Repo)
	if err != nil {
		h.Fail(w, r, err)
		return
	}
	s.behind(max(in.After, in.Seen))
	out := stream.Open(w)
	if out.Comment("tandem repo "+s.name) != nil {
		return
	}
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	var told repo.OperationID
	for after := in.After; ; {
		head, version, changed := s.now()
		if version > after {
			c := s.change(ctx, head, version)
			c.Did, told = s.did(ctx, head, told), head
			data, err := json.Marshal(c)
			if err != nil || out.Event(strconv.FormatInt(version, 10), "head", data) != nil {
				return
			}
			after = version
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-beat.C:
			if out.Beat() != nil {
				return
			}
		}
	}
}

func (s *served) change(ctx context.Context, head repo.OperationID, version int64) Change {
	c := Change{Version: version, Heads: []string{head.Hex()}, Repo: s.name}
	if o, err := s.store.Operation(ctx, head); err == nil {
		c.Description, c.Workspace, c.User = o.Meta.Description, o.Meta.Workspace, o.Meta.Username
		c.Time = time.UnixMilli(o.Meta.End.Millis).UTC().Format(time.RFC3339Nano)
	}
	return c
}
