package op

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"tandem/internal/fault"
)

// strictUnmarshal reads exactly one JSON object with these fields, and nothing behind it.
func strictUnmarshal(data []byte, into any, fields []Field) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if err == nil {
		if _, more := dec.Token(); more != io.EOF {
			err = errors.New("there is something behind the JSON object")
		}
	}
	if err == nil {
		return nil
	}
	return fault.New(fault.Invalid, "op.decode", "%s", Sentence(err)+choice(err, data, fields))
}

// Sentence says what is wrong with JSON in words for whoever wrote it, people and models: it names no type of this program.
func Sentence(err error) string {
	var typ *json.UnmarshalTypeError
	var syn *json.SyntaxError
	switch {
	case errors.As(err, &typ) && typ.Field != "":
		return fmt.Sprintf("%q should be %s, not %s", typ.Field, shape(typ.Type), typ.Value)
	case errors.As(err, &typ):
		return fmt.Sprintf("the input should be a JSON object, not %s", typ.Value)
	case errors.As(err, &syn):
		return fmt.Sprintf("the input is not JSON: %s at byte %d", syn, syn.Offset)
	}
	if f, ok := unknown(err); ok {
		return fmt.Sprintf("there is no field %q here", f)
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// unknown is the field that a strict decoder refused. The library has no type for that error.
func unknown(err error) (string, bool) {
	quoted, ok := strings.CutPrefix(err.Error(), "json: unknown field ")
	if !ok {
		return "", false
	}
	f, bad := strconv.Unquote(quoted)
	return f, bad == nil
}

// choice names the fields that there are, when it is the object itself, and not one inside it, that has one too many.
func choice(err error, data []byte, fields []Field) string {
	f, ok := unknown(err)
	var given map[string]json.RawMessage
	if !ok || json.Unmarshal(data, &given) != nil || given[f] == nil {
		return ""
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	if slices.Contains(names, f) || len(names) == 0 {
		return ""
	}
	return "; there are: " + strings.Join(names, ", ")
}

// shape is what JSON calls a type.
func shape(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return shape(t.Elem())
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "a whole number"
}
