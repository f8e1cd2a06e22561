package knowledge

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/knowledge/wire"
	"tandem/internal/op"
)

// Bounds of knowledge spaces.
const (
	maxSpaces  = 500
	maxPurpose = 1000
	maxNames   = 50
	maxDays    = 3650
)

var (
	nameForm   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	readerForm = regexp.MustCompile(`^((person|agent|service):[^\s:]{1,100}|session:\*)$`)
)

func bad(format string, args ...any) *fault.Error {
	return fault.New(fault.Invalid, "knowledge", format, args...)
}

func noSpace(name string) error {
	return fault.New(fault.NotFound, "knowledge", "there is no knowledge space %.64q", name).
		WithNext("see what there is: tandem knowledge list")
}

func noItem(id string) error {
	return fault.New(fault.NotFound, "knowledge", "there is no item %.64q", id).WithNext("see what there is: tandem knowledge show SPACE")
}

// at is what policy calls a knowledge space.
func at(name string) op.Resource { return op.Resource{Kind: "knowledge", Path: "/" + name} }

// people reports whether somebody looks who may see what waits for a person: a person, or the program that a person types into.
func people(c op.Caller) bool { return c.Kind == op.Person || c.Kind == op.Local }

// reads reports whether a caller may read a knowledge space: policy lets it, and it is itself among the readers. An agent is not one
// because it works for one. Owners always are, and so is who sits at the server's own machine.
func reads(ctx context.Context, k *space) bool {
	c := op.CallerFrom(ctx)
	if k.forged || !op.May(ctx, "knowledge.read", at(k.Name)) {
		return false
	}
	who := []string{string(c.Kind) + ":" + c.Name}
	if c.Kind == op.Local { // a person's terminal elsewhere
		who = c.For
	}
	return len(k.Readers) == 0 || c.Here() || c.Kind == op.Session && slices.Contains(k.Readers, "session:*") ||
		slices.ContainsFunc(who, func(w string) bool {
			name, person := strings.CutPrefix(w, string(op.Person)+":")
			return slices.Contains(k.Readers, w) || person && slices.Contains(k.Owners, name)
		})
}

// answers refuses who does not answer for a knowledge space. Who administers the house does for all of them: owners leave.
func answers(ctx context.Context, k *space) error {
	c := op.CallerFrom(ctx)
	if c.Kind == op.Person && !k.forged && slices.Contains(k.Owners, c.Name) || op.May(ctx, "knowledge.admin", at(k.Name)) {
		return nil
	}
	return fault.New(fault.Denied, "knowledge", "%s is for its owners to change: %s", k.Name, strings.Join(k.Owners, ", ")).
		WithNext("ask one of them")
}

// check refuses what a knowledge space cannot be.
func (k *space) check() error {
	switch {
	case !nameForm.MatchString(k.Name) || k.Name == "ask" || k.Name == "item" || strings.HasPrefix(k.Name, "kno_"):
		return bad("%.64q is no name for a knowledge space", k.Name).
			WithNext("a name has letters, digits, dots, hyphens and underscores, at most 64; ask, item and kno_… mean something else")
	case strings.TrimSpace(k.Purpose) == "":
		return bad("which questions does %s answer? its purpose is missing", k.Name).WithNext("say it in a sentence: --purpose")
	case len(k.Purpose) > maxPurpose || !plain(k.Purpose):
		return bad("a purpose is plain text of at most %d bytes", maxPurpose)
	case len(k.Owners) == 0 || len(k.Owners) > maxNames || len(k.Readers) > maxNames:
		return bad("a knowledge space has 1 to %d owners, and at most %d readers", maxNames, maxNames)
	case k.Trust != wire.Approved && k.Trust != wire.Sourced:
		return bad("%.40q is no trust", string(k.Trust)).WithNext("it is approved or sourced")
	case k.Days < 0 || k.Days > maxDays:
		return bad("items are fresh for 1 to %d days, or always", maxDays)
	}
	for _, o := range k.Owners {
		if o == "" || len(o) > 100 || !plain(o) {
			return bad("%.64q is no name of a person", o)
		}
	}
	for _, r := range k.Readers {
		if !readerForm.MatchString(r) {
			return bad("%.64q is no reader", r).
				WithNext("name person:NAME, agent:NAME, service:NAME or session:*; for groups leave readers out and grant: tandem grant add --help")
		}
	}
	return nil
}

func plain(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

func (r *Room) create(ctx context.Context, tx *db.Tx, in wire.CreateIn) (wire.Space, error) {
	c := op.CallerFrom(ctx)
	k := &space{Space: wire.Space{Name: in.Name, Purpose: in.Purpose, Owners: once(append([]string{c.Name}, in.Owners...)),
		Readers: once(in.Readers), Trust: in.Trust, Days: in.Days, MadeAt: tx.Now(), ChangedAt: tx.Now()}}
	if k.Trust == "" {
		k.Trust = wire.Approved
	}
	if err := k.check(); err != nil {
		return wire.Space{}, err
	}
	known, err := r.load(ctx, tx, c.Tenant, in.Name)
	if err != nil {
		return wire.Space{}, err
	}
	if known != nil {
		return wire.Space{}, fault.New(fault.Conflict, "knowledge", "there is a knowledge space %s already", in.Name).
			WithNext("choose another name, or see it: tandem knowledge show %s", in.Name)
	}
	var all int
	if err := tx.QueryRow("SELECT count(*) FROM knowledge WHERE tenant = ?", c.Tenant).Scan(&all); err != nil {
		return wire.Space{}, err
	}
	if all >= maxSpaces {
		return wire.Space{}, fault.New(fault.Exhausted, "knowledge", "there are %d knowledge spaces already", all).
			WithNext("remove one that nobody needs: tandem knowledge list")
	}
	if k.nr, err = number(tx, c.Tenant); err != nil {
		return wire.Space{}, err
	}
	op.Note(ctx, "name", k.Name)
	op.Row(ctx, k.seal(c.Tenant))
	return k.Space, insert(tx, c.Tenant, k)
}

func once(all []string) []string {
	out := []string{}
	for _, s := range all {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// knows reports whether a caller may know of a knowledge space: who administers the house knows of all, and reads not all of them.
func knows(ctx context.Context, k *space) bool {
	return reads(ctx, k) || op.May(ctx, "knowledge.admin", at(k.Name))
}

// held is a knowledge space that the caller answers for, for who changes it.
func (r *Room) held(ctx context.Context, tx *db.Tx, name string) (*space, error) {
	k, err := r.load(ctx, tx, op.CallerFrom(ctx).Tenant, name)
	if err == nil && (k == nil || !knows(ctx, k)) {
		err = noSpace(name)
	}
	if err == nil {
		err = answers(ctx, k)
	}
	return k, err
}

func (r *Room) change(ctx context.Context, tx *db.Tx, in wire.ChangeIn) (wire.Space, error) {
	k, err := r.held(ctx, tx, in.Name)
	if err == nil && k.forged && (in.Owners == nil || in.Readers == nil || in.Trust == "") {
		err = forged(in.Name) // what is left out would be the row's word
	}
	if err != nil {
		return wire.Space{}, err
	}
	if in.Purpose != nil {
		k.Purpose = *in.Purpose
	}
	if in.Owners != nil {
		k.Owners = once(*in.Owners)
	}
	if in.Readers != nil {
		k.Readers = once(*in.Readers)
	}
	if in.Trust != "" {
		k.Trust = in.Trust
	}
	if in.Days != nil {
		k.Days = *in.Days
	}
	if err := k.check(); err != nil {
		return wire.Space{}, err
	}
	k.ChangedAt = tx.Now()
	op.Note(ctx, "name", k.Name)
	op.Row(ctx, k.seal(op.CallerFrom(ctx).Tenant))
	if err := store(tx, op.CallerFrom(ctx).Tenant, k); err != nil {
		return wire.Space{}, err
	}
	return k.Space, count(tx, op.CallerFrom(ctx).Tenant, k)
}

// Reads says whether the caller may read a knowledge space of this name.
func (r *Room) Reads(ctx context.Context, name string) (may bool, err error) {
	err = r.db.Read(ctx, func(tx *db.Tx) error {
		all, err := r.spaces(ctx, tx, name)
		may = len(all) > 0
		return err
	})
	return may, err
}

// Teach adds documents to a knowledge space for whoever installs them, and makes it where there is none. They answer nobody until an owner
// promoted them.
func (r *Room) Teach(ctx context.Context, tx *db.Tx, in wire.CreateIn, items []wire.AddIn) error {
	k, err := r.load(ctx, tx, op.CallerFrom(ctx).Tenant, in.Name)
	if err == nil && k == nil {
		_, err = r.create(ctx, tx, in)
	}
	for _, i := range items {
		if err == nil {
			i.Name = in.Name
			_, err = r.add(ctx, tx, i)
		}
	}
	return err
}
