package book

import (
	"context"
	"slices"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// away is somebody who is not there, and who answers asks in their stead until they are back.
type away struct {
	Person  string    `json:"person"`
	StandIn string    `json:"stand_in"`
	Until   time.Time `json:"until"`
}

const (
	maxAway  = 90 * 24 * time.Hour
	maxAways = 1000
)

// AwayIn says who stands in for a person.
type AwayIn struct {
	Person  string `json:"person,omitempty" jsonschema:"who is away; yourself when left out"`
	StandIn string `json:"stand_in" jsonschema:"the person who answers in their stead"`
	TTL     int64  `json:"expires_in_secs" jsonschema:"for how long, 90 days at most"`
}

// BackIn names who is back.
type BackIn struct {
	Person string `json:"person,omitempty" jsonschema:"who is back; yourself when left out"`
}

// AwayView is somebody who is away.
type AwayView struct {
	Person  string    `json:"person"`
	StandIn string    `json:"stand_in"`
	Until   time.Time `json:"until"`
}

// AwaysOut lists who is away.
type AwaysOut struct {
	Away []AwayView `json:"away"`
}

func atAsks() op.Resource { return op.Resource{Kind: "approval", Path: "/"} }

func (b *Book) awayOps() []op.Op {
	return []op.Op{
		PersonAways.Read(op.Spec{Right: "policy.read", Method: "GET", Path: "/away",
			Doc: "List who is away, and who answers asks in their stead."},
			func(Nothing) op.Resource { return atPolicy() }, b.aways),
		PersonAway.State(op.Spec{Right: "approval.decide", Method: "POST", Path: "/away", Present: true, People: true, MCP: "-",
			Doc: "Have somebody answer asks in your stead while you are away: what you may answer, they may. An owner says it for anybody.\n" +
				"Needs a person present."},
			func(AwayIn) op.Resource { return atAsks() }, b.away),
		PersonBack.State(op.Spec{Right: "approval.decide", Method: "DELETE", Path: "/away", Present: true, People: true, MCP: "-",
			Doc: "Say that you are back: nobody stands in for you any more."},
			func(BackIn) op.Resource { return atAsks() }, b.back),
	}
}

// whom is whose absence is meant: the caller's own, or by an owner anybody's.
func (b *Book) whom(ctx context.Context, tx *db.Tx, where, person string) (string, error) {
	c := op.CallerFrom(ctx)
	if person == "" || person == c.Name {
		return c.Name, nil
	}
	if !op.May(ctx, "tenant.admin", atTenant()) {
		return "", fault.New(fault.Denied, where, "only an owner says that somebody else is away")
	}
	return person, b.here(ctx, tx, where, person)
}

func (b *Book) away(ctx context.Context, tx *db.Tx, in AwayIn) (AwaysOut, error) {
	who, err := b.whom(ctx, tx, string(PersonAway), in.Person)
	switch {
	case err != nil:
		return AwaysOut{}, err
	case in.TTL < 1 || in.TTL > int64(maxAway/time.Second):
		return AwaysOut{}, fault.New(fault.Invalid, string(PersonAway), "somebody is away for a second to 90 days").WithNext("add --for 72h")
	case in.StandIn == who:
		return AwaysOut{}, fault.New(fault.Invalid, string(PersonAway), "%s cannot stand in for themselves", who)
	}
	if err := b.here(ctx, tx, string(PersonAway), in.StandIn); err != nil {
		return AwaysOut{}, err
	}
	return b.reaway(ctx, tx, string(PersonAway), who, &away{who, in.StandIn, tx.Now().Add(time.Duration(in.TTL) * time.Second)})
}

func (b *Book) back(ctx context.Context, tx *db.Tx, in BackIn) (AwaysOut, error) {
	who, err := b.whom(ctx, tx, string(PersonBack), in.Person)
	if err != nil {
		return AwaysOut{}, err
	}
	return b.reaway(ctx, tx, string(PersonBack), who, nil)
}

// reaway writes who stands in for a person, or nobody. What ran out goes with it.
func (b *Book) reaway(ctx context.Context, tx *db.Tx, where, person string, next *away) (AwaysOut, error) {
	d, _, _, err := b.rewrite(ctx, tx, where, "away", person, "", func(d *data) error {
		was := len(d.Away)
		d.Away = slices.DeleteFunc(slices.Clone(d.Away), func(a away) bool { return a.Person == person || !tx.Now().Before(a.Until) })
		switch {
		case next == nil && len(d.Away) == was:
			return fault.New(fault.NotFound, where, "%.64s is not away", person).WithNext("see who is: tandem person away")
		case next != nil && len(d.Away) >= maxAways:
			return fault.New(fault.Exhausted, where, "%d people are away", len(d.Away))
		case next != nil:
			d.Away = append(d.Away, *next)
			op.Note(ctx, "stand_in", next.StandIn)
		}
		return nil
	})
	return awayViews(d.Away, tx.Now()), err
}

func awayViews(all []away, now time.Time) AwaysOut {
	out := AwaysOut{Away: []AwayView{}}
	for _, a := range all {
		if now.Before(a.Until) {
			out.Away = append(out.Away, AwayView(a))
		}
	}
	return out
}

func (b *Book) aways(ctx context.Context, _ Nothing) (AwaysOut, error) {
	k, err := b.current(ctx, op.CallerFrom(ctx).Tenant)
	return awayViews(k.away, b.db.Now()), err
}

// Circle says of a list of approvers whether it names a person now: by themselves or by a group, or as who stands in for those whom it
// names, which are in as then. Who was removed is not named, and nobody stands in for them. tx is the change under way, nil outside of one.
func (b *Book) Circle(ctx context.Context, tx *db.Tx, tenant string) (named func(approvers []string, person string) (as []string, ok bool),
	err error) {
	now := b.db.Now()
	if tx != nil {
		now = tx.Now()
	}
	k, err := b.within(ctx, tx, tenant)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	here := func(person string) bool {
		is, ok := known[person]
		if !ok {
			is = b.isHere(ctx, tx, tenant, person)
			known[person] = is
		}
		return is
	}
	return func(approvers []string, person string) (as []string, ok bool) {
		if !here(person) {
			return nil, false
		}
		if k.Approves(approvers, person) {
			return nil, true
		}
		for _, a := range k.away {
			if a.StandIn == person && now.Before(a.Until) && k.Approves(approvers, a.Person) && here(a.Person) {
				as = append(as, a.Person)
			}
		}
		return as, len(as) > 0
	}, nil
}

// isHere says whether somebody is a person of this house now. Who cannot be looked up is not.
func (b *Book) isHere(ctx context.Context, tx *db.Tx, tenant, name string) (here bool) {
	if b.Able == nil {
		return true
	}
	look := func(tx *db.Tx) (err error) { here, _, err = b.Able(ctx, tx, tenant, name); return err }
	if tx != nil {
		return look(tx) == nil && here
	}
	return b.db.Read(ctx, look) == nil && here
}
