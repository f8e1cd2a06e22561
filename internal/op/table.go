package op

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
	"sync"
)

// Table is the set of all operations of one program.
type Table struct {
	byName map[string]*Op
	byTool map[string]*Op
	routes map[string]string
}

var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z_]+(\.[a-z_]+)+$`) })

// Add puts rows into the table. It refuses a row that nobody could govern or
// explain, and two rows that would answer to one name.
func (t *Table) Add(ops ...Op) error {
	if t.byName == nil {
		t.byName, t.byTool, t.routes = map[string]*Op{}, map[string]*Op{}, map[string]string{}
	}
	for i := range ops {
		o := ops[i]
		if err := t.check(&o); err != nil {
			return fmt.Errorf("operation %q: %w", o.Name, err)
		}
		t.byName[o.Name] = &o
		if tool := o.ToolName(); tool != "" {
			t.byTool[tool] = &o
		}
		t.routes[o.Method+" "+o.Path] = o.Name
		for _, a := range o.Aliases {
			if a.MCP != "" {
				t.byTool[a.MCP] = &o
			}
			if a.Path != "" {
				t.routes[a.Method+" "+a.Path] = o.Name
			}
		}
	}
	return nil
}

func (t *Table) check(o *Op) error {
	switch {
	case !nameForm().MatchString(o.Name):
		return fmt.Errorf("the name should be noun.verb in lower case")
	case t.byName[o.Name] != nil:
		return fmt.Errorf("there is one already")
	case o.Right == "" && !o.Public:
		return fmt.Errorf("it names no right")
	case o.resource == nil && !o.Public:
		return fmt.Errorf("it names no resource")
	case len(strings.TrimSpace(o.Doc)) < 10:
		return fmt.Errorf("it has no documentation")
	case o.Method == "" && o.Path != "", o.Method != "" && o.Path == "":
		return fmt.Errorf("method and path belong together")
	case o.Public && o.Class != ClassRead && o.Class != ClassCall:
		return fmt.Errorf("whom nobody knows only reads, or is passed on to what decides")
	case o.Method == "GET" && o.Changes():
		return fmt.Errorf("GET must change nothing")
	}
	for _, a := range append([]Alias{{o.ToolName(), o.Method, o.Path}}, o.Aliases...) {
		if owner := t.routes[a.Method+" "+a.Path]; a.Path != "" && owner != "" {
			return fmt.Errorf("%s %s belongs to %s", a.Method, a.Path, owner)
		}
		if owner := t.byTool[a.MCP]; a.MCP != "" && owner != nil {
			return fmt.Errorf("the tool %s belongs to %s", a.MCP, owner.Name)
		}
	}
	return nil
}

// Get is the operation of that name, nil when there is none.
func (t *Table) Get(name string) *Op { return t.byName[name] }

// Tool is the operation behind an MCP tool name, nil when there is none.
func (t *Table) Tool(name string) *Op { return t.byTool[name] }

// Tools are all tool names, aliases included, in order.
func (t *Table) Tools() []string {
	names := make([]string, 0, len(t.byTool))
	for n := range t.byTool {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// All are the operations in the order of their names.
func (t *Table) All() []*Op {
	all := make([]*Op, 0, len(t.byName))
	for _, o := range t.byName {
		all = append(all, o)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all
}
