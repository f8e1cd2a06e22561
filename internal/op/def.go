package op

import (
	"context"
	"encoding/json"
	"fmt"

	"tandem/internal/db"
)

// Def is an operation's name together with the types that belong to it: a
// handle. A room keeps its handles in its wire package, where doors, panel,
// commands and the client find them without the room's service. Whoever calls
// names the handle, so the compiler checks the input and the answer, and an
// editor finds both ends.
//
//	const Claim = op.Def[TaskIn, Tasked]("board.claim")
//	task, err := op.Do(ctx, inv, wire.Claim, wire.TaskIn{ID: id})
type Def[In, Out any] string

// Do runs an operation through inv: the gate of this process, or a client of
// another, which answers in JSON.
func Do[In, Out any](ctx context.Context, inv Invoker, d Def[In, Out], in In) (Out, error) {
	var out Out
	got, err := inv.Invoke(ctx, string(d), in)
	if err != nil {
		return out, err
	}
	switch got := got.(type) {
	case Out:
		return got, nil
	case json.RawMessage:
		if err := json.Unmarshal(got, &out); err != nil {
			return out, fmt.Errorf("read the answer of %s: %w", d, err)
		}
		return out, nil
	}
	return out, fmt.Errorf("%s answered with %T, not with %T", d, got, out)
}

// Read makes the row of a handle that changes nothing.
func (d Def[In, Out]) Read(s Spec, resource func(In) Resource, run func(context.Context, In) (Out, error)) Op {
	s.Name = string(d)
	return Read(s, resource, run)
}

// State makes the row of a handle that changes the database.
func (d Def[In, Out]) State(s Spec, resource func(In) Resource, run func(context.Context, *db.Tx, In) (Out, error)) Op {
	s.Name = string(d)
	return State(s, resource, run)
}

// Effect makes the row of a handle that acts outside the database; recover may be nil.
func (d Def[In, Out]) Effect(s Spec, resource func(In) Resource, run func(context.Context, In) (Out, error),
	recover func(context.Context, In) (out Out, done bool, err error)) Op {
	s.Name = string(d)
	return Effect(s, resource, run, recover)
}

// Stream makes the row of a handle whose bytes a handler of its own writes; admit may be nil.
func (d Def[In, Out]) Stream(s Spec, resource func(In) Resource, admit func(context.Context, In) error) Op {
	s.Name = string(d)
	return Stream(s, resource, admit)
}

// Call makes the row of a handle that only passes on.
func (d Def[In, Out]) Call(s Spec, resource func(In) Resource, run func(context.Context, In) (Out, error)) Op {
	s.Name = string(d)
	return Call(s, resource, run)
}
