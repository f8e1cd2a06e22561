package book

import (
	"context"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/policy"
)

// The owners are a group that is always there, and that only people are in. The first person is alone in it at first. Who they are is
// sealed by name beside the rules, so that the journal knows it even where the rules are gone from the database.

// Owners is the name of that group.
const Owners = policy.Owners

// OwnerIn names a person.
type OwnerIn struct {
	Name string `json:"name" jsonschema:"the person's name"`
}

// OwnersOut are those whose house it is, by name.
type OwnersOut struct {
	Owners []string `json:"owners"`
}

func atTenant() op.Resource { return op.Resource{Kind: "tenant", Path: "/owners"} }

func (b *Book) ownerOps() []op.Op {
	return []op.Op{
		OwnerAdd.State(op.Spec{Right: "tenant.admin", Method: "POST", Path: "/owner/{name}", Present: true, People: true, MCP: "-",
			Doc: "Make a person an owner beside the others: they may do whatever an owner may. Needs an owner present."},
			func(OwnerIn) op.Resource { return atTenant() }, b.addOwner),
		OwnerRemove.State(op.Spec{Right: "tenant.admin", Method: "DELETE", Path: "/owner/{name}", Present: true, People: true, MCP: "-",
			Doc: "Take ownership from a person, who stays here with everyday rights. The last owner who can prove to be here stays one."},
			func(OwnerIn) op.Resource { return atTenant() }, b.removeOwner),
		OwnerHandOver.State(op.Spec{Right: "tenant.admin", Method: "POST", Path: "/owner/{name}/hand-over", Present: true, People: true,
			MCP: "-",
			Doc: "Hand your ownership over to a person: they are an owner from now on, and you are not. Needs you present."},
			func(OwnerIn) op.Resource { return atTenant() }, b.handOver),
	}
}

func ownerSubject(name string) string { return "owner:" + name }

func sealOwner(tenant, name string) op.Sealed {
	return op.Sealed{Tenant: tenant, Subject: ownerSubject(name), Says: []string{name}, What: "the owner " + name}
}

// writtenOwners are the owners, where somebody ever changed them.
func writtenOwners(list []policy.Group) (out []string) {
	for _, g := range list {
		if g.Name == policy.Owners {
			for _, m := range g.Members {
				out = append(out, m.ID)
			}
		}
	}
	return out
}

// vouchedOwners are the owners as the journal alone knows them, for when the rules are gone from the database.
func (b *Book) vouchedOwners(ctx context.Context, tenant string) []policy.Group {
	g := policy.Group{Name: policy.Owners}
	for _, subject := range b.Vouch.Stand(tenant, "owner") {
		if name := strings.TrimPrefix(subject, ownerSubject("")); b.Vouch.Holds(ctx, sealOwner(tenant, name)) {
			g.Members = append(g.Members, policy.PrincipalRef{Kind: policy.Person, ID: name})
		}
	}
	if len(g.Members) == 0 {
		return nil // nobody ever changed them
	}
	return []policy.Group{g}
}

// Owners are those whose house it is, in the change under way, or outside of one where tx is nil.
func (b *Book) Owners(ctx context.Context, tx *db.Tx, tenant string) (out []string, err error) {
	k, err := b.within(ctx, tx, tenant)
	return writtenOwners(policy.WithOwners(k.written.Groups)), err
}

// reown changes who owns the house. Somebody who can prove to be here has to be left.
func (b *Book) reown(ctx context.Context, tx *db.Tx, where, name string, change func([]string) ([]string, error)) (OwnersOut, error) {
	tenant := op.CallerFrom(ctx).Tenant
	if err := b.here(ctx, tx, where, name); err != nil {
		return OwnersOut{}, err
	}
	var was, now []string
	_, err := b.regroup(ctx, tx, where, policy.Owners, "", func(all []policy.Group) ([]policy.Group, error) {
		all = slices.Clone(policy.WithOwners(all))
		was = writtenOwners(all)
		var err error
		if now, err = change(slices.Clone(was)); err != nil {
			return nil, err
		}
		g := policy.Group{Name: policy.Owners}
		for _, n := range now {
			g.Members = append(g.Members, policy.PrincipalRef{Kind: policy.Person, ID: n})
		}
		return append(slices.DeleteFunc(all, func(g policy.Group) bool { return g.Name == policy.Owners }), g), nil
	})
	if err != nil {
		return OwnersOut{}, err
	}
	for _, n := range was {
		if !slices.Contains(now, n) {
			op.Seal(ctx, ownerSubject(n))
		}
	}
	for _, n := range now {
		op.Row(ctx, sealOwner(tenant, n))
	}
	op.Note(ctx, "owners", now)
	slices.Sort(now)
	return OwnersOut{now}, b.owned(ctx, tx, tenant, where, now)
}

// owned refuses a house in which no owner can prove to be here: nobody could let anybody in, or mend anything, afterwards.
func (b *Book) owned(ctx context.Context, tx *db.Tx, tenant, where string, owners []string) error {
	if b.Able == nil {
		return nil
	}
	for _, n := range owners {
		if _, able, err := b.Able(ctx, tx, tenant, n); err != nil || able {
			return err
		}
	}
	return fault.New(fault.Conflict, where, "no owner would be left who can prove to be here, by a PIN, a passkey or a machine of theirs").
		WithNext("first make somebody an owner who can: tandem person owner add NAME; how they log in: tandem invite --person NAME")
}

func (b *Book) addOwner(ctx context.Context, tx *db.Tx, in OwnerIn) (OwnersOut, error) {
	return b.reown(ctx, tx, string(OwnerAdd), in.Name, func(owners []string) ([]string, error) {
		if slices.Contains(owners, in.Name) {
			return nil, fault.New(fault.Conflict, string(OwnerAdd), "%s is an owner already", in.Name)
		}
		return append(owners, in.Name), nil
	})
}

func notAnOwner(where, name string) error {
	return fault.New(fault.NotFound, where, "%.64s is not an owner", name).WithNext("see who is: tandem person list")
}

func (b *Book) removeOwner(ctx context.Context, tx *db.Tx, in OwnerIn) (OwnersOut, error) {
	return b.reown(ctx, tx, string(OwnerRemove), in.Name, func(owners []string) ([]string, error) {
		i := slices.Index(owners, in.Name)
		if i < 0 {
			return nil, notAnOwner(string(OwnerRemove), in.Name)
		}
		return slices.Delete(owners, i, i+1), nil
	})
}

func (b *Book) handOver(ctx context.Context, tx *db.Tx, in OwnerIn) (OwnersOut, error) {
	me := op.CallerFrom(ctx).Name
	return b.reown(ctx, tx, string(OwnerHandOver), in.Name, func(owners []string) ([]string, error) {
		i := slices.Index(owners, me)
		switch {
		case i < 0:
			return nil, notAnOwner(string(OwnerHandOver), me)
		case me == in.Name:
			return nil, fault.New(fault.Invalid, string(OwnerHandOver), "you are the one who hands it over").WithNext("name somebody else")
		}
		if owners = slices.Delete(owners, i, i+1); !slices.Contains(owners, in.Name) {
			owners = append(owners, in.Name)
		}
		return owners, nil
	})
}

// FirstOwner makes a person the one owner of the caller's tenant, which was just made: nobody can prove to be there yet.
func (b *Book) FirstOwner(ctx context.Context, tx *db.Tx, name string) error {
	_, err := b.regroup(ctx, tx, string(OwnerAdd), policy.Owners, "", func([]policy.Group) ([]policy.Group, error) {
		return []policy.Group{{Name: policy.Owners, Members: []policy.PrincipalRef{{Kind: policy.Person, ID: name}}}}, nil
	})
	op.Row(ctx, sealOwner(op.CallerFrom(ctx).Tenant, name))
	return err
}
