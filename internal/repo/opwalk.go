package repo

import (
	"cmp"
	"context"
	"slices"
)

// opQueue gives the operation that ended last first, which by honest clocks
// is children before parents.
type opQueue []*Operation

func (q *opQueue) push(o *Operation) {
	later := func(a, b *Operation) int {
		return cmp.Or(cmp.Compare(a.Meta.End.Millis, b.Meta.End.Millis), cmp.Compare(a.ID, b.ID))
	}
	i, _ := slices.BinarySearchFunc(*q, o, later)
	*q = slices.Insert(*q, i, o)
}

func (q *opQueue) pop() *Operation {
	last := len(*q) - 1
	o := (*q)[last]
	*q = (*q)[:last]
	return o
}

// WalkOperations visits operations and their ancestors, children before
// parents, each once, until visit says no or fails. The order is the one in
// which jj lists them: where history forks, one branch after the other.
func WalkOperations(ctx context.Context, s Store, heads []OperationID, visit func(*Operation) (more bool, err error)) error {
	var start []*Operation
	load := func(ids []OperationID) error {
		for _, id := range ids {
			o, err := s.Operation(ctx, id)
			if err != nil {
				return err
			}
			start = append(start, o)
		}
		return nil
	}
	if err := load(heads); err != nil {
		return err
	}
	done := map[OperationID]bool{}
	for len(start) > 0 {
		ready := start
		var err error
		if len(start) == 1 {
			start = nil
			err = load(ready[0].Parents)
		} else {
			ready, start, err = forkedOperations(ctx, s, start)
		}
		if err != nil {
			return err
		}
		for _, o := range ready {
			if done[o.ID] {
				continue
			}
			done[o.ID] = true
			if more, err := visit(o); err != nil || !more {
				return err
			}
		}
	}
	return nil
}

// forkedOperations follows several branches of history to where they are one
// again, and gives the operations on the way, the first branch first, and the
// one to go on from.
func forkedOperations(ctx context.Context, s Store, start []*Operation) (ready, rest []*Operation, err error) {
	var queue opQueue
	for _, o := range start {
		queue.push(o)
	}
	found := map[OperationID]*Operation{}
	root := false
	for len(queue) > 0 && (len(queue) > 1 || len(found) == 0 || root) {
		o := queue.pop()
		if found[o.ID] != nil {
			continue
		}
		found[o.ID] = o
		root = root || len(o.Parents) == 0
		for _, id := range o.Parents {
			parent, err := s.Operation(ctx, id)
			if err != nil {
				return nil, nil, err
			}
			queue.push(parent)
		}
	}
	rest = queue
	// After its parents, each operation comes out; the last branch first.
	seen := map[OperationID]bool{}
	var walk func(o *Operation)
	walk = func(o *Operation) {
		if seen[o.ID] {
			return
		}
		seen[o.ID] = true
		for _, id := range slices.Backward(o.Parents) {
			if p := found[id]; p != nil && (len(rest) == 0 || id != rest[0].ID) {
				walk(p)
			}
		}
		ready = append(ready, o)
	}
	for _, o := range slices.Backward(start) {
		walk(o)
	}
	slices.Reverse(ready)
	return ready, rest, nil
}

// OperationRange lists the operations reachable from heads and not from roots,
// latest first.
func OperationRange(ctx context.Context, s Store, roots, heads []OperationID) ([]*Operation, error) {
	const wanted, unwanted = 1, 2
	marks := map[OperationID]uint8{}
	ops := map[OperationID]*Operation{}
	var queue opQueue
	pending := 0
	mark := func(id OperationID, m uint8) error {
		old := marks[id]
		if old|m == old {
			return nil
		}
		marks[id] = old | m
		if old == 0 {
			o, err := s.Operation(ctx, id)
			if err != nil {
				return err
			}
			ops[id] = o
			queue.push(o)
			if m == wanted {
				pending++
			}
			return nil
		}
		// Seen before with the other mark. If its turn has passed, a clock was
		// wrong: visit it again so that the mark reaches its ancestors.
		if old == wanted {
			if slices.Contains(queue, ops[id]) {
				pending--
			} else {
				queue.push(ops[id])
			}
		}
		return nil
	}
	for _, id := range roots {
		if err := mark(id, unwanted); err != nil {
			return nil, err
		}
	}
	for _, id := range heads {
		if err := mark(id, wanted); err != nil {
			return nil, err
		}
	}
	var out []*Operation
	for pending > 0 {
		o := queue.pop()
		m := marks[o.ID]
		if m == wanted {
			pending--
			out = append(out, o)
		} else {
			m = unwanted
		}
		for _, p := range o.Parents {
			if err := mark(p, m); err != nil {
				return nil, err
			}
		}
	}
	return slices.DeleteFunc(out, func(o *Operation) bool { return marks[o.ID]&unwanted != 0 }), nil
}
