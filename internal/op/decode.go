package op

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"tandem/internal/fault"
)

// strictUnmarshal reads exactly one JSON object and nothing behind it.
func strictUnmarshal(data []byte, into any) error {
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
	return fault.New(fault.Invalid, "op.decode", "%s", Sentence(err))
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
	msg := strings.TrimPrefix(err.Error(), "json: ")
	if f, ok := strings.CutPrefix(msg, "unknown field "); ok {
		return fmt.Sprintf("there is no field %s here", f)
	}
	return msg
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
