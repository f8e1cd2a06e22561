package automation

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"tandem/internal/automation/spec"
	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/repo/diff"
)

// nameIn is the name in a definition, for policy; "" when it cannot be read, which add then says.
func nameIn(text string) string {
	if a, err := spec.Read([]byte(text)); err == nil {
		return a.Name
	}
	return ""
}

// How much a tenant keeps.
const (
	keptVersions   = 200  // of one automation
	maxAutomations = 1000 // of a tenant
)

func (r *Room) add(ctx context.Context, tx *db.Tx, in wire.AddIn) (*wire.Automation, error) {
	a, err := spec.Read([]byte(in.Text))
	if err != nil {
		var all spec.Problems
		if errors.As(err, &all) {
			return nil, fault.New(fault.Invalid, string(wire.Add), "this is no definition of an automation:\n%s", all.Error()).
				WithNext("mend it, and look again: tandem automation check FILE")
		}
		return nil, err
	}
	c, digest := op.CallerFrom(ctx), a.Digest()
	s, err := find(tx, c.Tenant, a.Name)
	if err != nil {
		return nil, err
	}
	if s == nil {
		var all int
		if err := tx.QueryRow("SELECT count(*) FROM automation WHERE tenant = ?", c.Tenant).Scan(&all); err != nil {
			return nil, err
		}
		if all >= maxAutomations {
			return nil, fault.New(fault.Exhausted, string(wire.Add), "there are %d automations already, as many as are kept", all).
				WithNext("remove one that nobody needs: tandem automation list")
		}
		s = &row{tenant: c.Tenant, Automation: wire.Automation{Name: a.Name, MadeBy: c.Name, MadeAt: tx.Now()}}
		if _, err := tx.Exec("INSERT INTO automation ("+columns+") VALUES (?, ?, '', '', '', '[]', ?, ?, '', 0, '')", s.tenant, s.Name, s.MadeBy,
			s.MadeAt); err != nil {
			return nil, err
		}
	}
	var n int
	if err := tx.QueryRow("SELECT count(*) FROM automation_version WHERE tenant = ? AND name = ?", c.Tenant, a.Name).Scan(&n); err != nil {
		return nil, err
	}
	if n >= keptVersions {
		return nil, fault.New(fault.Exhausted, string(wire.Add), "%s has %d versions already", a.Name, n).
			WithNext("remove it with its history and add it anew: tandem automation remove %s", a.Name)
	}
	_, err = tx.Exec("INSERT INTO automation_version ("+versionColumns+") VALUES (?, ?, ?, ?, '', ?, ?, '', 0) ON CONFLICT DO NOTHING",
		c.Tenant, a.Name, digest, in.Text, c.Name, tx.Now())
	if err != nil {
		return nil, err
	}
	s.Latest = digest
	op.Note(ctx, "digest", digest)
	return s.seen(a), s.save(tx)
}

// seen is an automation as people see it.
func (r *row) seen(a *spec.Automation) *wire.Automation {
	out := r.Automation
	out.Title, out.Triggers = a.Title, begins(a)
	return &out
}

func (r *Room) list(ctx context.Context, _ struct{}) (wire.ListOut, error) {
	out := wire.ListOut{Automations: []*wire.Automation{}}
	rows, err := r.DB.Query(ctx, "SELECT "+columns+" FROM automation WHERE tenant = ? ORDER BY name", op.CallerFrom(ctx).Tenant)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (*row, error) { return scan(rows) })
	if err != nil {
		return out, err
	}
	for _, s := range all {
		if !op.May(ctx, "automation.list", at(s.Name)) {
			continue
		}
		v, err := r.version(ctx, s, orElse(s.Live, s.Latest))
		if err != nil {
			return out, err
		}
		if s.Open, err = r.open(ctx, s); err != nil {
			return out, err
		}
		a, err := r.read(v)
		if err != nil { // somebody changed the database: it is listed all the same
			r.Log.Error("a definition cannot be read", "name", s.Name, "err", err)
			a = &spec.Automation{}
		}
		out.Automations = append(out.Automations, s.seen(a))
	}
	return out, nil
}

// open counts runs that have not ended.
func (r *Room) open(ctx context.Context, s *row) (n int, err error) {
	err = r.DB.QueryRow(ctx, "SELECT count(*) FROM automation_run WHERE tenant = ? AND name = ? AND ended_at = 0", s.tenant, s.Name).Scan(&n)
	return n, err
}

func (r *Room) version(ctx context.Context, s *row, digest string) (*version, error) {
	return scanVersion(r.DB.QueryRow(ctx, "SELECT "+versionColumns+
		" FROM automation_version WHERE tenant = ? AND name = ? AND digest = ?", s.tenant, s.Name, digest))
}

func (r *Room) show(ctx context.Context, in wire.ShowIn) (*wire.Version, error) {
	tenant := op.CallerFrom(ctx).Tenant
	s, err := scan(r.DB.QueryRow(ctx, "SELECT "+columns+" FROM automation WHERE tenant = ? AND name = ?", tenant, in.Name))
	if db.NoRows(err) {
		return nil, op.NoSuch("automation", in.Name)
	}
	if err != nil {
		return nil, err
	}
	all, err := r.versions(ctx, tenant, in.Name)
	if err != nil {
		return nil, err
	}
	want := orElse(in.Digest, s.Latest)
	for _, v := range all {
		if !strings.HasPrefix(v.digest, want) {
			continue
		}
		a, err := r.read(v)
		if err != nil {
			return nil, err
		}
		if s.Open, err = r.open(ctx, s); err != nil {
			return nil, err
		}
		ungranted, err := r.ungranted(ctx, tenant, a)
		if err != nil {
			return nil, err
		}
		return &wire.Version{Automation: *s.seen(a), Digest: v.digest, Text: v.text, Changes: changes(all, s.Live, v), May: may(a),
			Shape:   shape(a),
			Unbuilt: r.cannot(a), Ungranted: ungranted, AddedBy: v.madeBy, AddedAt: v.madeAt, ApprovedBy: v.approvedBy}, nil
	}
	return nil, fault.New(fault.NotFound, string(wire.Show), "%s has no version %.64q", in.Name, in.Digest).
		WithNext("see the newest: tandem automation show %s", in.Name)
}

// shape is the picture of a definition.
func shape(a *spec.Automation) (out []wire.Shape) {
	needs := a.Needs()
	for i := range a.Nodes {
		n := &a.Nodes[i]
		out = append(out, wire.Shape{Node: n.ID, Kind: n.Kind(), After: needs[n.ID]})
	}
	return out
}

// ungranted are the folders of a definition in which nobody may work yet.
func (r *Room) ungranted(ctx context.Context, tenant string, a *spec.Automation) (out []string, err error) {
	look := func(folder string) {
		granted, failed := r.Granted(ctx, tenant, folder)
		if failed != nil {
			err = failed
		} else if !granted && !slices.Contains(out, folder) {
			out = append(out, folder)
		}
	}
	for _, t := range a.Triggers {
		if t.Folder != "" {
			look(t.Folder)
		}
	}
	each(a, func(_ *spec.Node, b *spec.Body) {
		for _, folder := range b.Folders() {
			look(folder)
		}
	})
	return out, err
}

// changes is what a version changes against the one that is switched on, "" where that is none or the same.
func changes(all []*version, live string, v *version) string {
	i := slices.IndexFunc(all, func(o *version) bool { return o.digest == live })
	if i < 0 || live == v.digest {
		return ""
	}
	return diff.Unified([]byte(all[i].text), []byte(v.text), 3)
}
