package op

import (
	"context"
	"time"
)

// Bound is what a name in a call's input stands for at this moment: a bookmark's commit, a file's content, a model's address. An
// approval is bound to it, and the person who gives it is shown it.
type Bound struct {
	Name  string `json:"name" jsonschema:"what is meant: bookmark rel, remote origin"`
	Value string `json:"value"`
	// Shown says that it follows from the other values and is only there to be looked at; Diff that it is a unified diff.
	Shown bool `json:"shown,omitempty"`
	Diff  bool `json:"diff,omitempty"`
	// Covers are the arguments that a diff shows already, by their names on a page.
	Covers []string `json:"covers,omitempty"`
}

// Binding adds to a row what the names in its input stand for. It is asked only where somebody has to approve the call, before
// the ask and again before the approval is spent; an error refuses the call.
func Binding[In any](o Op, bind func(ctx context.Context, in In) ([]Bound, error)) Op {
	o.bind = func(ctx context.Context, in any) ([]Bound, error) { return bind(ctx, in.(In)) }
	return o
}

// Expiring adds to a row until when an ask about a call is of use; the zero time where nothing ends it sooner than any other.
func Expiring[In any](o Op, until func(ctx context.Context, in In) (time.Time, error)) Op {
	o.until = func(ctx context.Context, in any) (time.Time, error) { return until(ctx, in.(In)) }
	return o
}

// Until is until when an ask about this call is of use.
func (o *Op) Until(ctx context.Context, in any) (time.Time, error) {
	if o.until == nil {
		return time.Time{}, nil
	}
	return o.until(ctx, in)
}

// Binds reports whether the row resolves names of its input.
func (o *Op) Binds() bool { return o.bind != nil }

// Bind is what the names in this call's input stand for now.
func (o *Op) Bind(ctx context.Context, in any) ([]Bound, error) {
	if o.bind == nil {
		return nil, nil
	}
	return o.bind(ctx, in)
}

type boundKey struct{}

// WithBound gives a handler what was approved.
func WithBound(ctx context.Context, b []Bound) context.Context {
	return context.WithValue(ctx, boundKey{}, b)
}

// BoundIn is the approved value of a name; false when nobody was asked about this call. A handler that resolves the name again
// refuses when it finds another value: between the gate's look and its own the name may have moved.
func BoundIn(ctx context.Context, name string) (string, bool) {
	all, _ := ctx.Value(boundKey{}).([]Bound)
	for _, b := range all {
		if b.Name == name && !b.Shown {
			return b.Value, true
		}
	}
	return "", false
}
