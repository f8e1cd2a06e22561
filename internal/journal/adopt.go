package journal

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// Rows from before the journal vouched for any are adopted once: it vouches for them as they stand, and a person who is present
// confirms the list. They count meanwhile. What appears later without an entry is never adopted.
const (
	adoption  = "adoption"
	begun     = "adoption:begun"
	ended     = "adoption:ended"
	confirmed = "adoption:confirmed"
	arrived   = "adoption:arrived:" // and a tenant that came from another server
	looked    = "adoption:looked:"  // and a tenant of which a person saw and confirmed that

	adoptAtOnce = 500 // seals of one entry
)

// Adopt vouches for rows that were there before. Markers in the first and the last entry say which entries these are.
func (j *Journal) Adopt(ctx context.Context, tenant, actor string, rows []op.Sealed) error {
	return j.db.Write(ctx, func(tx *db.Tx) error { return j.AdoptIn(tx, tenant, actor, nil, rows) })
}

// Came is a tenant that came from another server, and the digest of the file in which it did.
type Came struct{ Tenant, File string }

// AdoptIn is Adopt in a transaction that is under way: of rows that a tenant brings which came from another server.
func (j *Journal) AdoptIn(tx *db.Tx, tenant, actor string, came *Came, rows []op.Sealed) error {
	if _, err := lockHead(tx); err != nil {
		return err
	}
	rows, err := j.unspoken(tx, rows) // another server may have moved some since they were listed
	if err != nil {
		return err
	}
	if err := j.adoptAll(tx, actor, rows, true); err != nil {
		return err
	}
	if err := j.adopt(tx, tenant, actor, []op.Sealed{{Tenant: tenant, Subject: begun, Says: []string{"rows from before"}}}); err != nil {
		return err
	}
	if came != nil {
		mark := op.Sealed{Tenant: tenant, Subject: arrived + came.Tenant, Says: []string{came.Tenant, came.File}}
		if err := j.adopt(tx, tenant, actor, []op.Sealed{mark}); err != nil {
			return err
		}
	}
	if err := j.adoptAll(tx, actor, rows, false); err != nil {
		return err
	}
	return j.adopt(tx, tenant, actor, []op.Sealed{{Tenant: tenant, Subject: ended, Says: []string{"rows from before"}}})
}

// adoptAll adopts rows of all tenants: those that are over, about which nobody is asked, or the others.
func (j *Journal) adoptAll(tx *db.Tx, actor string, rows []op.Sealed, over bool) error {
	byTenant := map[string][]op.Sealed{}
	for _, r := range rows {
		if r.Over == over {
			byTenant[r.Tenant] = append(byTenant[r.Tenant], r)
		}
	}
	for of, list := range byTenant {
		for part := range slices.Chunk(list, adoptAtOnce) {
			if err := j.adopt(tx, of, actor, part); err != nil {
				return err
			}
		}
	}
	return nil
}

// Unconfirmed counts what a person has yet to confirm of a tenant.
func (j *Journal) Unconfirmed(tenant string) (n int) {
	for _, at := range j.waiting() {
		if at.tenant == tenant {
			n++
		}
	}
	// whichever list was confirmed since, it is this tenant's own that counts
	if at := j.standing.seen(houseTenant, arrived+tenant); n == 0 && at > 0 && at > j.standing.seen(houseTenant, looked+tenant) {
		n = 1
	}
	return n
}

// adopted recalls the passing rows of adoptions that nobody confirmed and that have not moved since. The lock of what stands is held.
func (j *Journal) adopted(ctx context.Context) error {
	return j.db.Read(ctx, func(tx *db.Tx) error {
		for _, in := range j.standing.spans {
			rows, err := tx.Query(`SELECT s.tenant, s.subject, s.seq, s.digest, s.mac, s.chain, e.leaf FROM journal_seal s
				JOIN journal_event e ON e.seq = s.seq WHERE s.chain IS NULL AND s.seq > ? AND s.seq < ? AND NOT EXISTS
				(SELECT 1 FROM journal_seal n WHERE n.tenant = s.tenant AND n.subject = s.subject AND n.seq > s.seq)`, in.begun, in.ended)
			all, err := scanLasting(rows, err)
			if err != nil {
				return err
			}
			for _, x := range all {
				if j.vouched(x.mac, x.tenant, x.Seal, x.seq, x.leaf) {
					j.standing.newest.put(place{x.tenant, x.Subject}, stood{x.seq, x.Digest})
				}
			}
		}
		return nil
	})
}

func (j *Journal) adopt(tx *db.Tx, tenant, actor string, rows []op.Sealed) error {
	seals := SealsOf(rows)
	payload, err := json.Marshal(map[string]any{"seals": told(seals)})
	if err != nil {
		return err
	}
	_, err = j.Append(tx, Event{Tenant: tenant, Type: "audit.adopt", Actor: actor, Resource: "journal:/", Payload: payload, Seals: seals})
	return err
}

// AdoptedRow is one row that was there before the journal vouched for any.
type AdoptedRow struct {
	Subject string `json:"subject" jsonschema:"kind:id"`
	What    string `json:"what"`
}

// AdoptedOut is what a person has to confirm.
type AdoptedOut struct {
	Rows    []AdoptedRow `json:"rows" jsonschema:"what was there before the journal vouched for such rows, and still stands"`
	Missing []string     `json:"missing,omitempty" jsonschema:"what is missing of the journal's own seals"`
	Digest  string       `json:"digest" jsonschema:"names exactly this list; confirming it needs it"`
}

// ConfirmIn confirms a list.
type ConfirmIn struct {
	Digest string `json:"digest" jsonschema:"the digest of the list that was looked at"`
}

// ConfirmOut counts what was confirmed.
type ConfirmOut struct {
	Confirmed int `json:"confirmed"`
}

func (j *Journal) adoptOps() []op.Op {
	return []op.Op{
		AuditAdopted.Read(op.Spec{Right: "journal.read", Method: "GET", Path: "/audit/adopted", MCP: "-",
			Doc: "List what waits for a person's word: grants, tokens and the like that are older than the journal's word about them."},
			whole[struct{}], func(ctx context.Context, _ struct{}) (*AdoptedOut, error) { return j.Adopted(ctx) }),
		AuditConfirm.State(op.Spec{Right: "journal.admin", Method: "POST", Path: "/audit/confirm", Present: true, People: true,
			MCP: "-",
			Doc: "Confirm that what audit.adopted lists is right. Needs a person present; what is not right is revoked before."},
			whole[ConfirmIn], j.confirm),
	}
}

// waits leaves out the marks of adoptions themselves, but that a tenant came.
func waits(subject string) bool {
	return kindOf(subject) != adoption || strings.HasPrefix(subject, arrived)
}

// waiting are the adopted subjects that still stand as they were adopted and that nobody confirmed.
func (j *Journal) waiting() (out []place) {
	s := &j.standing
	s.mu.RLock()
	defer s.mu.RUnlock()
	for at, x := range s.newest.all() {
		came, _ := strings.CutPrefix(at.subject, arrived)
		if s.wiped[at.tenant].seq > 0 || s.wiped[came].seq > 0 {
			continue // a tenant that was erased since
		}
		in := func(a span) bool { return x.seq > a.begun && x.seq < a.ended }
		if x.digest != nothing && waits(at.subject) && slices.ContainsFunc(s.spans, in) {
			out = append(out, at)
		}
	}
	slices.SortFunc(out, func(a, b place) int { return strings.Compare(a.tenant+"\n"+a.subject, b.tenant+"\n"+b.subject) })
	return out
}

// Mend is what a person's word sets back in the database: what the program itself knows better than its rows.
type Mend struct {
	// What says what would be set back.
	What func(tx *db.Tx) ([]string, error)
	// Do sets it back.
	Do func(tx *db.Tx) error
}

// missing is what is missing of the seals, and what would be set back.
func (j *Journal) missing(tx *db.Tx) ([]string, error) {
	out := j.Broken()
	if j.Mend.What == nil {
		return out, nil
	}
	rows, err := j.Mend.What(tx)
	for _, text := range rows {
		out = append(out, text+"; confirming sets it back")
	}
	return out, err
}

// list names exactly what waits.
func (j *Journal) list(all []place, words []string) string {
	words = slices.Clone(words)
	for _, at := range all {
		d := j.stoodAt(at.tenant, at.subject).digest
		words = append(words, at.tenant, at.subject, hex.EncodeToString(d[:]))
	}
	d := Digest(words...)
	return hex.EncodeToString(d[:])
}

// Waiting counts what a person has to confirm.
func (j *Journal) Waiting() int { return len(j.waiting()) + len(j.Broken()) }

// Adopted lists it.
func (j *Journal) Adopted(ctx context.Context) (*AdoptedOut, error) {
	waiting := j.waiting()
	var missing []string
	err := j.db.Read(ctx, func(tx *db.Tx) (err error) { missing, err = j.missing(tx); return err })
	if err != nil {
		return nil, err
	}
	out := &AdoptedOut{Rows: []AdoptedRow{}, Missing: missing, Digest: j.list(waiting, missing)}
	what := map[place]string{}
	for _, list := range j.Rows {
		all, err := list(ctx)
		if err != nil {
			return nil, err
		}
		for _, r := range all {
			what[place{r.Tenant, r.Subject}] = r.What
		}
	}
	for _, at := range waiting {
		if c := op.CallerFrom(ctx).Tenant; at.tenant != c && c != houseTenant {
			continue
		}
		text := what[at]
		if came, ok := strings.CutPrefix(at.subject, arrived); ok {
			text = "the tenant " + came + ", which came from another server with what is listed as its own"
		}
		if text == "" {
			text = spoken(at.subject) + ", which is gone from the database"
		}
		if at.tenant != op.CallerFrom(ctx).Tenant {
			text += ", in the tenant " + at.tenant
		}
		out.Rows = append(out.Rows, AdoptedRow{at.subject, text})
	}
	return out, nil
}

func (j *Journal) confirm(ctx context.Context, tx *db.Tx, in ConfirmIn) (ConfirmOut, error) {
	waiting := j.waiting()
	missing, err := j.missing(tx)
	if err != nil {
		return ConfirmOut{}, err
	}
	n := len(waiting) + len(missing)
	switch {
	case n == 0:
		return ConfirmOut{}, fault.New(fault.Conflict, "audit.confirm", "nothing waits to be confirmed")
	case in.Digest != j.list(waiting, missing):
		return ConfirmOut{}, fault.New(fault.Conflict, "audit.confirm", "the list is not the one that was looked at").
			WithNext("look again: tandem audit confirm")
	}
	op.Seal(ctx, confirmed, in.Digest)
	for _, at := range waiting {
		if came, ok := strings.CutPrefix(at.subject, arrived); ok {
			op.Seal(ctx, looked+came, in.Digest)
		}
	}
	op.Note(ctx, "confirmed", n)
	if j.Mend.Do != nil {
		err = j.Mend.Do(tx)
	}
	return ConfirmOut{n}, err
}
