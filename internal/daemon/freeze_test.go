package daemon

import (
	"fmt"
	"strings"
	"testing"

	"tandem/internal/op"
	golden "tandem/test/freeze"
)

// The table of operations: what each is called, changes, needs, takes and answers. Names of events are names of operations.
func TestFrozenOperations(t *testing.T) {
	d, _ := walked(t)
	today := map[string]string{}
	for _, o := range d.gate.Table().All() {
		in, err := o.InSchema()
		if err != nil {
			t.Fatal(err)
		}
		out, err := o.OutSchema()
		if err != nil {
			t.Fatal(err)
		}
		today[golden.Noun(o.Name)+".txt"] += fmt.Sprintf("==== %s\n%sin %sout %s", o.Name, spec(o), golden.Lay(in), golden.Lay(out))
	}
	golden.Check(t, "ops", today)
}

func spec(o *op.Op) string {
	var b strings.Builder
	fmt.Fprintf(&b, "class %s\nright %s\n", o.Class, o.Right)
	if o.Path != "" {
		fmt.Fprintf(&b, "route %s %s\n", o.Method, o.Path)
	}
	if tool := o.ToolName(); tool != "" {
		fmt.Fprintf(&b, "tool %s\n", tool)
	}
	for _, a := range o.Aliases {
		fmt.Fprintf(&b, "alias %s\n", strings.TrimSpace(a.MCP+" "+a.Method+" "+a.Path))
	}
	for _, f := range []struct {
		word string
		is   bool
	}{{"masked", o.Masked}, {"once", o.Once}, {"people", o.People}, {"present", o.Present}, {"public", o.Public},
		{"sealed", o.Sealed}, {"socket", o.Socket}, {"spare", o.Spare}} {
		if f.is {
			fmt.Fprintf(&b, "flag %s\n", f.word)
		}
	}
	if len(o.Secret) > 0 {
		fmt.Fprintf(&b, "secret %s\n", strings.Join(o.Secret, " "))
	}
	if o.Status != 0 {
		fmt.Fprintf(&b, "status %d\n", o.Status)
	}
	return b.String()
}
