package knowledge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/knowledge/wire"
	memory "tandem/internal/memory/wire"
	"tandem/internal/op"
)

// Bounds of items, and of what one author may have waiting.
const (
	maxTitle   = 200
	maxSummary = 2000
	maxBody    = 64 << 10
	maxCovers  = 16
	maxSources = 16
	maxRef     = 1024
	maxItems   = 5000
	maxWaiting = 200
	maxReason  = 1000
)

var (
	topicForm  = regexp.MustCompile(`^[a-z0-9][a-z0-9./-]{0,99}$`)
	digestForm = regexp.MustCompile(`^([0-9a-f]{64})?$`)
)

// settle refuses what no item can be.
func settle(in wire.AddIn) error {
	switch {
	case strings.TrimSpace(in.Title) == "" || len(in.Title) > maxTitle || !plain(in.Title) || strings.ContainsAny(in.Title, "\r\n"):
		return bad("a title is one line of at most %d bytes", maxTitle).WithNext("say in a line what the item says")
	case strings.TrimSpace(in.Summary+in.Body) == "":
		return bad("it says nothing: summary and body are both empty")
	case len(in.Summary) > maxSummary || !plain(in.Summary):
		return bad("a summary is plain text of at most %d bytes", maxSummary)
	case len(in.Body) > maxBody || !plain(in.Body):
		return bad("a body is plain text of at most %d bytes", maxBody).WithNext("split it by topic, or name the document as its source")
	case len(in.Covers) > maxCovers || len(in.Sources) > maxSources:
		return bad("an item covers at most %d topics, and has at most %d sources", maxCovers, maxSources)
	case in.Key != "" && !topicForm.MatchString(in.Key):
		return bad("%.64q is no key", in.Key).WithNext("a key has small letters, digits, dots, slashes and hyphens, at most 100")
	case in.Days < 0 || in.Days > maxDays:
		return bad("an item is fresh for 1 to %d days, or as long as its knowledge space says", maxDays)
	}
	for _, c := range in.Covers {
		if !topicForm.MatchString(c) {
			return bad("%.64q is no topic", c).WithNext("a topic has small letters, digits, dots, slashes and hyphens, at most 100")
		}
	}
	for _, s := range in.Sources {
		switch {
		case !slices.Contains(memory.SourceKinds, s.Kind):
			return bad("%.40q is no kind of source", s.Kind).WithNext("it is one of %s", strings.Join(memory.SourceKinds, ", "))
		case s.Ref == "" || len(s.Ref) > maxRef || len(s.Place) > maxRef || !plain(s.Ref+s.Place):
			return bad("a source has a name of at most %d bytes", maxRef)
		case !digestForm.MatchString(s.Digest):
			return bad("a source's digest is a SHA-256 in small hex digits")
		}
	}
	return nil
}

// add notes an item that answers nobody yet. What its author added before with the same key, and nobody promoted, it takes the place of.
func (r *Room) add(ctx context.Context, tx *db.Tx, in wire.AddIn) (wire.Changed, error) {
	c := op.CallerFrom(ctx)
	k, err := r.load(ctx, tx, c.Tenant, in.Name) // locked, so that it is not deleted meanwhile
	mine := false
	if err == nil && k != nil {
		mine, err = r.lets(ctx, tx, k)
	}
	if err == nil && !mine {
		err = noSpace(in.Name)
	}
	if err != nil {
		return wire.Changed{}, err
	}
	if err := settle(in); err != nil {
		return wire.Changed{}, err
	}
	covers := once(in.Covers)
	slices.Sort(covers)
	i := &item{place: k.nr, days: in.Days, actor: c.Actor, Entry: wire.Entry{ID: id.New("kno"), Space: k.Name, Title: in.Title,
		Summary: in.Summary,
		Body:    in.Body, Covers: covers, Key: in.Key, Sources: in.Sources, State: wire.Working, Author: c.Name, Version: 1, MadeAt: tx.Now()}}
	if c.Session != "" {
		i.Sources = append([]wire.Source{{Kind: "turn", Ref: c.Session}}, i.Sources...)
	}
	i.digest = digest(i)
	rows, err := tx.Query("SELECT "+itemColumns+" FROM knowledge_item i WHERE i.tenant = ? AND i.place = ? AND i.state <> 'deprecated' "+
		"AND (i.digest = ? OR i.dedupe = ? AND i.dedupe <> '' AND i.state = 'working' AND i.actor = ?) ORDER BY i.nr"+tx.ForUpdate(), c.Tenant,
		k.nr, i.digest, in.Key, c.Actor)
	like, err := db.Collect(rows, err, scanItems)
	if err != nil {
		return wire.Changed{}, err
	}
	for _, known := range like {
		known.Space = k.Name
		if known.digest == i.digest && (known.State != wire.Working || known.actor == c.Actor) {
			out := changed(ctx, known)
			out.Known = true
			return out, nil
		}
	}
	for _, draft := range like {
		if draft.digest != i.digest { // it is a newer draft of the same
			i.ID, i.nr, i.MadeAt, i.Version = draft.ID, draft.nr, draft.MadeAt, draft.Version+1
			return changed(ctx, i), keep(tx, c.Tenant, i)
		}
	}
	if err := roomFor(tx, c, k); err != nil {
		return wire.Changed{}, err
	}
	if i.nr, err = number(tx, c.Tenant); err != nil {
		return wire.Changed{}, err
	}
	return changed(ctx, i), keep(tx, c.Tenant, i)
}

// roomFor refuses more items than a knowledge space holds, and than may wait of one author.
func roomFor(tx *db.Tx, c op.Caller, k *space) error {
	var all, waiting int
	err := tx.QueryRow("SELECT count(*) FROM knowledge_item WHERE tenant = ? AND place = ?", c.Tenant, k.nr).Scan(&all)
	if err == nil {
		err = tx.QueryRow("SELECT count(*) FROM knowledge_item WHERE tenant = ? AND actor = ? AND state = 'working'", c.Tenant,
			c.Actor).Scan(&waiting)
	}
	switch {
	case err != nil:
		return err
	case all >= maxItems:
		return fault.New(fault.Exhausted, "knowledge", "%s has %d items already", k.Name, all).
			WithNext("remove what was deprecated: tandem knowledge show %s --state deprecated", k.Name)
	case waiting >= maxWaiting:
		return fault.New(fault.Exhausted, "knowledge", "%d items of yours wait for a person already", waiting).
			WithNext("ask an owner to look at them: tandem knowledge list")
	}
	return nil
}

func digest(i *item) string {
	h := sha256.New()
	for _, s := range append([]string{i.Title, i.Summary, i.Body, i.Key, topics(i.Covers), list(i.Sources)}, i.Space) {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))
}

func changed(ctx context.Context, i *item) wire.Changed {
	op.Note(ctx, "id", i.ID)
	op.Note(ctx, "version", i.Version)
	return wire.Changed{ID: i.ID, Space: i.Space, State: i.State, Version: i.Version}
}

// freshen works out until when an item is fresh.
func (i *item) freshen(k *space, now time.Time) {
	days := k.Days
	if i.days > 0 {
		days = i.days
	}
	if days > 0 && !i.LookedAt.IsZero() {
		i.FreshUntil = i.LookedAt.Add(time.Duration(days) * 24 * time.Hour)
		i.Stale = now.After(i.FreshUntil)
	}
}

// says is the text by which an item is found.
func (i *item) says() string {
	return strings.Join([]string{i.Title, strings.Join(i.Covers, " "), i.Summary, i.Body}, "\n")
}
