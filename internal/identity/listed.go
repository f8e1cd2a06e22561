package identity

import (
	"context"
	"database/sql"
	"strings"
	"unicode"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// A house may have ten thousand people. They are read by their names, a page at a time, and what belongs to them for that page alone.

// PageIn asks for a page of a list.
type PageIn struct {
	After string `json:"after,omitempty" jsonschema:"only those behind this id: the last of the page before"`
	Limit int    `json:"limit,omitempty" jsonschema:"at most this many, 500 unless told, 1000 at most"`
}

// pages read rows in their order, so many at a time.
type pages[R any] struct {
	size  int
	place func(R) string
	read  func(after string) ([]R, error)
	seen  func(R) bool
}

// from is the page behind a place. The mask leaves out rows, so that as many are read as it takes until the page is full.
func (p *pages[R]) from(after string, limit int) (found []R, more bool, err error) {
	for {
		rows, err := p.read(after)
		if err != nil {
			return nil, false, err
		}
		for _, row := range rows {
			after = p.place(row)
			switch {
			case !p.seen(row):
			case len(found) == limit:
				return found, true, nil
			default:
				found = append(found, row)
			}
		}
		if len(rows) < p.size {
			return found, false, nil
		}
	}
}

const listed, mostListed = 500, 1000

func atMost(where string, limit int) (int, error) {
	if limit < 0 || limit > mostListed {
		return 0, fault.New(fault.Invalid, where, "limit lies between 1 and %d", mostListed)
	}
	if limit == 0 {
		limit = listed
	}
	return limit, nil
}

func (r *Room) people(ctx context.Context, in PeopleIn) (PeopleOut, error) {
	tenant, out := op.CallerFrom(ctx).Tenant, PeopleOut{People: []*Human{}}
	limit, err := atMost(string(PersonList), in.Limit)
	if err != nil {
		return out, err
	}
	like := strings.ToLower(in.Like)
	named, part := looksLike(like)
	people := pages[*Actor]{size: limit + 1, place: func(a *Actor) string { return a.Name }, read: func(after string) ([]*Actor, error) {
		return collectActors(r.db.Query(ctx, "SELECT "+actorColumns+" FROM actor WHERE tenant = ? AND name > ? AND kind = ? "+named+
			"ORDER BY name LIMIT ?", append(append([]any{tenant, after, op.Person}, part...), limit+1)...))
	}, seen: func(a *Actor) bool {
		return strings.Contains(strings.ToLower(a.Name), like) && op.May(ctx, "actor.read", actorAt(a.Name))
	}}
	found, more, err := people.from(in.After, limit)
	if err != nil {
		return out, err
	}
	out.More = more
	out.People, err = r.humans(ctx, tenant, found)
	return out, err
}

// looksLike is a condition for names that may hold a part: all of those that do, and of names with other letters than ASCII all, which the
// databases fold in different ways.
func looksLike(part string) (cond string, args []any) {
	switch {
	case part == "":
		return "", nil
	case strings.ContainsFunc(part, func(r rune) bool { return r > unicode.MaxASCII }):
		return "AND octet_length(name) > length(name) ", nil
	}
	literal := strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(part)
	return `AND (lower(name) LIKE ? ESCAPE '\' OR octet_length(name) > length(name)) `, []any{"%" + literal + "%"}
}

// humans are people with what belongs to them: their terminals, when one was last heard of, and how many machines answer for them.
func (r *Room) humans(ctx context.Context, tenant string, people []*Actor) ([]*Human, error) {
	out, byID := []*Human{}, map[string]*Human{}
	if len(people) == 0 {
		return out, nil
	}
	owners, err := r.owners(ctx, nil, tenant)
	if err != nil {
		return out, err
	}
	for _, a := range people {
		byID[a.ID] = &Human{Name: a.Name, Owner: owners[a.Name] && a.DisabledAt == nil, Terminals: []string{},
			CreatedAt: a.CreatedAt, LeftAt: a.DisabledAt}
		out = append(out, byID[a.ID])
	}
	in, theirs := amongst(people)
	terminals, err := collectActors(r.db.Query(ctx, "SELECT "+actorColumns+" FROM actor WHERE tenant = ? AND kind = ? AND acts_for "+in+
		" ORDER BY name", append([]any{tenant, op.Local}, theirs...)...))
	if err != nil {
		return out, err
	}
	of := map[string]*Human{}
	for _, a := range terminals {
		h := byID[a.For]
		if of[a.ID] = h; a.DisabledAt == nil {
			h.Terminals = append(h.Terminals, a.Name)
		}
	}
	if err := r.heard(ctx, tenant, terminals, of); err != nil {
		return out, err
	}
	rows, err := r.db.Query(ctx, "SELECT actor, count(*) FROM device WHERE tenant = ? AND revoked_at = 0 AND actor "+in+" GROUP BY actor",
		append([]any{tenant}, theirs...)...)
	_, err = db.Collect(rows, err, func(rows *sql.Rows) (none struct{}, err error) {
		var actor string
		var n int
		err = rows.Scan(&actor, &n)
		if h := byID[actor]; h != nil {
			h.Devices = n
		}
		return none, err
	})
	return out, err
}

// heard says of each person when one of their terminals was last heard of.
func (r *Room) heard(ctx context.Context, tenant string, terminals []*Actor, of map[string]*Human) error {
	if len(terminals) == 0 {
		return nil
	}
	in, theirs := amongst(terminals)
	rows, err := r.db.Query(ctx, "SELECT actor, max(used_at) FROM token WHERE tenant = ? AND used_at > 0 AND actor "+in+" GROUP BY actor",
		append([]any{tenant}, theirs...)...)
	_, err = db.Collect(rows, err, func(rows *sql.Rows) (none struct{}, err error) {
		var actor string
		var used int64
		err = rows.Scan(&actor, &used)
		if h := of[actor]; h != nil && (h.SeenAt == nil || h.SeenAt.Before(db.Time(used))) {
			h.SeenAt = optional(used)
		}
		return none, err
	})
	return err
}

// amongst is a condition that names some actors, with its arguments.
func amongst(actors []*Actor) (in string, args []any) {
	for _, a := range actors {
		args = append(args, a.ID)
	}
	return "IN (?" + strings.Repeat(", ?", len(actors)-1) + ")", args
}

func (r *Room) person(ctx context.Context, in NameIn) (HumanOut, error) {
	tenant := op.CallerFrom(ctx).Tenant
	found, err := collectActors(r.db.Query(ctx, "SELECT "+actorColumns+" FROM actor WHERE tenant = ? AND name = ? AND kind = ?", tenant,
		in.Name, op.Person))
	if err != nil {
		return HumanOut{}, err
	}
	if len(found) == 0 || !op.May(ctx, "actor.read", actorAt(in.Name)) {
		return HumanOut{}, noPerson(in.Name)
	}
	all, err := r.humans(ctx, tenant, found)
	if err != nil {
		return HumanOut{}, err
	}
	devices, err := r.devices(ctx, DevicesIn{Person: in.Name, Limit: mostListed})
	return HumanOut{Human: *all[0], Machines: devices.Devices}, err
}

func (r *Room) devices(ctx context.Context, in DevicesIn) (DevicesOut, error) {
	out := DevicesOut{Devices: []*Device{}}
	limit, err := atMost(string(DeviceList), in.Limit)
	if err != nil {
		return out, err
	}
	of, args := "", []any{}
	if in.Person != "" {
		of, args = "p.name = ? AND ", []any{in.Person}
	}
	for after := in.After; ; {
		rows, err := r.db.Query(ctx, "SELECT d.id, p.name, t.name, d.name, d.created_at, d.used_at, d.revoked_at FROM device d "+
			"JOIN actor p ON p.tenant = d.tenant AND p.id = d.actor JOIN actor t ON t.tenant = d.tenant AND t.id = d.terminal "+
			"WHERE "+of+"d.tenant = ? AND d.id > ? ORDER BY d.id LIMIT ?", append(args, op.CallerFrom(ctx).Tenant, after, limit+1)...)
		all, err := db.Collect(rows, err, scanListedDevice)
		if err != nil {
			return out, err
		}
		for _, d := range all {
			after = d.ID
			if !op.May(ctx, "actor.read", actorAt(d.Person)) {
				continue
			}
			if len(out.Devices) == limit {
				out.More = true
				return out, nil
			}
			out.Devices = append(out.Devices, d)
		}
		if len(all) <= limit {
			return out, nil
		}
	}
}

func scanListedDevice(rows *sql.Rows) (*Device, error) {
	var d Device
	var created, used, revoked int64
	err := rows.Scan(&d.ID, &d.Person, &d.Terminal, &d.Machine, &created, &used, &revoked)
	d.CreatedAt, d.UsedAt, d.RevokedAt = db.Time(created), optional(used), optional(revoked)
	return &d, err
}
