package policy

import (
	"slices"
	"testing"
)

// What people deny of the network is known for commands as a whole: all of it, by whatever way, and hosts.
func TestUnreached(t *testing.T) {
	hosts := func(id, who, pattern string) ScopedGrant {
		g := give(t, id, who, Deny, "tool:/", "execute")
		g.ToolPatterns = []string{pattern}
		return g
	}
	for name, c := range map[string]struct {
		rules  string
		grants []ScopedGrant
		want   []string
	}{
		"nothing": {},
		"the network": {grants: []ScopedGrant{give(t, "no", "session:*", Deny, "tool:/network", "execute")},
			want: []string{"the network"}},
		"every tool": {grants: []ScopedGrant{give(t, "no", "*", Deny, "tool:/", "view")}, want: []string{"the network"}},
		"its tool":   {grants: []ScopedGrant{hosts("no", "session:*", "bash.network")}, want: []string{"the network"}},
		"a rule":     {rules: `forbid (principal, action, resource in Tool::"/network");`, want: []string{"the network"}},
		"hosts": {grants: []ScopedGrant{hosts("no", "*", "bash(host: b.example; host: *.a.example)")},
			want: []string{"host *.a.example", "host b.example"}},
		"a host, every tool": {grants: []ScopedGrant{hosts("no", "person:ann", "*(host: b.example)")}, want: []string{"host b.example"}},
		"another tool's":     {grants: []ScopedGrant{hosts("no", "*", "webfetch(host: b.example)")}},
		"another's":          {grants: []ScopedGrant{hosts("no", "agent:other", "bash(host: b.example)")}},
		"a command":          {grants: []ScopedGrant{hosts("no", "*", "bash(command: curl)")}},
		"a host by a rule": {rules: `@id("r") forbid (principal, action, resource is Tool) when { context.hosts.contains("b.example") };`,
			want: []string{"what rule r says of hosts b.example"}},
	} {
		t.Run(name, func(t *testing.T) {
			sight := seen(t, compiled(t, c.rules, append(DefaultGrants(), c.grants...)...), "session:s", "person:ann").Sight("bash", nil, nil)
			if got := sight.Unreached(); !slices.Equal(got, c.want) {
				t.Errorf("%q, and it is %q", got, c.want)
			}
			if cut := sight.CutOff(nil); (cut != "") != (len(c.want) > 0) || sight.CutOff(c.want) != "" {
				t.Errorf("cut off: %q, %q", cut, sight.CutOff(c.want))
			}
		})
	}
}

// What people deny of a tool's calls, whichever they are, is known for the tool as a whole.
func TestRefuses(t *testing.T) {
	command := give(t, "no", "session:*", Deny, "tool:/", "execute", func(g *ScopedGrant) { g.ToolPatterns = []string{"bash(command: rm)"} })
	for name, c := range map[string]struct {
		rules  string
		grants []ScopedGrant
		tool   string
		want   string
	}{
		"the house's own": {tool: "bash"},
		"a command":       {grants: []ScopedGrant{command}, tool: "bash", want: "grant:no"},
		"another tool":    {grants: []ScopedGrant{command}, tool: "edit"},
		"any tool":        {grants: []ScopedGrant{command}, want: "grant:no"},
		"another's":       {grants: []ScopedGrant{give(t, "no", "agent:other", Deny, "tool:/bash", "execute")}, tool: "bash"},
		"a rule": {rules: `@id("r") forbid (principal, action, resource is Tool) when { context.commands.contains("rm") };`,
			tool: "bash", want: "rule:r"},
	} {
		t.Run(name, func(t *testing.T) {
			v := seen(t, compiled(t, c.rules, append(DefaultGrants(), c.grants...)...), "session:s", "person:ann")
			if got := v.Sight("bash", nil, nil).Refuses(c.tool); got != c.want {
				t.Errorf("%q, and it is %q", got, c.want)
			}
		})
	}
}
