package policy

import (
	"slices"
	"strings"
)

// network is the tool that a command with the network is to policy, and where it stands.
const network = "bash.network"

var networkAt = ResourceRef{Kind: KindTool, Path: "/network"}

// Offline is the grant or rule that denies the network as a whole; "" when none does. That nobody granted it says nothing.
func (s *Sight) Offline() string {
	if s == nil || s.view == nil {
		return ""
	}
	d := s.view.Decide(Request{Right: "tool.execute", Resource: networkAt, Tool: network, Facts: &Facts{}})
	if d.Effect != Deny || d.Code == CodeNoGrant {
		return ""
	}
	return d.By
}

// Unreached are the parts of the network that people deny to the caller's commands, in words: all of it, hosts, what a rule says of
// hosts. A program that runs may reach each of them, whatever its line names: one that came since ends what runs.
func (s *Sight) Unreached() []string {
	if s == nil || s.view == nil {
		return nil
	}
	var out []string
	if s.Offline() != "" {
		out = append(out, "the network")
	}
	for _, d := range s.toolDrawers() {
		for _, g := range d.denies {
			out = append(out, g.hosts(s)...)
		}
		for _, r := range d.forbids {
			if r.actions&bit(CanExecute) != 0 && slices.Contains(r.reads, "hosts") {
				out = append(out, "what rule "+r.id+" says of "+strings.Join(append([]string{"hosts"}, r.words...), " "))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// CutOff is a part of the network that is denied now and was not when others were, "" when there is none.
func (s *Sight) CutOff(before []string) string {
	for _, u := range s.Unreached() {
		if !slices.Contains(before, u) {
			return u
		}
	}
	return ""
}

// toolDrawers are what binds the caller's calls of tools, whoever prompted it included.
func (s *Sight) toolDrawers() (out []*drawer) {
	for _, m := range slices.Concat(s.view.members, s.view.prompters) {
		for k := range m.drawers {
			if kindMask(KindTool)&(1<<k) != 0 {
				out = append(out, &m.drawers[k])
			}
		}
	}
	for _, n := range s.view.narrowed {
		out = append(out, &drawer{denies: n.denies})
	}
	return out
}

// Refuses is a grant or rule of people's that denies some calls of a tool, whichever; "" when none does. No tool stands for any.
func (s *Sight) Refuses(tool string) string {
	if s == nil || s.view == nil {
		return ""
	}
	for _, n := range s.view.narrowed {
		if tool == "" || !s.view.MayUse(tool) || len(n.denies) > 0 {
			return n.by.String()
		}
	}
	for _, d := range s.toolDrawers() {
		for _, g := range d.denies {
			if g.tier == 0 && g.inForce(s) && (tool == "" || g.Scope.holds(ToolRef(tool)) && g.namesTool(toolPath(tool))) {
				return g.by
			}
		}
		for _, r := range d.forbids {
			if r.actions&bit(CanExecute) != 0 && (tool == "" || below(r.root, toolPath(tool)) >= 0) {
				return "rule:" + r.id
			}
		}
	}
	return ""
}

func (g *grant) namesTool(path string) bool {
	return len(g.tools) == 0 || slices.ContainsFunc(g.tools, func(t toolPattern) bool { return t.names(path, true) })
}

// inForce says that a denial of calls counts now.
func (g *grant) inForce(s *Sight) bool {
	return g.dead == "" && g.perms&bit(CanExecute) != 0 && (g.ExpiresAt.IsZero() || s.view.now.Before(g.ExpiresAt))
}

// hosts are those that a denial keeps from commands.
func (g *grant) hosts(s *Sight) (out []string) {
	if !g.inForce(s) || !g.Scope.holds(networkAt) && !g.Scope.holds(ToolRef("bash")) {
		return nil
	}
	for i := range g.tools {
		if t := &g.tools[i]; t.names(toolPath(network), true) {
			for _, h := range t.hosts {
				out = append(out, "host "+h)
			}
		}
	}
	return out
}
