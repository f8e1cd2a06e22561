package book

import (
	"context"

	"tandem/internal/policy"
)

// narrowings are what a chain is narrowed to by the assertions in it.
func (b *Book) narrowings(ctx context.Context, tenant string, chain []policy.PrincipalRef) (out []*policy.Narrowed, err error) {
	for _, p := range chain {
		if p.Kind != policy.ByAssertion || b.Narrowed == nil {
			continue
		}
		n, err := b.Narrowed(ctx, tenant, p)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}
