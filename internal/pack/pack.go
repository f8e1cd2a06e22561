// Package pack installs what belongs together: automations with their prompts, what they are allowed, and what they know. A person who is
// present installs exactly what was looked at, by its digest, in one change; a newer one is shown as what it changes. What a pack brings
// is what automations, grants and knowledge spaces are by themselves: it has no authority of its own.
//
// It refuses a pack that would take over an automation which is not its own, and grants for anybody but its automations.
package pack

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	automation "tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/pack/wire"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are this room's tables.
var Migrations = db.Migrations{Room: "pack", FS: schema}

// Room is the service behind the operations of packs. The functions are what it does not own.
type Room struct {
	DB *db.DB
	// Shown is a definition as a person sees it before it is switched on, without being stored.
	Shown func(ctx context.Context, text string) (*automation.Version, error)
	// Has says whether there is an automation of this name.
	Has func(tx *db.Tx, tenant, name string) (bool, error)
	// On stores a definition, which has to be of this name, and switches it on; Off switches an automation off, and Gone removes it.
	On   func(ctx context.Context, tx *db.Tx, name, text string) error
	Off  func(ctx context.Context, tx *db.Tx, name string) error
	Gone func(ctx context.Context, tx *db.Tx, name string) error
	// Grant gives an automation what a pack says, in the name of the caller; Revoke takes it back, where it is one of these automations'.
	Grant  func(ctx context.Context, tx *db.Tx, g wire.Grant) (id string, err error)
	Revoke func(ctx context.Context, tx *db.Tx, id string, automations []string) error
	// Reads says whether the caller may read a knowledge space, which counts beside what policy says.
	Reads func(ctx context.Context, space string) (bool, error)
	// Teach puts a pack's documents into a knowledge space, which it makes where there is none.
	Teach func(ctx context.Context, tx *db.Tx, s wire.Space) error
}

// Ops is this room's front door.
func (r *Room) Ops() []op.Op {
	return []op.Op{
		wire.List.Read(op.Spec{Right: "automation.list", Method: "GET", Path: "/pack", MCP: "-", Doc: "List the packs that are installed."},
			func(struct{}) op.Resource { return at("") }, r.list),
		wire.Preview.Read(op.Spec{Right: "automation.read", Method: "POST", Path: "/pack/preview", MCP: "-",
			Doc: "Say what a pack would be allowed, and what it changes against the one that is installed. It changes nothing."},
			func(p wire.Pack) op.Resource { return at(p.Name) }, r.preview),
		wire.Install.State(op.Spec{Right: "automation.admin", Present: true, People: true, MCP: "-", Method: "POST", Path: "/pack",
			Doc: "Install a pack that was looked at: its automations are stored and switched on, and what it says is granted and taught. " +
				"Needs a person present."},
			func(in wire.InstallIn) op.Resource { return at(in.Pack.Name) }, r.install),
		wire.Remove.State(op.Spec{Right: "automation.delete", Present: true, People: true, Method: "DELETE", Path: "/pack/{name}", MCP: "-",
			Doc: "Remove a pack: its automations are switched off and removed, and what it was granted is taken back. Knowledge stays. " +
				"Needs a person present."},
			func(in wire.NameIn) op.Resource { return at(in.Name) }, r.remove),
	}
}

func at(name string) op.Resource { return op.Resource{Kind: "automation", Path: "/" + name} }

// row is a pack as it is stored.
type row struct {
	wire.Installed
	pack   wire.Pack
	grants []string
}

const columns = "name, digest, body, grants, by_name, at"

func scan(rows interface{ Scan(...any) error }) (*row, error) {
	var r row
	var body, grants string
	var when int64
	err := rows.Scan(&r.Name, &r.Digest, &body, &grants, &r.By, &when)
	if err == nil {
		err = json.Unmarshal([]byte(body), &r.pack)
	}
	if err == nil {
		err = json.Unmarshal([]byte(grants), &r.grants)
	}
	r.At, r.Title, r.Version, r.Automations = db.Time(when), r.pack.Title, r.pack.Version, names(r.pack)
	return &r, err
}

func names(p wire.Pack) []string {
	out := []string{}
	for _, a := range p.Automations {
		out = append(out, a.Name)
	}
	return out
}

func (r *Room) list(ctx context.Context, _ struct{}) (wire.ListOut, error) {
	rows, err := r.DB.Query(ctx, "SELECT "+columns+" FROM pack WHERE tenant = ? ORDER BY name", op.CallerFrom(ctx).Tenant)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (*row, error) { return scan(rows) })
	out := wire.ListOut{Packs: []wire.Installed{}}
	for _, p := range all {
		p.Installed.Automations = slices.DeleteFunc(p.Installed.Automations,
			func(name string) bool { return !op.May(ctx, "automation.list", at(name)) })
		out.Packs = append(out.Packs, p.Installed)
	}
	return out, err
}

// find reads what is installed under a name, nil when nothing is.
func find(q interface {
	QueryRow(string, ...any) *sql.Row
}, tenant, name string) (*row, error) {
	p, err := scan(q.QueryRow("SELECT "+columns+" FROM pack WHERE tenant = ? AND name = ?", tenant, name))
	if db.NoRows(err) {
		return nil, nil
	}
	return p, err
}

func refused(format string, args ...any) error {
	return fault.New(fault.Invalid, string(wire.Install), format, args...)
}

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)

// check holds a pack to what a pack may have.
func check(p wire.Pack) error {
	if !nameForm.MatchString(p.Name) || p.Version == "" || len(p.Version) > 64 || len(p.Title) > 200 || len(p.About) > 4000 {
		return refused("a pack has a name of small letters, digits and dashes, and a version; title and about are short")
	}
	own := names(p)
	for _, name := range own {
		if !nameForm.MatchString(name) {
			return refused("%q is no name of an automation", name)
		}
	}
	for _, g := range p.Grants {
		if !slices.Contains(own, g.Automation) {
			return refused("the pack %s grants something to %q, which is none of its automations", p.Name, g.Automation)
		}
	}
	slices.Sort(own)
	if len(slices.Compact(own)) != len(p.Automations) {
		return refused("the pack %s has two automations of one name", p.Name)
	}
	if len(p.Automations) > 50 || len(p.Grants) > 200 || len(p.Knowledge) > 20 {
		return refused("the pack %s has too much: 50 automations, 200 grants and 20 knowledge spaces are allowed", p.Name)
	}
	return nil
}

func (r *Room) install(ctx context.Context, tx *db.Tx, in wire.InstallIn) (out wire.Installed, err error) {
	c, p := op.CallerFrom(ctx), in.Pack
	if err := check(p); err != nil {
		return out, err
	}
	digest := p.Digest()
	if digest != in.Digest {
		return out, fault.New(fault.Conflict, string(wire.Install), "the pack %s is not the one that was looked at", p.Name).
			WithNext("look again: tandem pack show DIR")
	}
	before, err := find(tx, c.Tenant, p.Name)
	if err != nil {
		return out, err
	}
	if was := digestOf(before); was != in.Was {
		return out, fault.New(fault.Conflict, string(wire.Install), "another version of %s was installed meanwhile", p.Name).
			WithNext("look again: tandem pack show DIR")
	}
	if err := r.mayInstall(ctx, tx, p, before); err != nil {
		return out, err
	}
	if before != nil {
		if err := r.leave(ctx, tx, before, names(p)); err != nil {
			return out, err
		}
		if err := r.drop(ctx, tx, before, names(p)); err != nil {
			return out, err
		}
	}
	for _, a := range p.Automations {
		if err := r.On(ctx, tx, a.Name, a.Text); err != nil {
			return out, fmt.Errorf("automation %s of the pack: %w", a.Name, err)
		}
	}
	grants := []string{}
	for _, g := range p.Grants {
		id, err := r.Grant(ctx, tx, g)
		if err != nil {
			return out, err
		}
		grants = append(grants, id)
	}
	for _, s := range p.Knowledge {
		if err := r.Teach(ctx, tx, s); err != nil {
			return out, err
		}
	}
	op.Note(ctx, "digest", digest)
	out = wire.Installed{Name: p.Name, Title: p.Title, Version: p.Version, Digest: digest, Automations: names(p), By: c.Name, At: tx.Now()}
	return out, save(tx, c.Tenant, p, out, grants)
}

func digestOf(r *row) string {
	if r == nil {
		return ""
	}
	return r.Digest
}

func save(tx *db.Tx, tenant string, p wire.Pack, i wire.Installed, grants []string) error {
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	ids, err := json.Marshal(grants)
	if err != nil {
		return err
	}
	if _, err := tx.Exec("DELETE FROM pack WHERE tenant = ? AND name = ?", tenant, p.Name); err != nil {
		return err
	}
	_, err = tx.Exec("INSERT INTO pack (tenant, "+columns+") VALUES (?, ?, ?, ?, ?, ?, ?)", tenant, p.Name, i.Digest, string(body),
		string(ids), i.By, i.At)
	return err
}

func needs(ctx context.Context, pack, right string, at op.Resource) error {
	if op.Allowed(ctx, right, at) {
		return nil
	}
	return fault.New(fault.Denied, "pack", "the pack %s needs %s on %s, which you may not do", pack, right, at)
}

// mayInstall holds whoever installs to what each of its things would need by itself.
func (r *Room) mayInstall(ctx context.Context, tx *db.Tx, p wire.Pack, before *row) error {
	c := op.CallerFrom(ctx)
	needs := func(right string, at op.Resource) error { return needs(ctx, p.Name, right, at) }
	for _, a := range p.Automations {
		if err := needs("automation.admin", at(a.Name)); err != nil {
			return err
		}
		if before != nil && slices.Contains(before.Automations, a.Name) {
			continue
		}
		there, err := r.Has(tx, c.Tenant, a.Name)
		if err != nil {
			return err
		}
		if there {
			return fault.New(fault.Conflict, string(wire.Install), "there is an automation %s, which is not this pack's", a.Name).
				WithNext("remove it first: tandem automation remove %s", a.Name)
		}
	}
	if len(p.Grants) > 0 {
		if err := needs("grant.write", op.Resource{Kind: "grant", Path: "/"}); err != nil {
			return err
		}
	}
	for _, s := range p.Knowledge {
		for _, right := range []string{"knowledge.create", "knowledge.write"} { // the space may be there, and be somebody's
			if err := needs(right, op.Resource{Kind: "knowledge", Path: "/" + s.Name}); err != nil {
				return err
			}
		}
	}
	return nil
}

// leave takes back what a version was granted, and switches off those of its automations that do not stay, if the caller may do each.
func (r *Room) leave(ctx context.Context, tx *db.Tx, before *row, stays []string) error {
	for _, id := range before.grants {
		if err := needs(ctx, before.Name, "grant.revoke", op.Resource{Kind: "grant", Path: "/" + id}); err != nil {
			return err
		}
		if err := r.Revoke(ctx, tx, id, before.Automations); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	for _, name := range before.Automations {
		if slices.Contains(stays, name) {
			continue
		}
		if err := needs(ctx, before.Name, "automation.write", at(name)); err != nil {
			return err
		}
		if err := r.Off(ctx, tx, name); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	return nil
}

// drop removes what a newer version has no longer, so that an older one can be installed again. One with open runs, or that the caller
// may not remove, stays switched off and is the pack's no more.
func (r *Room) drop(ctx context.Context, tx *db.Tx, before *row, stays []string) error {
	for _, name := range before.Automations {
		if slices.Contains(stays, name) || !op.Allowed(ctx, "automation.delete", at(name)) {
			continue
		}
		if err := r.Gone(ctx, tx, name); err != nil && !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	return nil
}

func (r *Room) remove(ctx context.Context, tx *db.Tx, in wire.NameIn) (wire.RemoveOut, error) {
	out := wire.RemoveOut{Removed: []string{}}
	c := op.CallerFrom(ctx)
	p, err := find(tx, c.Tenant, in.Name)
	if err != nil {
		return out, err
	}
	if p == nil {
		return out, op.NoSuch("pack", in.Name)
	}
	for _, name := range p.Automations {
		if err := needs(ctx, p.Name, "automation.delete", at(name)); err != nil {
			return out, err
		}
	}
	if err := r.leave(ctx, tx, p, nil); err != nil {
		return out, err
	}
	for _, name := range p.Automations {
		err := r.Gone(ctx, tx, name)
		switch {
		case err == nil:
			out.Removed = append(out.Removed, "automation "+name)
		case fault.Is(err, fault.Conflict):
			out.Stays = append(out.Stays, "automation "+name+", switched off: "+err.Error())
		case !fault.Is(err, fault.NotFound):
			return out, err
		}
	}
	for _, s := range p.pack.Knowledge {
		out.Stays = append(out.Stays, "the knowledge space "+s.Name)
	}
	_, err = tx.Exec("DELETE FROM pack WHERE tenant = ? AND name = ?", c.Tenant, p.Name)
	return out, err
}
