package spec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// Duration is a length of time as people write it: "90s", "2h", "3d".
type Duration time.Duration

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(text []byte) error {
	s := string(text)
	if days, ok := strings.CutSuffix(s, "d"); ok {
		var n int
		if _, err := fmt.Sscanf(days, "%d", &n); err != nil || fmt.Sprint(n) != days || n < 0 || n > 3660 {
			return fmt.Errorf("%q is no length of time, such as 90s, 2h or 3d", clip(s))
		}
		*d = Duration(time.Duration(n) * 24 * time.Hour)
		return nil
	}
	v, err := time.ParseDuration(s)
	if err != nil || v < 0 {
		return fmt.Errorf("%q is no length of time, such as 90s, 2h or 3d", clip(s))
	}
	*d = Duration(v)
	return nil
}

// MarshalText writes it so that equal lengths are equal texts.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// Ref names a value: "node.output", "node.output.field", or "input.name" for what the run was given.
type Ref string

// Split gives the node and the way into its outputs.
func (r Ref) Split() (node string, way []string) {
	parts := strings.Split(string(r), ".")
	return parts[0], parts[1:]
}

// given is the node that stands for what a run was given when it began.
const given = "input"

// Schema is a JSON schema, written as a TOML table.
type Schema struct {
	jsonschema.Schema
	resolved *jsonschema.Resolved
}

// UnmarshalTOML reads a schema. References to elsewhere are not followed.
func (s *Schema) UnmarshalTOML(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("a schema is a table: %w", err)
	}
	if strings.Contains(string(data), `"$ref"`) || strings.Contains(string(data), `"$dynamicRef"`) {
		return fmt.Errorf("a schema is written out: $ref is not followed")
	}
	if err := json.Unmarshal(data, &s.Schema); err != nil {
		return fmt.Errorf("no JSON schema: %w", err)
	}
	s.resolved, err = s.Schema.Resolve(nil)
	if err != nil {
		return fmt.Errorf("no JSON schema: %w", err)
	}
	return nil
}

// MarshalJSON writes the schema itself.
func (s *Schema) MarshalJSON() ([]byte, error) { return json.Marshal(&s.Schema) }

// Accepts says why a value is not of this schema, or nil.
func (s *Schema) Accepts(value any) error {
	value, err := measured(value)
	if err != nil {
		return err
	}
	return s.resolved.Validate(value)
}

// measured is a value with its numbers as schemas compare them.
func measured(value any) (_ any, err error) {
	switch v := value.(type) {
	case json.Number:
		return v.Float64()
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, one := range v {
			if out[name], err = measured(one); err != nil {
				return nil, err
			}
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, one := range v {
			if out[i], err = measured(one); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return value, nil
}

// Decode reads JSON with its numbers as they are written: an id of 17 digits keeps them all.
func Decode(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is more than one value")
	}
	return nil
}

// at is the schema of a field, nil when the schema does not tell.
func (s *Schema) at(way []string) *jsonschema.Schema {
	here := &s.Schema
	for _, name := range way {
		if here = here.Properties[name]; here == nil {
			return nil
		}
	}
	return here
}

// values are what a schema's value can be, when they are few: words of an enum, or true and false.
func values(s *jsonschema.Schema) []string {
	if s.Type == "boolean" {
		return []string{"false", "true"}
	}
	var out []string
	for _, v := range s.Enum {
		word, ok := v.(string)
		if !ok {
			return nil
		}
		out = append(out, word)
	}
	return out
}

// clip shortens what somebody wrote for a message, at the border of a letter.
func clip(s string) string {
	const most = 60
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i] + "…"
		}
	}
	return s
}
