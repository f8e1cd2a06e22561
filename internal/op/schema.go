package op

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

var schemaOptions = &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[json.RawMessage](): {Description: "any JSON value"},
	reflect.TypeFor[Kind]():            {Type: "string"},
}}

// InSchema is the JSON Schema of the input, for every door that describes it.
func (o *Op) InSchema() (*jsonschema.Schema, error) { return schemaOf(o.Name, o.In) }

// OutSchema is the JSON Schema of the output.
func (o *Op) OutSchema() (*jsonschema.Schema, error) { return schemaOf(o.Name, o.Out) }

func schemaOf(name string, t reflect.Type) (*jsonschema.Schema, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s, err := jsonschema.ForType(t, schemaOptions)
	if err != nil {
		return nil, fmt.Errorf("describe %s of %s: %w", t, name, err)
	}
	return s, nil
}

// Field is one top-level field of an input, as doors that carry strings need
// it (a path, a query, a command line).
type Field struct {
	Name     string // JSON name
	Doc      string
	Type     reflect.Type
	Required bool
}

// Fields lists the input's top-level fields in their order.
func (o *Op) Fields() []Field { return o.fields }

func collectFields(t reflect.Type, out *[]Field) {
	if t.Kind() != reflect.Struct {
		return
	}
	for i := range t.NumField() {
		f := t.Field(i)
		tag, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && tag == "":
			collectFields(f.Type, out)
		case tag == "-" || !f.IsExported():
		default:
			if tag == "" {
				tag = f.Name
			}
			*out = append(*out, Field{tag, f.Tag.Get("jsonschema"), f.Type, !strings.Contains(opts, "omitempty") &&
				!strings.Contains(opts, "omitzero")})
		}
	}
}
