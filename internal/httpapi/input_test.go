package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	"tandem/internal/op"
)

type placedIn struct {
	Key   string            `json:"key"`
	N     int               `json:"n,omitempty"`
	Value any               `json:"value,omitempty"`
	Tags  map[string]string `json:"tags,omitempty"`
}

// What is put together as text is what is put together member by member; where it could differ, text is not used.
func TestAnInputIsTheSameEitherWay(t *testing.T) {
	o := op.Read(op.Spec{Name: "thing.get"}, func(placedIn) op.Resource { return op.Resource{} },
		func(context.Context, placedIn) (string, error) { return "", nil })
	var table op.Table
	o.Right, o.Doc, o.Method, o.Path = "resource.view", "Reads a thing, in a test.", "PUT", "/thing/{key...}"
	if err := table.Add(o); err != nil {
		t.Fatal(err)
	}
	row := table.Get("thing.get")
	for _, c := range []struct {
		path, query, body string
		plain             bool
	}{
		{"a/b", "", "", true},
		{"a\"\\\u00e9\x00\xff", "", "", true},
		{"", "", `{"key":"x","value":[1]}`, true},
		{"a", "", `{}`, true},
		{"a", "", ` { "value" : {"deep": {"key2": 1}} , "n": 3 } `, true},
		{"a", "", `{"tags":{"x":"y"},"tags":{"x":"z"}}`, true},
		{"a", "", `{"key":"b"}`, false},
		{"a", "", `{"KEY":"b"}`, true},
		{"a", "", `{"\u006bey":"b"}`, false},
		{"a", "", `{"value":{"key":"inside"}}`, false},
		{"a", "n=3", `{"value":1}`, false},
		{"a", "", `null`, false},
		{"a", "", `[1]`, false},
		{"a", "", `{"value":1} {"value":2}`, false},
		{"a", "", `{"value":}`, false},
		{"a", "", `{"other":1}`, true},
		{"", "", ``, true},
	} {
		r := httptest.NewRequest(http.MethodPut, "/thing?"+c.query, nil)
		r.SetPathValue("key", c.path)
		data, ok := joined(row.Fields(), r, []byte(c.body))
		if ok != c.plain {
			t.Errorf("%q %q: plain is %v", c.path, c.body, ok)
		}
		slow, slowErr := merged(row, r, []byte(c.body))
		if !ok {
			continue
		}
		one, oneErr := row.Decode(data)
		if slowErr == nil {
			var two any
			if two, slowErr = row.Decode(slow); oneErr == nil && slowErr == nil && !reflect.DeepEqual(one, two) {
				t.Errorf("%q %q: %#v, and member by member %#v", c.path, c.body, one, two)
			}
		}
		if (oneErr == nil) != (slowErr == nil) || oneErr != nil && oneErr.Error() != slowErr.Error() {
			t.Errorf("%q %q: %v, and member by member %v", c.path, c.body, oneErr, slowErr)
		}
	}
}
