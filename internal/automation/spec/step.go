package spec

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

func (c *checker) wait(n *Node, w *Wait, say func(string, ...any)) {
	for field, ref := range w.Match {
		if w.Webhook == "" || field == "" || len(w.Match) > 10 {
			say("match has at most ten fields of a webhook's message, such as \"data.id\"")
		}
		c.value(n, ref, say)
	}
	var causes []string
	for name, there := range map[string]bool{"for": w.For != 0, "until": !w.Until.IsZero(), "approval": len(w.Approval) > 0,
		"webhook": w.Webhook != "", "condition": w.Condition != "", "handoff": w.Handoff != ""} {
		if there {
			causes = append(causes, name)
		}
	}
	if len(causes) != 1 {
		slices.Sort(causes)
		say("it waits for %s; write one of for, until, approval, webhook, condition, handoff", cmp.Or(strings.Join(causes, " and "), "nothing"))
	}
	if w.Handoff != "" {
		c.handoff(n, w, say)
	}
	if w.For > c.a.Limits.Time || w.Timeout > c.a.Limits.Time {
		say("it waits longer than a run may last, %s", time.Duration(c.a.Limits.Time))
	}
	if !slices.Contains([]OnExpiry{Cancel, Escalate, Remind, Resume}, w.OnTimeout) {
		say("on_timeout is %q; it is cancel, escalate, remind or resume", clip(string(w.OnTimeout)))
	}
	hook := func(t Trigger) bool { return t.ID == w.Webhook && t.Webhook != "" }
	if w.Webhook != "" && !slices.ContainsFunc(c.a.Triggers, hook) {
		say("it waits for the webhook %q, which is no webhook trigger of this automation", clip(w.Webhook))
	}
}

// handoff holds what is handed over to a name of its own, and to outputs that somebody can give.
func (c *checker) handoff(n *Node, w *Wait, say func(string, ...any)) {
	if !wordForm.MatchString(w.Handoff) {
		say("handoff is %q; names have small letters, digits, - and _, and begin with a letter", clip(w.Handoff))
	}
	for i := range c.a.Nodes {
		if other := &c.a.Nodes[i]; other.ID != n.ID && other.Wait != nil && other.Wait.Handoff == w.Handoff {
			say("%s waits for the handoff %s, too: each has a name of its own", clip(other.ID), clip(w.Handoff))
		}
	}
	for name, out := range n.Output {
		if out.Artifact == "pptx" {
			say("output %s: slides are not handed over; let a maker make them", clip(name))
		}
	}
}

// Handoff is the node that waits for a handoff of that name, nil when none does.
func (a *Automation) Handoff(name string) *Node {
	i := slices.IndexFunc(a.Nodes, func(n Node) bool { return n.Wait != nil && n.Wait.Handoff == name && name != "" })
	if i < 0 {
		return nil
	}
	return &a.Nodes[i]
}

func (c *checker) gate(n *Node, say func(string, ...any)) {
	g := n.Gate
	if len(g.Shows) == 0 {
		say("a gate shows what it is about: gate.shows names outputs")
	}
	for _, ref := range g.Shows {
		c.ref(n, ref, say)
	}
	if !slices.Contains([]OnExpiry{Cancel, Escalate, Remind}, g.OnExpiry) {
		say("on_expiry is %q; it is cancel, escalate or remind", clip(string(g.OnExpiry)))
	}
	if g.OnExpiry == Escalate && g.Escalate == "" {
		say("it escalates to nobody: gate.escalate names whom")
	}
	if g.Expires > c.a.Limits.Time {
		say("it is open longer than a run may last, %s", time.Duration(c.a.Limits.Time))
	}
	if g.Rework == "" {
		return
	}
	if to := c.nodes[g.Rework]; to == nil || len(to.Body.Kinds()) != 1 {
		say("rework goes to %q, which is no node that does work", clip(g.Rework))
	} else if !c.before(g.Rework, n.ID) {
		say("rework goes to %s, which does not come before it", g.Rework)
	}
}

func (c *checker) branch(n *Node, say func(string, ...any)) {
	b := n.Branch
	s := c.value(n, b.On, say)
	if s == nil {
		return
	}
	can := values(s)
	if len(can) == 0 {
		say("%s can be anything; a branch is on an enum of words or on a boolean", clip(string(b.On)))
		return
	}
	for value, to := range b.Cases {
		if !slices.Contains(can, value) {
			say("%s is never %q; it is one of %s", clip(string(b.On)), clip(value), strings.Join(can, ", "))
		}
		c.targets(n, to, say)
	}
	c.targets(n, b.Else, say)
	for _, value := range can {
		if _, there := b.Cases[value]; !there && b.Else == nil {
			say("%q leads nowhere: add a case, or else = []", value)
		}
	}
}

func (c *checker) targets(n *Node, ids []string, say func(string, ...any)) {
	for _, id := range ids {
		if c.nodes[id] == nil || id == n.ID {
			say("it leads to %q, which is no other node", clip(id))
		}
	}
}

func (c *checker) mapped(n *Node, holes map[string]bool, say func(string, ...any)) {
	m := n.Map
	if s := c.value(n, m.Over, say); s != nil && s.Type != "array" {
		say("%s is no list", clip(string(m.Over)))
	}
	if m.Max < 1 || m.Max > c.a.Limits.Items {
		say("map.max is %d; it lies between 1 and the limit of items, %d", m.Max, c.a.Limits.Items)
	}
	if m.Parallel < 1 || m.Parallel > c.a.Limits.Parallel {
		say("map.parallel is %d; it lies between 1 and the limit, %d", m.Parallel, c.a.Limits.Parallel)
	}
	if k := m.Body.Kinds(); len(k) != 1 {
		say("a map does one of turn, operation, command, make, automation with each item")
		return
	}
	holes["item"] = true
	m.Body.check(holes, say)
}

// Names reports whether a branch may lead to a node.
func (b *Branch) Names(id string) bool {
	return slices.Contains(b.Else, id) || slices.Contains(casesOf(b), id)
}
