package book

import (
	"context"
	"slices"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/policy"
)

// AccessIn asks who has what.
type AccessIn struct {
	Actor    string `json:"actor,omitempty" jsonschema:"only what this actor has, by its name or as kind:name"`
	Resource string `json:"resource,omitempty" jsonschema:"only what covers this, as kind:/path"`
	House    bool   `json:"house,omitempty" jsonschema:"also what the house gives everybody"`
	After    string `json:"after,omitempty" jsonschema:"only the rows behind this place: next of the page before"`
	Limit    int    `json:"limit,omitempty" jsonschema:"at most so many rows; 500 when left out"`
}

// Access is what one actor has, and why.
type Access struct {
	Principal   string                    `json:"principal" jsonschema:"who has it; kind:* or * where it is for all of a kind"`
	Effect      string                    `json:"effect" jsonschema:"allow, ask or deny"`
	Permissions []policy.AccessPermission `json:"permissions"`
	Resource    string                    `json:"resource"`
	Tools       []string                  `json:"tool_patterns,omitempty"`
	Classes     []policy.DataClass        `json:"data_classes,omitempty"`
	Grant       string                    `json:"grant" jsonschema:"the grant that says so"`
	Group       string                    `json:"group,omitempty" jsonschema:"the group by which it speaks of them"`
	AddedBy     string                    `json:"added_by,omitempty"`
	AddedAt     *time.Time                `json:"added_at,omitempty"`
	ExpiresAt   *time.Time                `json:"expires_at,omitempty"`
	Note        string                    `json:"note,omitempty"`
	UsedAt      *time.Time                `json:"used_at,omitempty" jsonschema:"when they last did something recorded that it covers, among their newest acts"`
}

// AccessOut is a page of who has what: grant after grant, each page in the order of those who have them.
type AccessOut struct {
	Access []Access `json:"access"`
	More   int      `json:"more,omitempty" jsonschema:"how many rows there are beyond the limit; 10000 where there are at least so many"`
	Next   string   `json:"next,omitempty" jsonschema:"where the next page begins, when there is one: give it as after"`
}

// Act is something that an actor did to a resource, as kind:/path.
type Act struct {
	Op       string
	Resource string
	At       time.Time
}

const accessLimit, maxAccess = 500, 10_000

// AccessCounted is how many rows beyond a page are counted.
const AccessCounted = 10_000

func (b *Book) accessOps() []op.Op {
	return []op.Op{
		AccessList.Read(op.Spec{Right: "grant.read", Masked: true, Method: "GET", Path: "/access",
			Doc: "List who has access to what, by which grant and group, until when, and when it was last used.\n" +
				"What people only looked at is not recorded, and only their newest 200 acts are looked at."},
			func(AccessIn) op.Resource { return atGrant("") }, b.access),
	}
}

func (b *Book) access(ctx context.Context, in AccessIn) (AccessOut, error) {
	out, tenant := AccessOut{Access: []Access{}}, op.CallerFrom(ctx).Tenant
	if in.Limit == 0 {
		in.Limit = accessLimit
	}
	if in.Limit < 0 || in.Limit > maxAccess {
		return out, fault.New(fault.Invalid, "access.list", "the limit is a number from 1 to %d", maxAccess)
	}
	about, at, err := b.about(ctx, tenant, in)
	if err != nil {
		return out, err
	}
	k, err := b.current(ctx, tenant)
	if err != nil {
		return out, err
	}
	has := haves{Compiled: k.Compiled, about: about, people: map[string][]string{}}
	now, used := b.db.Now(), uses{book: b, tenant: tenant, acts: map[string][]Act{}}
	grant, person, _ := strings.Cut(in.After, " ")
	for _, g := range from(k.all(), grant) {
		if g.RevokedAt != nil || k.Dead()[g.ID] != "" || !g.ExpiresAt.IsZero() && !now.Before(g.ExpiresAt) || g.AddedAt == nil && !in.House ||
			at != nil && !g.Scope.Covers(*at) || !op.May(ctx, "grant.read", atGrant(g.ID)) {
			continue
		}
		for _, who := range has.holders(g) {
			switch {
			case g.ID == grant && who <= person: // a page before told of it
				continue
			case len(out.Access) < in.Limit:
			case out.More < AccessCounted:
				out.More++
				continue
			default:
				return out.inOrder(), nil
			}
			row := rowOf(g, who)
			if row.UsedAt, err = used.last(ctx, who, &g.ScopedGrant); err != nil {
				return out, err
			}
			out.Access = append(out.Access, row)
		}
	}
	return out.inOrder(), nil
}

// inOrder says where the next page begins and puts this one into the order in which it is read.
func (o AccessOut) inOrder() AccessOut {
	if last := len(o.Access) - 1; o.More > 0 {
		o.Next = o.Access[last].Grant + " " + o.Access[last].Principal
	}
	slices.SortStableFunc(o.Access, func(x, y Access) int { return strings.Compare(x.Principal, y.Principal) })
	return o
}

// rowOf is what somebody has by a grant.
func rowOf(g *Grant, who string) Access {
	v := g.view("")
	row := Access{Principal: who, Effect: v.Effect, Permissions: v.Permissions, Resource: v.Resource, Tools: v.Tools, Classes: v.Classes,
		Grant: v.ID, AddedBy: v.AddedBy, AddedAt: v.AddedAt, ExpiresAt: v.ExpiresAt, Note: v.Note}
	if g.Principal.Kind == policy.GroupOf {
		row.Group = g.Principal.ID
	}
	return row
}

// about is whom and what a list is about, nil for everything.
func (b *Book) about(ctx context.Context, tenant string, in AccessIn) (who *policy.PrincipalRef, at *policy.ResourceRef, err error) {
	switch {
	case in.Actor == "":
	case strings.Contains(in.Actor, ":"):
		p, err := policy.ParsePrincipal(in.Actor)
		if err != nil {
			return nil, nil, refusal("access.list", err)
		}
		who = &p
	default:
		p, _, err := b.who(ctx, tenant, in.Actor)
		if err != nil {
			return nil, nil, err
		}
		who = &p
	}
	if in.Resource != "" {
		r, err := policy.ParseResource(in.Resource)
		if err != nil {
			return nil, nil, refusal("access.list", err)
		}
		r = real(r)
		at = &r
	}
	return who, at, nil
}

// haves finds out who has a grant.
type haves struct {
	*policy.Compiled
	about  *policy.PrincipalRef
	people map[string][]string // of groups that were met, in order
}

// holders are those who have a grant, in order: of a group its people, else whom it names.
func (h *haves) holders(g *Grant) []string {
	switch {
	case h.about != nil && h.Names(g.Principal, *h.about):
		return []string{h.about.String()}
	case h.about != nil:
		return nil
	case g.Principal.Kind != policy.GroupOf:
		return []string{g.Principal.String()}
	}
	out, met := h.people[g.Principal.ID]
	if !met {
		for _, name := range h.People(g.Principal.ID) {
			out = append(out, policy.PrincipalRef{Kind: policy.Person, ID: name}.String())
		}
		h.people[g.Principal.ID] = out
	}
	return out
}

// uses remembers what actors did, so that the journal is asked once about each.
type uses struct {
	book   *Book
	tenant string
	acts   map[string][]Act
}

// last is when somebody last did something that a grant lets them do, as far as their newest acts tell. A denial is not used, which tool an
// act was done with is not recorded with it, and who is one of a kind is not known.
func (u *uses) last(ctx context.Context, who string, g *policy.ScopedGrant) (*time.Time, error) {
	_, name, _ := strings.Cut(who, ":")
	if u.book.Acts == nil || name == "" || name == "*" || g.Effect == policy.Deny || len(g.ToolPatterns) > 0 ||
		!op.May(ctx, "journal.read", op.Resource{Kind: "journal", Path: "/"}) {
		return nil, nil
	}
	acts, known := u.acts[name]
	if !known {
		var err error
		if acts, err = u.book.Acts(ctx, u.tenant, name); err != nil {
			return nil, err
		}
		u.acts[name] = acts
	}
	for _, a := range acts {
		wants, _ := u.book.wants(a.Op)
		right, err := policy.ParseRight(wants.Right)
		if err != nil || !slices.Contains(g.Permissions, right.Permission) {
			continue
		}
		if r, err := policy.ParseResource(a.Resource); err == nil && g.Scope.Covers(r) {
			return &a.At, nil
		}
	}
	return nil, nil
}
