package gate

import (
	"context"
	"path/filepath"
	"strings"

	"tandem/internal/lease"
	"tandem/internal/op"
	"tandem/internal/policy"
)

// sight answers rooms that show what files hold.
func (c *call) sight() op.Sight {
	slashed := func(path string) string { return "/" + strings.TrimPrefix(filepath.ToSlash(path), "/") }
	return op.Sight{
		File: func(path string) bool {
			s := c.view.Sight("", c.kin, c.real).Named(slashed(path))
			return !s.Hidden && s.Asks == ""
		},
		Tracked: func(path string, repository op.Resource) bool {
			return !c.view.Sight("", c.kin, c.real).Kept(slashed(path), c.ref(repository))
		},
		Takes: func(root, leased string, repository op.Resource) bool {
			plain, pattern := lease.Split(leased)
			return c.view.Sight("", c.kin, c.real).Takes(slashed(root), plain, pattern, c.ref(repository))
		},
		Tells: func(root, leased string, repository op.Resource) bool {
			plain, pattern := lease.Split(leased)
			return c.view.Sight("", c.kin, c.real).Tells(slashed(root), plain, pattern, c.ref(repository))
		},
	}
}

// changing are the tools of agent programs that change the files they name.
var changing = map[string]bool{"write": true, "edit": true, "apply_patch": true}

// outward are the tools that do nothing but reach out, ours and those of the programs that we drive.
var outward = map[string]bool{"webfetch": true, "websearch": true}

// files narrows the answer to a tool's call by what policy says of the files that it names: a tool of an agent program has a resource of
// its own, and a denied folder is denied to it all the same. What a sandbox hides already needs no asking about.
func (c *call) files(ctx context.Context, view *policy.View, d policy.Decision) policy.Decision {
	t := c.touches(ctx)
	if d.Effect == policy.Deny || c.resource.Kind != "tool" && c.resource.Kind != string(policy.KindFolder) {
		return d
	}
	narrow := func(effect policy.Effect, code, by, reason string) {
		asked := policy.Decision{Effect: effect, Code: code, By: by, Reason: reason, Class: d.Class}
		if effect == policy.Ask { // whoever it names answers, and with all that it needs
			a := view.Asked(by)
			asked.Approvers, asked.Needs = a.Approvers, a.Needs
		}
		house := effect == policy.Ask && d.Effect == policy.Ask && d.House()
		if d = view.Both(d, asked); house && d.Effect == policy.Ask { // people's word is the reason, not the house's habit
			d.By, d.Reason = by, reason
		}
	}
	if c.resource.Kind == string(policy.KindFolder) { // policy was asked about it by this name; it may have others
		s := view.Sight(c.tool, c.kin, c.real).Elsewhere(c.resource.Path)
		if s.Hidden || s.Fixed && c.op.Changes() {
			narrow(policy.Deny, policy.CodeDenied, s.By, "there is no "+c.resource.Path+" for you")
		} else if s.Asks != "" {
			narrow(policy.Ask, policy.CodeAsk, s.Asks, "reading "+c.resource.Path+" needs an approval")
		}
		return d
	}
	if t == nil {
		return d
	}
	sight := view.Sight(t.Tool, c.kin, c.real)
	if t.Shell != "" && !t.Offline {
		if by := sight.Offline(); by != "" {
			narrow(policy.Ask, policy.CodeAsk, by, "this command has the network, which is denied and which nothing keeps from it here")
		}
	}
	if outward[t.Tool] {
		if by := sight.Offline(); by != "" {
			narrow(policy.Deny, policy.CodeDenied, by, "this needs the network, which is denied")
		}
	}
	// words of a line that a person's denial is about; the house asks about lines that it cannot read
	if t.Shell != "" && !t.Boxed && c.facts != nil {
		for _, p := range c.facts.Named {
			if s := sight.Named(p); s.Hidden && !s.House() {
				narrow(policy.Deny, policy.CodeDenied, s.By, "there is no "+p+" for you")
			}
		}
	}
	for _, p := range t.Paths {
		s := sight.Named(p)
		switch {
		case s.Hidden:
			narrow(policy.Deny, policy.CodeDenied, s.By, "there is no "+p+" for you")
		case s.Asks != "":
			narrow(policy.Ask, policy.CodeAsk, s.Asks, "reading "+p+" needs an approval")
		case s.Fixed && changing[t.Tool]:
			w := view.Decide(policy.Request{Right: "folder.write", Resource: policy.ResourceRef{Kind: policy.KindFolder, Path: p}, Tool: t.Tool,
				Facts: c.facts})
			narrow(w.Effect, w.Code, w.By, w.Reason)
		}
	}
	if t.Boxed || changing[t.Tool] || t.Tool == "read" {
		return d
	}
	for _, p := range t.Paths { // a search or a command comes to all that lies there
		for _, e := range sight.Edges(p) {
			if s := sight.Of(e); s.Hidden && !s.House() {
				narrow(policy.Ask, policy.CodeAsk, s.By, "this could read "+e+", which is denied and which nothing hides here")
			}
		}
	}
	return d
}
