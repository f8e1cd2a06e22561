package repo

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Encode is the operation as jj stores it. The bytes are ours; the id is what
// both agree on.
func (o *Operation) Encode() []byte {
	b := appendBytes(nil, 1, o.View)
	for _, p := range o.Parents {
		b = appendBytes(b, 2, p)
	}
	b = appendBytes(b, 3, string(o.Meta.encode()))
	if o.Predecessors != nil {
		for _, id := range slices.Sorted(maps.Keys(o.Predecessors)) {
			e := appendBytes(nil, 1, id)
			for _, old := range o.Predecessors[id] {
				e = appendBytes(e, 2, old)
			}
			b = appendBytes(b, 4, string(e))
		}
		b = appendVarint(b, 5, 1)
	}
	return append(b, o.unknown...)
}

func (m *OperationMeta) encode() []byte {
	b := appendBytes(nil, 1, string(encodeTime(m.Start)))
	b = appendBytes(b, 2, string(encodeTime(m.End)))
	b = appendText(b, 3, m.Description)
	b = appendText(b, 4, m.Hostname)
	b = appendText(b, 5, m.Username)
	for _, k := range slices.Sorted(maps.Keys(m.Attributes)) {
		e := appendText(nil, 1, k)
		e = appendText(e, 2, m.Attributes[k])
		b = appendBytes(b, 6, string(e))
	}
	if m.Snapshot {
		b = appendVarint(b, 7, 1)
	}
	if m.Workspace != "" {
		b = appendBytes(b, 8, m.Workspace)
	}
	return append(b, m.unknown...)
}

func encodeTime(t Timestamp) []byte {
	b := appendInt(nil, 1, t.Millis)
	return appendInt(b, 2, int64(t.Offset))
}

// DecodeOperation reads an operation. It does not check the id.
func DecodeOperation(data []byte) (*Operation, error) {
	o := &Operation{}
	predecessors := map[CommitID][]CommitID{}
	recorded := false
	var err error
	o.unknown, err = fields(data, func(num protowire.Number, f field) (bool, error) {
		switch num {
		case 1:
			b, err := f.bytes()
			o.View = ViewID(b)
			return true, err
		case 2:
			b, err := f.bytes()
			if err == nil && len(b) != OperationIDLen {
				err = fmt.Errorf("parent id of %d bytes", len(b))
			}
			o.Parents = append(o.Parents, OperationID(b))
			return true, err
		case 3:
			return true, o.Meta.decode(f)
		case 4:
			return true, decodePredecessors(f, predecessors)
		case 5:
			return true, f.bool(&recorded)
		}
		return false, nil
	})
	if err != nil {
		return nil, fmt.Errorf("decode operation: %w", err)
	}
	if len(o.View) != OperationIDLen {
		return nil, fmt.Errorf("decode operation: view id of %d bytes", len(o.View))
	}
	if recorded {
		o.Predecessors = predecessors
	}
	if len(o.Parents) == 0 {
		o.Parents = []OperationID{RootOperationID}
	}
	return o, nil
}

func (m *OperationMeta) decode(f field) (err error) {
	m.unknown, err = f.message(func(num protowire.Number, f field) (bool, error) {
		switch num {
		case 1:
			return true, decodeTime(f, &m.Start)
		case 2:
			return true, decodeTime(f, &m.End)
		case 3:
			return true, f.str(&m.Description)
		case 4:
			return true, f.str(&m.Hostname)
		case 5:
			return true, f.str(&m.Username)
		case 6:
			var k, v string
			if err := decodePair(f, &k, func(f field) error { return f.str(&v) }); err != nil {
				return true, err
			}
			if m.Attributes == nil {
				m.Attributes = map[string]string{}
			}
			m.Attributes[k] = v
			return true, nil
		case 7:
			return true, f.bool(&m.Snapshot)
		case 8:
			return true, f.str(&m.Workspace)
		}
		return false, nil
	})
	return err
}

func decodeTime(f field, t *Timestamp) error {
	_, err := f.message(func(num protowire.Number, f field) (bool, error) {
		var n uint64
		switch num {
		case 1:
			err := f.varint(&n)
			t.Millis = int64(n)
			return true, err
		case 2:
			err := f.varint(&n)
			t.Offset = int32(n)
			return true, err
		}
		return false, nil
	})
	return err
}

// decodePair reads a map entry: a key and a value.
func decodePair(f field, key *string, value func(field) error) error {
	_, err := f.message(func(num protowire.Number, f field) (bool, error) {
		switch num {
		case 1:
			return true, f.str(key)
		case 2:
			return true, value(f)
		}
		return false, nil
	})
	return err
}

func decodePredecessors(f field, into map[CommitID][]CommitID) error {
	var id CommitID
	olds := []CommitID{}
	_, err := f.message(func(num protowire.Number, f field) (bool, error) {
		b, err := f.bytes()
		switch num {
		case 1:
			id = CommitID(b)
			return true, err
		case 2:
			olds = append(olds, CommitID(b))
			return true, err
		}
		return false, nil
	})
	into[id] = olds
	return err
}
