package journal

import (
	"context"
	"sort"
	"strconv"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// One call looks at so many entries, for words and for what the caller may see,
// and passes so many by that are of another type or about something else. None
// of these is in an index, which every event would have to pay for, and what is
// rare in a long journal must not hold the caller, or the database, for long:
// the answer then says where to go on. Variables for the tests alone.
var (
	looks        = 20_000
	passes int64 = 200_000
)

func (j *Journal) log(ctx context.Context, in LogIn) (LogOut, error) {
	out := LogOut{Entries: []Entry{}}
	if in.Limit < 0 || in.Limit > maxRead || in.After < 0 || in.Before < 0 {
		return out, fault.New(fault.Invalid, "audit.log", "limit lies between 1 and %d, and after and before are not negative", maxRead)
	}
	if in.Limit == 0 {
		in.Limit = 100
	}
	var err error
	if out.Head, err = j.Head(ctx); err != nil {
		return out, err
	}
	if !in.Since.IsZero() {
		first, err := j.since(ctx, in.Since, out.Head)
		if err != nil {
			return out, err
		}
		in.After = max(in.After, first-1)
	}
	err = j.db.Wide(ctx, func(from *db.DB) (err error) { out, err = j.look(ctx, from, in, out.Head); return err })
	return out, err
}

// look reads pages of entries until one answer is full.
func (j *Journal) look(ctx context.Context, from *db.DB, in LogIn, head int64) (LogOut, error) {
	out := LogOut{Entries: []Entry{}, Head: head}
	f := Filter{Type: in.Type, Phase: in.Phase, Actor: in.Actor, Resource: in.Resource, Request: in.Request, Newest: in.Newest}
	words := strings.Fields(strings.ToLower(in.Text))
	at, last, end := in.After, in.After+passes, out.Head
	if in.Newest {
		if at = in.Before; at == 0 || at > out.Head {
			at = out.Head + 1
		}
		last, end = max(at-passes, in.After+1), in.After+1
	}
	if f.Type+f.Phase+f.Resource+f.Request == "" {
		last = end // whatever is passed fits, and actors are in an index
	}
	for looked, size := 0, in.Limit+1; ; size = maxRead { // the mask and the words leave entries out, so pages are read until one is full
		page, err := j.between(ctx, from, op.CallerFrom(ctx).Tenant, at, last, size, f)
		if err != nil {
			return out, err
		}
		for i := range page {
			if looked == looks || len(out.Entries) == in.Limit && page[i].shows(words) && page[i].Visible(ctx) {
				out.More, out.At = true, at
				return out, nil
			}
			at = page[i].Seq
			looked++
			if page[i].shows(words) && page[i].Visible(ctx) {
				out.Entries = append(out.Entries, page[i])
			}
		}
		if len(page) < min(size, maxRead) {
			if in.Newest && last > end || !in.Newest && last < end {
				out.More, out.At = true, last
			}
			return out, nil
		}
	}
}

// shows reports whether all words, in lower case, are among what an entry shows.
func (e *Entry) shows(words []string) bool {
	if len(words) == 0 {
		return true
	}
	text := strings.ToLower(strings.Join([]string{strconv.FormatInt(e.Seq, 10), e.Type, e.Phase, e.Actor, strings.Join(e.For, " "), e.Resource,
		e.Request, string(e.Payload)}, "\n"))
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// since is the first sequence number at or after a time, found by halving: the
// writer's clock stamps entries in their order. Where that clock was set back
// in between, it is one of the places where the time passes t.
func (j *Journal) since(ctx context.Context, t time.Time, head int64) (int64, error) {
	var failed error
	n := sort.Search(int(head), func(i int) bool {
		var at int64
		if err := j.db.QueryRow(ctx, "SELECT at FROM journal_event WHERE seq = ?", i+1).Scan(&at); err != nil {
			failed = err
			return true
		}
		return at >= db.Micros(t)
	})
	return int64(n) + 1, failed
}
