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

// The house that is measured: of a company, not of a desk.
const manyPeople, manyGroups, manyGrants, manyTenants = 10_000, 1_000, 100_000, 50

// folk is a database with many people, and the rooms over it.
type folk struct {
	db     *db.DB
	book   *book.Book
	people *identity.Room
	table  map[string]op.Op
	given  int // grants that were given since
}

// people measures decisions and lists where there are very many people, groups and grants, spread over tenants.
func people(int) (section, error) {
	s := section{title: "Many people", how: fmt.Sprintf("%d people, %d groups, %d grants and %d tenants in one SQLite file; the house itself "+
		"has nine tenths of all. In the server's own process, without HTTP and without the journal; a list's page has 500 rows.",
		manyPeople, manyGroups, manyGrants, manyTenants)}
	dir, err := scratch("people")
	if err != nil {
		return s, err
	}
	f, err := newFolk(dir)
	if err != nil {
		return s, err
	}
	defer f.db.Close()
	if err := f.fill(); err != nil {
		return s, err
	}
	if s.figures, err = f.decisions(); err != nil {
		return s, err
	}
	lists, err := f.lists()
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

// decisions are a caller's that was here before, a newcomer's, and the first after somebody was granted something.
func (f *folk) decisions() ([]figure, error) {
	ctx := f.of(identity.LocalTenant)
	decide := func(person int) error {
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
	if err := decide(1); err != nil {
		return nil, err
	}
	nothing := func(int) error { return nil }
	warm, err := median(1000, nothing, func() error { return decide(1) })
	if err != nil {
		return nil, err
	}
	newcomer := 2
	cold, err := median(101, nothing, func() error { newcomer += 10; return decide(newcomer) })
	if err != nil {
		return nil, err
	}
	after, err := median(5, func(int) error { return f.give(1) }, func() error { return decide(1) })
	if err != nil {
		return nil, err
	}
	given, err := median(5, nothing, func() error { return f.give(1) })
	return []figure{
		{what: "a decision about a caller who was here before", value: precise(warm)},
		{what: "the first decision about a caller", value: precise(cold)},
		{what: "the first decision after a grant was given", value: precise(after)},
		{what: "a grant is given", value: precise(given)},
	}, err
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
		{"grants, a page in the middle", "grant.list", book.GrantsIn{After: grantName(manyGrants / 2)}},
		{"the grants of one person", "grant.list", book.GrantsIn{Principal: "person:" + personName(7)}},
		{"who has access, the first page", "access.list", book.AccessIn{}},
		{"who has access, a page in the middle", "access.list", book.AccessIn{After: grantName(manyGrants/2) + " x"}},
		{"groups, the first page", "group.list", book.GroupsIn{}},
		{"people, the first page", "person.list", identity.PeopleIn{}},
		{"people, a page in the middle", "person.list", identity.PeopleIn{After: personName(manyPeople / 2)}},
		{"people with 99 in their names", "person.list", identity.PeopleIn{Like: "99"}},
		{"machines, the first page", "device.list", identity.DevicesIn{}},
	} {
		read := f.table[l.name]
		took, failed := median(9, func(int) error { return nil }, func() error { _, err := read.RunRead(ctx, l.in); return err })
		err = errors.Join(err, failed)
		all = append(all, figure{what: l.what, value: precise(took), target: "< 100 ms", met: took < 100*time.Millisecond})
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
