package op

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"tandem/internal/fault"
)

type in struct {
	Key   string `json:"key"`
	Value string `json:"value,omitempty"`
}

func anywhere(in) Resource { return Resource{"thing", "/", ""} }

func nothing(context.Context, in) (struct{}, error) { return struct{}{}, nil }

func TestTableRefusesWhatNobodyCouldGovern(t *testing.T) {
	good := Spec{Name: "thing.read", Doc: "Read a thing.", Right: "thing.read", Method: "GET", Path: "/thing"}
	for _, c := range []struct {
		name string
		row  func(s Spec) Op
		want string
	}{
		{"good", func(s Spec) Op { return Read(s, anywhere, nothing) }, ""},
		{"no right", func(s Spec) Op { s.Right = ""; return Read(s, anywhere, nothing) }, "no right"},
		{"no resource", func(s Spec) Op { return Read(s, nil, nothing) }, "no resource"},
		{"no doc", func(s Spec) Op { s.Doc = ""; return Read(s, anywhere, nothing) }, "no documentation"},
		{"bad name", func(s Spec) Op { s.Name = "Thing"; return Read(s, anywhere, nothing) }, "noun.verb"},
		{"an effect for strangers", func(s Spec) Op {
			s.Method, s.Public = "POST", true
			return Effect(s, anywhere, nothing, nil)
		}, "only reads"},
		{"GET effect", func(s Spec) Op { return Effect(s, anywhere, nothing, nil) }, "GET must change nothing"},
	} {
		var table Table
		err := table.Add(c.row(good))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: Add = %v, want %q", c.name, err, c.want)
		}
	}
	var table Table
	if err := table.Add(Read(good, anywhere, nothing), Read(good, anywhere, nothing)); err == nil {
		t.Error("two rows of one name were accepted")
	}
	for name, a := range map[string]Alias{"a tool": {MCP: "thing_read"}, "a route": {Method: "GET", Path: "/thing"}} {
		other := Spec{Name: "thing.look", Doc: "Look at a thing.", Right: "thing.read", Aliases: []Alias{a}}
		var table Table
		if err := table.Add(Read(good, anywhere, nothing), Read(other, anywhere, nothing)); err == nil ||
			!strings.Contains(err.Error(), "belongs to thing.read") {
			t.Errorf("%s of another row was taken as an alias: %v", name, err)
		}
	}
}

func TestDecodeIsStrict(t *testing.T) {
	o := Read(Spec{Name: "thing.read"}, anywhere, nothing)
	for body, want := range map[string]string{
		`{"key":"a"}`:             "",
		``:                        `"key" is missing`,
		`{"value":"b"}`:           `"key" is missing`,
		`{"key":"a","valu":"b"}`:  `no field "valu"`,
		`{"content":"b"}`:         `there is no field "content" here; there are: key, value`,
		`{"key":7}`:               `"key" should be a string`,
		`[1]`:                     "should be a JSON object",
		`{"key":"a"} {"key":"b"}`: "behind the JSON object",
		`{"key":`:                 "unexpected EOF",
	} {
		_, err := o.Decode([]byte(body))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("Decode(%s) = %v, want %q", body, err, want)
		}
		if err != nil && fault.KindOf(err) != fault.Invalid {
			t.Errorf("Decode(%s) is %v, want invalid", body, fault.KindOf(err))
		}
	}
}

func TestRedactedHidesSecrets(t *testing.T) {
	o := Read(Spec{Name: "thing.set", Secret: []string{"value"}}, anywhere, nothing)
	got, err := o.Redacted(in{"k", "hunter2"})
	if err != nil || strings.Contains(string(got), "hunter2") || !strings.Contains(string(got), `"k"`) {
		t.Errorf("Redacted = %s, %v", got, err)
	}
}

func TestNobodyMayAnythingWithoutAGate(t *testing.T) {
	ctx := context.Background()
	if May(ctx, "thing.read", Resource{"thing", "/", ""}) || CallerFrom(ctx).Known() {
		t.Error("an empty context has rights")
	}
}

// A model was told of a Go struct field; it is told what JSON has there instead.
func TestWhatDoesNotFitIsSaidInWords(t *testing.T) {
	type item struct{ Label string }
	var in struct {
		Items []item
		On    *bool
		N     int
	}
	for text, want := range map[string]string{
		`{"Items":["a"]}`: `"Items" should be an object, not string`,
		`{"Items":1}`:     `"Items" should be a list, not number`,
		`{"On":"x"}`:      `"On" should be true or false, not string`,
		`{"N":1.5}`:       `"N" should be a whole number, not number 1.5`,
	} {
		if got := Sentence(json.Unmarshal([]byte(text), &in)); got != want {
			t.Errorf("%s: %q, not %q", text, got, want)
		}
	}
}
