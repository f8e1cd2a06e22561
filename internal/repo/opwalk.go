package repo

import (
	"cmp"
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

// WalkOperations visits operations and their ancestors, latest first, each
// once, until visit says no or fails.
func WalkOperations(s Store, heads []OperationID, visit func(*Operation) (more bool, err error)) error {
	var queue opQueue
	seen := map[OperationID]struct{}{}
	add := func(ids []OperationID) error {
		for _, id := range ids {
			if _, ok := seen[id]; ok {
				continue
			}
			seen[id] = struct{}{}
			o, err := s.Operation(id)
			if err != nil {
				return err
			}
			queue.push(o)
		}
		return nil
	}
	if err := add(heads); err != nil {
		return err
	}
	for len(queue) > 0 {
		o := queue.pop()
		more, err := visit(o)
		if err != nil || !more {
			return err
		}
		if err := add(o.Parents); err != nil {
			return err
		}
	}
	return nil
}

// OperationRange lists the operations reachable from heads and not from roots,
// latest first.
func OperationRange(s Store, roots, heads []OperationID) ([]*Operation, error) {
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
			o, err := s.Operation(id)
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
