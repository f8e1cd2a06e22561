package book

import (
	"context"
	"slices"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/policy"
	"tandem/internal/policy/vocabulary"
)

// A house may have a hundred thousand grants. What is listed is read from what decisions are made of, a page at a time: no row of the
// database is read for a list, and nothing beyond the page is looked at.

const listed, mostListed = 500, 1000

// atMost is how many a page may have.
func atMost(where string, limit int) (int, error) {
	if limit < 0 || limit > mostListed {
		return 0, fault.New(fault.Invalid, where, "limit lies between 1 and %d", mostListed)
	}
	if limit == 0 {
		limit = listed
	}
	return limit, nil
}

// byID are grants in the order of their ids, which is the order in which they were given.
func byID(all []Grant) []*Grant {
	out := make([]*Grant, len(all))
	for i := range all {
		out[i] = &all[i]
	}
	slices.SortFunc(out, func(x, y *Grant) int { return strings.Compare(x.ID, y.ID) })
	return out
}

// from are the grants from an id on, which need not be there any more.
func from(all []*Grant, id string) []*Grant {
	i, _ := at(all, id)
	return all[i:]
}

func (b *Book) grants(ctx context.Context, in GrantsIn) (GrantsOut, error) {
	out := GrantsOut{Grants: []GrantView{}}
	tenant := op.CallerFrom(ctx).Tenant
	limit, err := atMost(string(GrantList), in.Limit)
	if err != nil {
		return out, err
	}
	var about *policy.PrincipalRef
	if in.Principal != "" {
		p, err := policy.ParsePrincipal(in.Principal)
		if err != nil {
			return out, refusal(string(GrantList), err)
		}
		about = &p
	}
	k, err := b.current(ctx, tenant)
	if err != nil {
		return out, err
	}
	out.Version = k.Version()
	now := b.db.Now()
	for _, g := range from(k.all(), in.After) {
		switch {
		case g.ID == in.After, g.AddedAt == nil && !in.House && g.RevokedAt == nil, g.RevokedAt != nil && !in.Revoked,
			about != nil && !k.Names(g.Principal, *about), !op.May(ctx, "grant.read", atGrant(g.ID)):
			continue
		}
		if len(out.Grants) == limit {
			out.More = true
			break
		}
		why := k.Dead()[g.ID]
		if why == "" && !g.ExpiresAt.IsZero() && !now.Before(g.ExpiresAt) {
			why = "it ended at " + g.ExpiresAt.UTC().Format(time.RFC3339)
		}
		out.Grants = append(out.Grants, g.view(why))
		if in.Published {
			out.Published = append(out.Published, vocabulary.Grant(tenant, &g.ScopedGrant))
		}
	}
	return out, nil
}
