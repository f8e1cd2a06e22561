package daemon

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"tandem/internal/op"
	journalled "tandem/internal/told"
)

// A name in an approved call can stand for something else by the time the call is made: a push was approved by its bookmark's
// name, and what the bookmark was moved to was pushed. One table says for every such operation what an approval binds; a new
// operation is not in it until somebody has thought about that.
func TestEveryNameIsBound(t *testing.T) {
	d, _ := walked(t)
	reasons := map[string]bool{byValue: true, byID: true, byContent: true, byVersion: true, byName: true, byPerson: true, passesOn: true,
		looksOnly: true, ofSettings: true, fromAgent: true, byServer: true}
	seen := map[string]bool{}
	for _, o := range d.gate.Table().All() {
		said, listed := bindings[o.Name]
		seen[o.Name] = true
		switch named := o.Changes() && hasName(o.In); {
		case named && !listed:
			t.Errorf("%s takes a name, and the table does not say what an approval of it binds", o.Name)
		case !named && listed:
			t.Errorf("%s takes no name and needs no line", o.Name)
		case listed && !reasons[said] && !o.Binds():
			t.Errorf("%s is said to bind %s, and binds nothing", o.Name, said)
		case listed && (said == byValue || said == byName || said == byID) && excused[o.Name] == "" && late(o) != "":
			t.Errorf("%s takes a %s, which is looked up when it is done: it binds what that stands for", o.Name, late(o))
		case listed && reasons[said] && o.Binds() && !isTool(o):
			t.Errorf("%s binds something and the table says that it does not", o.Name)
		}
	}
	for name := range bindings {
		if !seen[name] {
			t.Errorf("the table speaks of %s, which does not exist", name)
		}
	}
}

// looked are fields whose words are looked up when the call is done: whom it goes to, which model answers, what a branch or a remote is.
var looked = []string{"to", "peer", "assignee", "tasks", "model", "remote", "bookmarks", "recipient", "file", "connector"}

// excused are operations that take such a word for what it is.
var excused = map[string]string{
	"context.add":   "the tasks are new ones: what is sent is what is written down",
	"context.start": "the model is written down as it is called",
	"provider.add":  "the model is written down as it is called",
	"space.create":  "the model is what the member says of itself",
	"space.join":    "the model is what the member says of itself",
}

// late is a field of an operation whose word is looked up late, "" when it has none.
func late(o *op.Op) string {
	for _, f := range o.Fields() {
		if slices.Contains(looked, f.Name) {
			return f.Name
		}
	}
	return ""
}

// isTool tells whether the row is a tool's: whether it binds anything is its plan's to say.
func isTool(o *op.Op) bool { return strings.HasPrefix(o.Name, "tool.") }

// hasName tells whether an input has a field that holds a word.
func hasName(in reflect.Type) bool {
	if in.Kind() != reflect.Struct {
		return in.Kind() == reflect.String || in.Kind() == reflect.Slice
	}
	for i := range in.NumField() {
		switch f := in.Field(i).Type; f.Kind() {
		case reflect.String, reflect.Slice, reflect.Map, reflect.Struct, reflect.Pointer, reflect.Interface:
			return true
		}
	}
	return false
}

// The journal told that somebody "runed an automation": what changes something has words of its own, or a verb that is known.
func TestEveryChangeIsToldInWords(t *testing.T) {
	d, _ := walked(t)
	for _, o := range d.gate.Table().All() {
		if o.Changes() && !journalled.Known(o.Name) {
			t.Errorf("the journal has no words for %s: give it a phrase in internal/told", o.Name)
		}
	}
}
