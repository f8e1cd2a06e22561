package spec

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	nameForm  = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)
	wordForm  = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)
	eventForm = regexp.MustCompile(`^[a-z][a-z_]*\.([a-z_]+\*?|\*)$`)
	holeForm  = regexp.MustCompile(`\{\{([^{}]*)\}\}`)
)

// What nobody may go beyond, whatever a file says.
const (
	maxNodes    = 500
	maxTriggers = 50
	maxText     = 64 << 10
)

// checker collects what is wrong.
type checker struct {
	a     *Automation
	nodes map[string]*Node
	all   Problems
}

func (c *checker) at(where string) func(format string, args ...any) {
	return func(format string, args ...any) { c.all = append(c.all, Problem{where, fmt.Sprintf(format, args...)}) }
}

func (a *Automation) check() Problems {
	c := &checker{a: a, nodes: map[string]*Node{}}
	say := c.at("")
	if !nameForm.MatchString(a.Name) {
		say("name is %q; it has small letters, digits and dashes, and begins with a letter", clip(a.Name))
	}
	if !slices.Contains([]Profile{Strict, Guided, Free}, a.Profile) {
		say("profile is %q; it is strict, guided or free", clip(string(a.Profile)))
	}
	if len(a.Title) > 200 || len(a.About) > maxText {
		say("title has at most 200 bytes, about %d", maxText)
	}
	c.limits()
	c.triggers()
	if len(a.Nodes) == 0 {
		say("it has no node")
	}
	if len(a.Nodes) > maxNodes {
		say("it has %d nodes; %d are allowed", len(a.Nodes), maxNodes)
		return c.all
	}
	for i := range a.Nodes {
		n := &a.Nodes[i]
		switch {
		case !wordForm.MatchString(n.ID) || n.ID == given || n.ID == "item":
			c.at(fmt.Sprintf("node %d", i+1))("id is %q; it has small letters, digits, - and _, and is not input or item", clip(n.ID))
		case c.nodes[n.ID] != nil:
			c.at("node " + n.ID)("there are two nodes of this name")
		}
		c.nodes[n.ID] = n
	}
	for i := range a.Nodes {
		c.node(&a.Nodes[i])
	}
	if len(c.all) == 0 {
		c.rings()
	}
	return c.all
}

func (c *checker) limits() {
	l, say := c.a.Limits, c.at("limits")
	for _, one := range []struct {
		name  string
		value float64
		most  float64
	}{
		{"nodes", float64(l.Nodes), 10_000}, {"attempts", float64(l.Attempts), 100}, {"items", float64(l.Items), 10_000},
		{"parallel", float64(l.Parallel), 64}, {"runs", float64(l.Runs), 1000}, {"tokens", float64(l.Tokens), 1e9},
		{"cost", l.Cost, 1e5}, {"time", time.Duration(l.Time).Seconds(), (366 * day).Seconds()},
	} {
		if !(one.value > 0 && one.value <= one.most) {
			say("%s is %v; it lies above 0 and is at most %v", one.name, one.value, one.most)
		}
	}
	if l.Priority < -100 || l.Priority > 100 {
		say("priority is %d; it lies between -100 and 100", l.Priority)
	}
}

func (c *checker) triggers() {
	if n := len(c.a.Triggers); n > maxTriggers {
		c.at("")("it has %d triggers; %d are allowed", n, maxTriggers)
		return
	}
	seen := map[string]bool{}
	for i := range c.a.Triggers {
		t := &c.a.Triggers[i]
		say := c.at("trigger " + clip(t.ID))
		if !wordForm.MatchString(t.ID) || seen[t.ID] {
			say("id is %q; it has small letters, digits, - and _, and no other trigger has it", clip(t.ID))
		}
		seen[t.ID] = true
		t.check(say)
	}
}

func (c *checker) node(n *Node) {
	say := c.at("node " + clip(n.ID))
	if k := n.kinds(); len(k) != 1 {
		say("it is %s; write one of turn, operation, command, make, automation, wait, gate, branch, map",
			cmp.Or(strings.Join(k, " and "), "nothing"))
		return
	}
	for _, id := range n.After {
		if c.nodes[id] == nil || id == n.ID {
			say("after names %q, which is no other node", clip(id))
		}
	}
	for name, ref := range n.Inputs {
		if !wordForm.MatchString(name) {
			say("an input is called %q; names have small letters, digits, - and _", clip(name))
		}
		c.ref(n, ref, say)
	}
	for name, out := range n.Output {
		if !wordForm.MatchString(name) {
			say("an output is called %q; names have small letters, digits, - and _", clip(name))
		}
		out.check(name, say)
	}
	c.bounds(n, say)
	holes := map[string]bool{}
	for name := range n.Inputs {
		holes[name] = true
	}
	n.Body.check(holes, say)
	if n.Make != nil || n.Map != nil && n.Map.Make != nil {
		made := 0
		for _, o := range n.Output {
			if o.Artifact != "" {
				made++
			}
		}
		if made != 1 || len(n.Output) != 1 {
			say("a maker has one output, which is an artifact")
		}
	}
	switch {
	case n.Wait != nil:
		c.wait(n, n.Wait, say)
	case n.Gate != nil:
		c.gate(n, say)
	case n.Branch != nil:
		c.branch(n, say)
	case n.Map != nil:
		c.mapped(n, holes, say)
	}
}

// bounds holds a node's own limits to those of its run.
func (c *checker) bounds(n *Node, say func(string, ...any)) {
	l, b, r := c.a.Limits, n.Budget, n.Retry
	switch {
	case b.Tokens < 0 || b.Tokens > l.Tokens:
		say("its budget of %d tokens is more than the run's %d", b.Tokens, l.Tokens)
	case b.Cost < 0 || b.Cost > l.Cost:
		say("its budget of %v dollars is more than the run's %v", b.Cost, l.Cost)
	case b.Time > l.Time:
		say("its time of %s is more than the run's %s", time.Duration(b.Time), time.Duration(l.Time))
	case r.Attempts < 1 || r.Attempts > l.Attempts:
		say("it is tried %d times; the limit is %d", r.Attempts, l.Attempts)
	case r.Factor != 0 && (r.Factor < 1 || r.Factor > 10):
		say("the factor of its waits is %v; it lies between 1 and 10", r.Factor)
	case r.Wait > r.Most:
		say("its first wait of %s is longer than the longest, %s", time.Duration(r.Wait), time.Duration(r.Most))
	}
	for _, class := range r.On {
		if !slices.Contains(Classes, class) {
			say("%q is no class of failures: %s", clip(class), strings.Join(Classes, ", "))
		}
	}
	if !slices.Contains([]OnFailure{FailRun, Pause, GoOn}, n.OnFailure) {
		say("on_failure is %q; it is fail, pause or go on", clip(string(n.OnFailure)))
	}
}

// Classes are the failures that can be tried again. What may have happened outside is none of them: a person is asked.
var Classes = []string{"unavailable", "exhausted", "timeout", "check"}
