package template

import (
	"bytes"
	"encoding/json"
)

// Object is a JSON object that keeps the order of its fields.
type Object []Member

// Member is one field of an Object.
type Member struct {
	Key   string
	Value any
}

// MarshalJSON writes the fields in order.
func (o Object) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = appendJSON(out, m.Key); err != nil {
			return nil, err
		}
		out = append(out, ':')
		if out, err = appendJSON(out, m.Value); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

func appendJSON(out []byte, v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return append(out, bytes.TrimSuffix(b.Bytes(), []byte{'\n'})...), nil
}
