package peer

import (
	"context"
	"fmt"
	"time"

	"tandem/internal/op"
)

// GuardIn names files that somebody is about to commit in a plain checkout.
type GuardIn struct {
	Folder  string   `json:"folder" jsonschema:"the checkout's folder, absolute"`
	Paths   []string `json:"paths" jsonschema:"the files, relative to it"`
	Parents []int    `json:"parents,omitempty" jsonschema:"process ids above a hook: its agent is among them"`
}

// HeldFile is a file that somebody else has leased.
type HeldFile struct {
	File  string    `json:"file" jsonschema:"relative to the project of the space"`
	By    string    `json:"by" jsonschema:"the holder's username"`
	Until time.Time `json:"until"`
	Space string    `json:"space" jsonschema:"the space's name"`
}

// Guarded are the files that others have leased.
type Guarded struct {
	Said
	Held []HeldFile `json:"held"`
}

// opGuard finds what others have leased of some files. An agent's commit is the
// agent's, though git runs its hooks in the name of the person.
func (r *Room) opGuard(ctx context.Context, in GuardIn) (Guarded, error) {
	c := op.CallerFrom(ctx)
	held := r.held(c.Tenant, func(who string) bool { return who == owner(c) || childOf(who, program(c), in.Parents) },
		ChangedIn{Folder: in.Folder, Paths: in.Paths}.Files())
	out := Guarded{Held: []HeldFile{}, Said: Said{Text: "Nobody else has leased any of these files."}}
	for i, h := range held {
		f := r.named(h)
		out.Held = append(out.Held, f)
		line := fmt.Sprintf("%s is leased to %s until %s (space %s)", escape(f.File), escape(f.By), f.Until.Format("15:04 MST"), escape(f.Space))
		if i == 0 {
			out.Text = line
		} else {
			out.Text += "\n" + line
		}
	}
	return out, nil
}

// named is a holding in the words of its space.
func (r *Room) named(h Holding) HeldFile {
	out := HeldFile{File: h.File, By: string(h.Holder), Until: h.Until}
	r.mu.Lock()
	s := r.seats[h.seat]
	r.mu.Unlock()
	if s != nil {
		s.mu.Lock()
		out.By, out.Space = s.name(h.Holder), s.sec.Base.Title
		s.mu.Unlock()
	}
	return out
}
