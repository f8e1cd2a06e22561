package op

import (
	"context"
	"slices"
)

// Sealed is a row that confers authority: which it is, and what it says. The journal vouches for it, or it does not count.
type Sealed struct {
	Tenant, Subject string   // the subject begins with its kind: grant:grt_…
	Says            []string // nothing for a row that confers nothing any more
	What            string   // for people
	Over            bool     // it goes on no more: nobody is asked whether it is right
}

// Vouch is what rooms ask the journal about rows that confer authority. The zero Vouch is a room without a journal, as in a
// test of that room alone: every row counts there.
type Vouch struct {
	// Says reports whether the newest entry about a subject vouches for exactly these words.
	Says func(tenant, subject string, says []string) bool
	// Stand are the subjects of a kind that entries speak of and that have not ended.
	Stand func(tenant, kind string) []string
	// Stands reports whether an entry speaks of a subject that has not ended.
	Stands func(tenant, subject string) bool
	// Turn counts the changes of a kind, for whoever keeps something that was made of its rows.
	Turn func(kind string) int64
	// Since are the subjects of a kind of a tenant of which entries spoke after a turn; known is false where they are not known any more.
	Since func(tenant, kind string, turn int64) (subjects []string, known bool)
	// Whole reports whether no entry about authority is missing.
	Whole func() bool
}

// Asks reports whether there is a journal to ask.
func (v Vouch) Asks() bool { return v.Says != nil }

// Holds reports whether a row counts: its newest entry, or the call that is under way, vouches for what it says.
func (v Vouch) Holds(ctx context.Context, s Sealed) bool {
	if !v.Asks() {
		return true
	}
	if n, _ := ctx.Value(noteKey{}).(*Notes); n != nil {
		if says, ok := n.Seals[s.Subject]; ok {
			return len(says) > 0 && slices.Equal(says, s.Says)
		}
	}
	return v.Says(s.Tenant, s.Subject, s.Says)
}

// Knows reports whether an entry speaks of a subject that has not ended, whatever its row says.
func (v Vouch) Knows(tenant, subject string) bool { return v.Asks() && v.Stands(tenant, subject) }

// Rows are what the notes vouch for.
func (n *Notes) Rows(tenant string) (out []Sealed) {
	for subject, says := range n.Seals {
		out = append(out, Sealed{Tenant: tenant, Subject: subject, Says: says})
	}
	return out
}

// Row has the event of this call vouch for a row.
func Row(ctx context.Context, s Sealed) { Seal(ctx, s.Subject, s.Says...) }
