package book

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/policy"
	"tandem/internal/policy/vocabulary"
)

// VocabularyOut are the published types.
type VocabularyOut struct {
	Schemas map[string]json.RawMessage                      `json:"schemas" jsonschema:"the JSON schema of each type, by its name"`
	Kinds   map[vocabulary.ResourceKind]policy.ResourceKind `json:"kinds" jsonschema:"the kinds of this house by their published words"`
}

func (b *Book) publishedOps() []op.Op {
	return []op.Op{
		PolicyVocabulary.Read(op.Spec{Right: "policy.read", Method: "GET", Path: "/policy/vocabulary", MCP: "-",
			Doc: "Show the published vocabulary as JSON schemas (ResourceRef, ResourceScope, ScopedGrant, StrictTenantContext and what they are " +
				"made of), with the kinds that this house has."},
			func(Nothing) op.Resource { return atPolicy() }, b.vocabulary),
		PolicyContext.Read(op.Spec{Right: "policy.read", Method: "GET", Path: "/policy/context", MCP: "-",
			Doc: "Show who you are to the policy, in the published vocabulary: for whom you act, within which limits of your credential, and by " +
				"which grants.\nWhat the house gives everybody is not listed; a denial by a rule is not a grant."},
			func(Nothing) op.Resource { return atPolicy() }, b.context),
		GrantTake.State(op.Spec{Right: "grant.write", Method: "POST", Path: "/grant/published", Status: 201, Present: true, People: true,
			Doc: "Grant what a ScopedGrant of the published vocabulary says. It gets an id of its own, and you are who gave it. What this house " +
				"could not keep as it is meant is refused. Needs a person present."},
			func(vocabulary.ScopedGrant) op.Resource { return atGrant("") }, b.take),
	}
}

func (b *Book) vocabulary(context.Context, Nothing) (out VocabularyOut, err error) {
	out.Kinds = map[vocabulary.ResourceKind]policy.ResourceKind{vocabulary.KindOf(policy.AnyKind): policy.AnyKind}
	for _, k := range policy.Kinds() {
		out.Kinds[vocabulary.KindOf(k)] = k
	}
	out.Schemas, err = vocabulary.Schemas()
	return out, err
}

// context is the caller as the gate puts it to the policy.
func (b *Book) context(ctx context.Context, _ Nothing) (out vocabulary.StrictTenantContext, err error) {
	c := op.CallerFrom(ctx)
	who := policy.StrictTenantContext{Tenant: c.Tenant, Principal: policy.PrincipalRef{Kind: policy.PrincipalKind(c.Kind), ID: c.Name},
		ExpiresAt: c.Until}
	if who.AuthorityChain, err = principals(c.For); err != nil {
		return out, err
	}
	for _, chain := range c.Prompted {
		list, err := principals(chain)
		if err != nil {
			return out, err
		}
		who.Prompters = append(who.Prompters, list)
	}
	for _, by := range op.Narrowings(c) {
		p, err := policy.ParsePrincipal(by)
		if err != nil || b.Narrowed == nil {
			return out, err
		}
		n, err := b.Narrowed(ctx, c.Tenant, p)
		if err != nil {
			return out, err
		}
		who.Narrowed = append(who.Narrowed, n)
	}
	if len(c.Scope) > 0 {
		who.Ceiling = &policy.Ceiling{Rights: c.Scope}
	}
	k, err := b.current(ctx, c.Tenant)
	if err != nil {
		return out, err
	}
	who.Boundary = k.written.Boundary
	var mine []policy.ScopedGrant
	chain, now := append([]policy.PrincipalRef{who.Principal}, who.AuthorityChain...), b.db.Now()
	for _, g := range k.all() {
		if g.AddedAt == nil || g.RevokedAt != nil || k.Dead()[g.ID] != "" || !g.ExpiresAt.IsZero() && !now.Before(g.ExpiresAt) ||
			!slices.ContainsFunc(chain, func(p policy.PrincipalRef) bool { return k.Names(g.Principal, p) }) ||
			!op.May(ctx, "grant.read", atGrant(g.ID)) {
			continue
		}
		mine = append(mine, g.ScopedGrant)
	}
	out = vocabulary.Context(&who, mine)
	if i := len(who.Narrowed) - 1; i >= 0 { // what the caller's own assertion says
		n := &who.Narrowed[i].Narrowing
		out.Scope, out.Boundary = vocabulary.Scopes(c.Tenant, n.Places), n.Boundary
		if len(n.Grants) > 0 {
			out.Grants = nil
		}
		for i := range n.Grants {
			out.Grants = append(out.Grants, vocabulary.Grant(c.Tenant, &n.Grants[i]))
		}
	}
	if c.Token != "" {
		out.Assertion = &vocabulary.Assertion{ID: c.Token}
	}
	return out, nil
}

// take gives a grant that is written in the published words, by the way of every other grant.
func (b *Book) take(ctx context.Context, tx *db.Tx, in vocabulary.ScopedGrant) (GrantOut, error) {
	const where = "grant.take"
	bad := func(format string, args ...any) (GrantOut, error) {
		return GrantOut{}, fault.New(fault.Invalid, where, format, args...)
	}
	in.ID = "grt_published" // it gets another; only the rest is looked at
	g, err := in.Here(op.CallerFrom(ctx).Tenant)
	switch {
	case err != nil:
		return GrantOut{}, refusal(where, err)
	case g.Scope.Own || g.Source == policy.Default || g.Source == policy.Fallback:
		return bad("such a grant is the house's own, and nobody gives one")
	}
	left := time.Duration(0)
	if !g.ExpiresAt.IsZero() {
		if left = g.ExpiresAt.Sub(tx.Now()).Truncate(time.Second); left <= 0 {
			return bad("the grant ended at %s", g.ExpiresAt.Format(time.RFC3339))
		}
	}
	words := GrantIn{Principal: g.Principal.String(), Effect: g.Effect.String(), Resource: g.Scope.Root.String(), Tools: g.ToolPatterns,
		Approvers: names(g.Approvers), MaxDepth: g.Scope.MaxDepth, Only: g.Scope.Only, TTL: int64(left / time.Second),
		From: g.DelegationID, Redelegate: g.Redelegate, Note: g.Note}
	for _, d := range g.Scope.Denied {
		words.Except = append(words.Except, d.String())
	}
	for _, p := range g.Permissions {
		words.Permissions = append(words.Permissions, string(p))
	}
	for _, c := range g.DataClasses {
		words.Classes = append(words.Classes, string(c))
	}
	return b.Add(ctx, tx, words)
}

func principals(chain []string) (out []policy.PrincipalRef, err error) {
	for _, f := range chain {
		p, err := policy.ParsePrincipal(f)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}
