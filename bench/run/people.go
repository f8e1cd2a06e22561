package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/policy"
	"tandem/internal/policy/book"
)

// size is how many there are of what.
type size struct{ tenants, people, groups, grants int }

// The houses that are measured: of a company, and of a desk beside it. Who is asked about has as many grants in both.
var company, desk = size{50, 10_000, 1_000, 100_000}, size{1, 10, 1, 100}

// folk is a database with many people, and the rooms over it.
type folk struct {
	db     *db.DB
	book   *book.Book
	people *identity.Room
	table  map[string]op.Op
	given  int // grants that were given since
	next   int // the person who comes next
}

// people measures decisions and lists where there are very many people, groups and grants, spread over tenants.
func people(int) (section, error) {
	c := company
	s := section{title: "Many people", how: fmt.Sprintf("%d people, %d groups, %d grants and %d tenants in one SQLite file; the house itself "+
		"has nine tenths of all. Decisions are measured in turns with a house of %d people and %d grants. In the server's own process, "+
		"without HTTP and without the journal, by the processor's time; a list's page has 500 rows.",
		c.people, c.groups, c.grants, c.tenants, desk.people, desk.grants)}
	var both [2]*folk
	for i, h := range []size{company, desk} {
		dir, err := scratch(fmt.Sprint("people", i))
		if err != nil {
			return s, err
		}
		if both[i], err = newFolk(dir); err != nil {
			return s, err
		}
		defer both[i].db.Close()
		if err := both[i].fill(h); err != nil {
			return s, err
		}
	}
	var err error
	if s.figures, err = decisions(both); err != nil {
		return s, err
	}
	lists, err := both[0].lists()
	s.figures = append(s.figures, lists...)
	return s, err
}

func newFolk(dir string) (*folk, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	ctx := context.Background()
	d, err := db.Open(ctx, filepath.Join(dir, "people.db"), time.Now)
	if err != nil {
		return nil, err
	}
	f := &folk{db: d, table: map[string]op.Op{}}
	if _, err := d.Migrate(ctx, book.Migrations, identity.Migrations); err != nil {
		return nil, err
	}
	if f.people, err = identity.New(ctx, d); err != nil {
		return nil, err
	}
	f.book = book.New(d, nobodyByName, func(string) (book.Wants, bool) { return book.Wants{}, false })
	f.people.Owners = f.book.Owners
	for _, o := range slices.Concat(f.book.Ops(), f.people.Ops()) {
		f.table[o.Name] = o
	}
	return f, nil
}

func nobodyByName(_ context.Context, _, name string) (policy.PrincipalRef, []policy.PrincipalRef, error) {
	return policy.PrincipalRef{}, nil, fault.New(fault.NotFound, "actor", "there is no actor %s", name)
}

// of is the context of an owner of a tenant, who may see everything.
func (f *folk) of(tenant string) context.Context {
	c := op.Caller{Tenant: tenant, Actor: identity.WellKnown(identity.Owner), Name: identity.Owner, Kind: op.Person, Present: "pin"}
	return op.WithMay(op.WithCaller(context.Background(), c), func(string, op.Resource) bool { return true })
}

// decide answers for a person who may read what is asked about.
func (f *folk) decide(person int) error {
	ctx := f.of(identity.LocalTenant)
	c, err := f.book.Policy(ctx, identity.LocalTenant)
	if err != nil {
		return err
	}
	who := policy.StrictTenantContext{Tenant: identity.LocalTenant,
		Principal: policy.PrincipalRef{Kind: policy.Person, ID: personName(person)}}
	at := policy.ResourceRef{Kind: policy.KindFolder, Path: fmt.Sprintf("/srv/%d/src", person)}
	if d := c.View(who, time.Now()).Decide(policy.Request{Right: "folder.read", Resource: at}); d.Effect != policy.Allow {
		return fmt.Errorf("the measured decision should be allow: %+v", d)
	}
	return nil
}

// newcomer decides for somebody who was not here since the policy became different.
func (f *folk) newcomer() error {
	f.next = f.next%(desk.people-2) + 2
	return f.decide(f.next)
}

// decisions are a caller's that was here before, a newcomer's, and the first after a grant was given: in both houses, in turns.
func decisions(both [2]*folk) (out []figure, err error) {
	nothing := func(*folk) error { return nil }
	give := func(f *folk) error { return f.give(1) }
	warm := func(f *folk) error { return f.decide(1) }
	for _, f := range both {
		if err := warm(f); err != nil {
			return nil, err
		}
	}
	for _, m := range []struct {
		what        string
		n           int
		before, run func(*folk) error
	}{
		{"a decision about a caller who was here before", 2001, nothing, warm},
		{"the first decision about a caller", 101, func(f *folk) error { return errors.Join(give(f), warm(f)) }, (*folk).newcomer},
		{"the first decision after a grant was given", 101, give, warm},
		{"a grant is given", 101, nothing, give},
	} {
		took, err := inTurns(m.n, both[:], m.before, m.run)
		if err != nil {
			return nil, err
		}
		out = append(out, figure{what: m.what, value: precise(took[0]), compared: precise(took[1]) + " at a desk", target: "1.5 ×",
			met: float64(took[0]) <= 1.5*float64(took[1])})
	}
	return out, nil
}

// inTurns measures the same in houses, one after the other each time, and says the medians.
func inTurns(n int, all []*folk, before, run func(*folk) error) (took []time.Duration, err error) {
	each := make([][]time.Duration, len(all))
	for range n {
		for i, f := range all {
			if err := before(f); err != nil {
				return took, err
			}
			began := worked()
			if err := run(f); err != nil {
				return took, err
			}
			each[i] = append(each[i], worked()-began)
		}
	}
	for _, times := range each {
		slices.Sort(times)
		took = append(took, times[n/2])
	}
	return took, nil
}

// give gives somebody another grant.
func (f *folk) give(person int) error {
	ctx, give := f.of(identity.LocalTenant), f.table["grant.add"]
	f.given++
	in := book.GrantIn{Principal: "person:" + personName(person), Resource: fmt.Sprintf("folder:/srv/new%d", f.given),
		Permissions: []string{"read"}}
	return f.db.Write(ctx, func(tx *db.Tx) error { _, err := give.RunState(ctx, tx, in); return err })
}

// lists are the first page and one in the middle of each.
func (f *folk) lists() (all []figure, err error) {
	ctx := f.of(identity.LocalTenant)
	for _, l := range []struct {
		what, name string
		in         any
	}{
		{"grants, the first page", "grant.list", book.GrantsIn{}},
		{"grants, a page in the middle", "grant.list", book.GrantsIn{After: grantName(company.grants / 2)}},
		{"the grants of one person", "grant.list", book.GrantsIn{Principal: "person:" + personName(7)}},
		{"who has access, the first page", "access.list", book.AccessIn{}},
		{"who has access, a page in the middle", "access.list", book.AccessIn{After: grantName(company.grants/2) + " x"}},
		{"groups, the first page", "group.list", book.GroupsIn{}},
		{"people, the first page", "person.list", identity.PeopleIn{}},
		{"people, a page in the middle", "person.list", identity.PeopleIn{After: personName(company.people / 2)}},
		{"people with 99 in their names", "person.list", identity.PeopleIn{Like: "99"}},
		{"machines, the first page", "device.list", identity.DevicesIn{}},
		{"actors, the first page", "actor.list", identity.ActorsIn{}},
		{"actors, a page in the middle", "actor.list", identity.ActorsIn{After: personName(company.people / 2)}},
		{"tokens, the first page", "token.list", identity.TokensIn{}},
		{"the tokens of one actor", "token.list", identity.TokensIn{Actor: personName(7) + "-desk"}},
		{"invitations, the first page", "join.invites", identity.PageIn{}},
		{"sign-ins, the first page", "signin.list", identity.BrowsersIn{}},
		{"the sign-ins of one person", "signin.list", identity.BrowsersIn{Person: personName(7)}},
		{"tenants", "tenant.list", identity.PageIn{}},
	} {
		read := f.table[l.name]
		list := func(*folk) error { _, err := read.RunRead(ctx, l.in); return err }
		took, failed := inTurns(9, []*folk{f}, func(*folk) error { return nil }, list)
		err = errors.Join(err, failed)
		all = append(all, figure{what: l.what, value: precise(took[0]), target: "< 100 ms", met: took[0] < 100*time.Millisecond})
	}
	return all, err
}

// precise is a time of whatever size.
func precise(d time.Duration) string {
	if d < time.Millisecond {
		return fmt.Sprintf("%.1f µs", float64(d.Nanoseconds())/1000)
	}
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}
