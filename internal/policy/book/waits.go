package book

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/policy"
)

// Waits lists, in words, what an actor would receive at once by being called so: grants that are written for that very name, and
// that the rules speak of it. What holds for everybody of its kind is not among it. tx is the change under way, nil outside of one.
func (b *Book) Waits(ctx context.Context, tx *db.Tx, tenant, principal string) (out []string, err error) {
	who, err := policy.ParsePrincipal(principal)
	if err != nil {
		return nil, err
	}
	k, err := b.within(ctx, tx, tenant)
	if err != nil {
		return nil, err
	}
	now := b.db.Now()
	if tx != nil {
		now = tx.Now()
	}
	for _, g := range k.all() {
		if g.RevokedAt == nil && g.Principal == who && g.Effect != policy.Deny && (g.ExpiresAt.IsZero() || now.Before(g.ExpiresAt)) {
			var may []string
			for _, p := range g.Permissions {
				may = append(may, string(p))
			}
			out = append(out, fmt.Sprintf("%s: %s %s on %s", g.ID, g.Effect, strings.Join(may, ", "), g.Scope.Root))
		}
	}
	for _, g := range k.written.Groups {
		if slices.Contains(g.Members, who) {
			out = append(out, "the group "+g.Name+" holds it")
		}
	}
	if strings.Contains(k.written.Rules, fmt.Sprintf("::%q", who.ID)) {
		out = append(out, "the rules name it: tandem policy show")
	}
	slices.Sort(out)
	return out, nil
}
