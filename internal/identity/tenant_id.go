package identity

import (
	"cmp"
	"context"

	"tandem/internal/op"
)

// tenantID is the id of a tenant that an input names, found when the call is planned: rules and grants of the house are about that id. One
// who may do something to a tenant may not do it to another that is given its name later, nor does a tenant's id lead around a rule.
type tenantID struct{ id string }

func (t tenantID) planned() bool { return t.id != "" }

// at is the tenant as a resource; by its name where there is none.
func (t tenantID) at(name string) op.Resource { return tenantAt(t.ref(name)) }

func (t tenantID) ref(name string) string { return cmp.Or(t.id, name) }

func (in TenantRef) find(ctx context.Context, r *Room) TenantRef {
	in.id = r.idOf(ctx, in.Name)
	return in
}
func (in SuspendIn) find(ctx context.Context, r *Room) SuspendIn {
	in.id = r.idOf(ctx, in.Name)
	return in
}
func (in TenantInviteIn) find(ctx context.Context, r *Room) TenantInviteIn {
	in.id = r.idOf(ctx, in.Tenant)
	return in
}
func (in TenantLimitIn) find(ctx context.Context, r *Room) TenantLimitIn {
	in.id = r.idOf(ctx, in.Name)
	return in
}
func (in EraseIn) find(ctx context.Context, r *Room) EraseIn { in.id = r.idOf(ctx, in.Name); return in }

// plan has the calls of a row find their tenant before they are judged.
func plan[In interface{ planned() bool }](r *Room, o op.Op, find func(In, context.Context, *Room) In) op.Op {
	return op.Planning(o, func(in In) bool { return in.planned() }, func(ctx context.Context, in In) In { return find(in, ctx, r) })
}

// idOf is the id of a tenant by its name or id; "" where there is none, which the call itself then says.
func (r *Room) idOf(ctx context.Context, name string) (id string) {
	err := r.db.QueryRow(ctx, "SELECT id FROM tenant WHERE (id = ? OR name = ?) AND state <> ?", name, name, TenantErased).Scan(&id)
	if err != nil {
		return ""
	}
	return id
}
