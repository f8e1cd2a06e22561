package journal

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/op"
)

// Orphans holds what rooms keep against what the journal vouches for, both ways: a row without its entry, which does not count,
// and an entry whose row is gone, as that of a denial would be. What a call changes while it looks is no finding: only what is
// found twice is told.
func (j *Journal) Orphans(ctx context.Context) ([]Finding, error) {
	first, err := j.orphansOnce(ctx)
	if err != nil || len(first) == 0 {
		return nil, err
	}
	again, err := j.orphansOnce(ctx)
	return slices.DeleteFunc(again, func(f Finding) bool { return !slices.Contains(first, f) }), err
}

func (j *Journal) orphansOnce(ctx context.Context) (out []Finding, err error) {
	found := func(seq int64, format string, args ...any) {
		out = append(out, Finding{Orphan, seq, fmt.Sprintf(format, args...)})
	}
	for _, text := range j.Broken() {
		out = append(out, Finding{Missing, 0, text})
	}
	there, vouch := map[place]bool{}, j.Vouch()
	for _, list := range j.Rows {
		all, err := list(ctx)
		if err != nil {
			return nil, err
		}
		all = slices.DeleteFunc(all, func(r op.Sealed) bool { return j.standing.erased(r.Tenant) }) // they are about to go
		moving, err := j.moving(ctx, all)
		if err != nil {
			return nil, err
		}
		for i, row := range all {
			there[place{row.Tenant, row.Subject}] = true
			held, at := vouch.Says(row.Tenant, row.Subject, row.Says), j.stoodAt(row.Tenant, row.Subject)
			if m, ok := moving[i]; ok {
				held, at = m.held, m.stood
			}
			switch {
			case held:
			case at.seq == 0 || at.digest == nothing:
				found(0, "%s is in the database, and no entry of the journal vouches for it: it does not count", row.What)
			default:
				found(0, "%s is in the database, and says something else than entry %d: it does not count", row.What, at.seq)
			}
		}
	}
	for at, x := range j.gone(there) {
		over, err := j.over(ctx, at, x)
		if err != nil {
			return nil, err
		}
		if !over {
			found(x.seq, "entry %d vouches for %s, and it is gone from the database", x.seq, spoken(at.subject))
		}
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return strings.Compare(a.What, b.What) })
	return out, nil
}

// weighed is what the newest entry about a row says, and whether it vouches for the row.
type weighed struct {
	stood
	held bool
}

// moving weighs those rows that say something else with every step, by their place in the list. The entry that it was is said, so that one
// which moves while it is looked at, here or on another server, is not found twice.
func (j *Journal) moving(ctx context.Context, rows []op.Sealed) (out map[int]weighed, err error) {
	if !slices.ContainsFunc(rows, func(r op.Sealed) bool { return !lasts(Seal{Subject: r.Subject}) }) {
		return nil, nil
	}
	err = j.View(ctx, func(tx *db.Tx) error {
		out = map[int]weighed{}
		newest, err := newestSeals(tx, slices.DeleteFunc(slices.Clone(rows), func(r op.Sealed) bool { return lasts(Seal{Subject: r.Subject}) }))
		if err != nil {
			return err
		}
		for i, r := range rows {
			if lasts(Seal{Subject: r.Subject}) {
				continue
			}
			x, told := newest[place{r.Tenant, r.Subject}]
			if !told {
				x = storedSeal{tenant: r.Tenant, Seal: Seal{Subject: r.Subject}}
			}
			w := weighed{stood{max(x.seq, j.standing.seen(r.Tenant, r.Subject)), x.Digest}, j.holds(tx, x, Digest(r.Says...))}
			if x.seq > 0 && !j.vouched(x.mac, x.tenant, x.Seal, x.seq, x.leaf) {
				w.stood = j.stoodAt(r.Tenant, r.Subject)
			}
			out[i] = w
		}
		return nil
	})
	return out, err
}

// gone is what the journal vouches for and no room has.
func (j *Journal) gone(there map[place]bool) map[place]stood {
	j.standing.mu.RLock()
	defer j.standing.mu.RUnlock()
	out := map[place]stood{}
	for at, x := range j.standing.newest.all() {
		if lasts(Seal{Subject: at.subject}) && kindOf(at.subject) != adoption && x.digest != nothing && !there[at] &&
			j.standing.wiped[at.tenant].seq == 0 {
			out[at] = x
		}
	}
	return out
}

// over says that a row would have ended by itself by now, if it were there.
func (j *Journal) over(ctx context.Context, at place, x stood) (bool, error) {
	life, ends := j.Lives[kindOf(at.subject)]
	if !ends {
		return false, nil
	}
	var made int64
	err := j.db.QueryRow(ctx, "SELECT at FROM journal_event WHERE seq = ?", x.seq).Scan(&made)
	if db.NoRows(err) {
		return false, nil
	}
	return err == nil && db.Time(made).Add(life).Before(j.db.Now()), err
}

func (j *Journal) stoodAt(tenant, subject string) stood {
	j.standing.mu.RLock()
	defer j.standing.mu.RUnlock()
	x, _ := j.standing.newest.at(place{tenant, subject})
	return x
}

// Broken says what is missing of the entries about lasting authority.
func (j *Journal) Broken() []string {
	j.standing.mu.RLock()
	defer j.standing.mu.RUnlock()
	return slices.Clone(j.standing.broken)
}

// spoken is a subject as people read it: grant:grt_x is "the grant grt_x".
func spoken(subject string) string {
	kind, id, _ := strings.Cut(subject, ":")
	return "the " + kind + " " + id
}

// seals finds the seals that an entry tells of and that were taken out of the database.
func (c *checker) seals(tx *db.Tx, e *Entry) error {
	if !strings.Contains(string(e.Payload), `"seals":{`) {
		return nil
	}
	var told struct {
		Seals map[string]string `json:"seals"`
	}
	if json.Unmarshal(e.Payload, &told) != nil {
		return nil // not a payload of ours; whether it was changed is looked at elsewhere
	}
	for subject, digest := range told.Seals {
		var stored []byte
		err := tx.QueryRow("SELECT digest FROM journal_seal WHERE tenant = ? AND subject = ? AND seq = ?", e.Tenant, subject, e.Seq).Scan(&stored)
		switch {
		case db.NoRows(err):
			c.report.find(Orphan, e.Seq, "entry %d (%s) vouches for %s, and its seal is gone", e.Seq, e.Type, spoken(subject))
		case err != nil:
			return err
		case hex.EncodeToString(stored) != digest:
			c.report.find(Orphan, e.Seq, "the seal of entry %d (%s) is not the one that it tells of: %s", e.Seq, e.Type, spoken(subject))
		}
	}
	return nil
}

// told is a payload that names what an entry vouches for.
func told(seals []Seal) map[string]string {
	held := map[string]string{}
	for _, s := range seals {
		held[s.Subject] = hex.EncodeToString(s.Digest[:])
	}
	return held
}

// SealsOf are rows as an event vouches for them.
func SealsOf(rows []op.Sealed) (out []Seal) {
	for _, r := range rows {
		out = append(out, Seal{r.Subject, Digest(r.Says...)})
	}
	return out
}
