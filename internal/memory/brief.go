package memory

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/foreign"
	"tandem/internal/memory/wire"
	"tandem/internal/op"
)

// Bounds of a brief.
const (
	briefBytes = 4000
	// MaxBrief is the longest one, in bytes.
	MaxBrief  = 16000
	briefEach = 10 // records of a kind, newest first
)

// brief tells what a session should know: what matches its task, then decisions, preferences and lessons, each said once.
func (r *Room) brief(ctx context.Context, in wire.BriefIn) (wire.BriefOut, error) {
	out := wire.BriefOut{IDs: []string{}}
	room := cmp.Or(in.Bytes, briefBytes)
	if room < 0 || room > MaxBrief || len(in.About) > maxText {
		return out, fault.New(fault.Invalid, "memory.brief", "a brief has at most %d bytes, and its task %d", MaxBrief, maxText)
	}
	asked, err := r.ask(ctx, op.CallerFrom(ctx).Tenant, in.About, true) // a session's task is sent to nobody by this
	if err != nil {
		return out, err
	}
	err = r.db.Read(ctx, func(tx *db.Tx) error {
		known, err := map[string]bool{}, error(nil)
		if c := op.CallerFrom(ctx); !people(c) && !in.Again {
			known, err = toldOf(tx, c.Tenant, c.Session)
		}
		if err != nil {
			return err
		}
		s, err := lookAt(ctx, tx, wire.Filter{}, wire.Live,
			func(p place) bool { return p.tier != wire.OfProject || p.of == in.Project })
		if err != nil || len(s.places) == 0 {
			return err
		}
		all, err := r.worth(tx, s, in.About, asked)
		if err != nil {
			return err
		}
		told := map[string]bool{}
		var b strings.Builder
		for _, rec := range all {
			piece := quoted(rec, tx.Now())
			if known[rec.ID] {
				out.Told++
				continue
			}
			if words := said(rec.Text); told[words] {
				continue
			} else if told[words] = true; b.Len()+len(piece) > room {
				out.Left++
				continue
			}
			b.WriteString(piece)
			out.IDs = append(out.IDs, rec.ID)
		}
		out.Text = b.String()
		return nil
	})
	if err != nil || in.Look {
		return out, err
	}
	return out, r.tell(ctx, out.IDs...)
}

// worth are the records that a brief may hold, what matters most first.
func (r *Room) worth(tx *db.Tx, s *sight, about string, asked *question) (out []wire.Record, err error) {
	if about != "" {
		hits, err := r.find(tx, s, about, asked)
		if err != nil {
			return nil, err
		}
		found, err := s.fetch(tx, hits, wire.Filter{}, briefEach)
		if err != nil {
			return nil, err
		}
		for _, h := range found {
			out = append(out, h.Record)
		}
	}
	for _, kind := range []wire.Kind{wire.Decision, wire.Preference, wire.Lesson} {
		where, args := s.where(wire.Filter{Kind: kind}, wire.Live)
		rows, err := tx.Query("SELECT "+columns+from+where+" ORDER BY r.id DESC LIMIT ?", append(args, briefEach)...)
		page, err := db.Collect(rows, err, scanRow)
		if err != nil {
			return nil, err
		}
		newest, err := plain(tx, s.tenant, page)
		if err != nil {
			return nil, err
		}
		out = append(out, newest...)
	}
	return out, nil
}

// quoted is a record as it is told: text of others between marks, with what it is, its age, trust and sources.
func quoted(r wire.Record, now time.Time) string {
	about := []string{string(r.Kind), string(r.Trust), "by " + r.Owner, fmt.Sprintf("%d days old", int(now.Sub(r.ChangedAt).Hours()/24))}
	for _, s := range r.Sources {
		about = append(about, strings.TrimSpace("from "+s.Kind+" "+s.Ref+" "+s.Place))
	}
	return foreign.Mark("memory", r.ID, strings.Join(about, ", ")+"\n"+strings.TrimSpace(r.Text)) + "\n"
}
