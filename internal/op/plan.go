package op

import "context"

// Planning has a row's calls planned: the input that plan gives back carries what the call touches, is bound to and does, so that what
// runs is what was judged. has says whether an input carries a plan already.
func Planning[In any](o Op, has func(in In) bool, plan func(ctx context.Context, in In) In) Op {
	o.planned = func(in any) bool { return has(in.(In)) }
	o.plan = func(ctx context.Context, in any) any { return plan(ctx, in.(In)) }
	return o
}

// Plan is the input with the plan of its call: the one that whoever calls has just made, or else a new one.
func (o *Op) Plan(ctx context.Context, in any) any {
	if o.plan == nil || o.planned(in) {
		return in
	}
	return o.plan(ctx, in)
}

// PlanAnew is the input with a plan of this moment.
func (o *Op) PlanAnew(ctx context.Context, in any) any {
	if o.plan == nil {
		return in
	}
	return o.plan(ctx, in)
}
