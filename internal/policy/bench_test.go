package policy

import (
	"fmt"
	"testing"
)

const benchRules = `
@id("prod") @ask forbid (principal, action == Action::"execute", resource in Tool::"/mcp/prod");
@id("wipe") forbid (principal is Agent, action == Action::"execute", resource) when { context.tool like "*wipe*" };
@id("push") forbid (principal is Agent, action == Action::"execute", resource is Tool) when { context.commands.contains("git push") };
@id("docs") permit (principal in Agent::"writer", action, resource in Folder::"/docs");
`

func benchView(b *testing.B, rules string) *View {
	grants := DefaultGrants()
	for i := range 200 {
		grants = append(grants, give(b, fmt.Sprintf("g%d", i), fmt.Sprintf("agent:a%d", i%10), Allow, fmt.Sprintf("folder:/p%d/src", i),
			"read edit"))
	}
	return seen(b, compiled(b, rules, grants...), "session:s", "agent:a1", "local:me")
}

func BenchmarkDecide(b *testing.B) {
	for name, rules := range map[string]string{"grants": "", "rules": benchRules} {
		b.Run(name, func(b *testing.B) {
			v := benchView(b, rules)
			r := Request{Right: "folder.read", Resource: ResourceRef{Path: "/p1/src/main.go"}}
			b.ReportAllocs()
			for b.Loop() {
				if v.Decide(r).Effect != Allow {
					b.Fatal(v.Decide(r))
				}
			}
		})
	}
}

// The first look works everything out; later looks at the same view find it.
func BenchmarkMaskThousandTools(b *testing.B) {
	tools := make([]ResourceRef, 1000)
	for i := range tools {
		tools[i] = ToolRef(fmt.Sprintf("mcp.server%d.tool%d", i%20, i))
	}
	look := func(b *testing.B, v *View) {
		for _, r := range tools {
			if !v.May(CanExecute, r) {
				b.Fatal(r)
			}
		}
	}
	for name, rules := range map[string]string{"grants": "", "rules": benchRules} {
		v := benchView(b, rules)
		b.Run(name+"/first", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				look(b, v.policy.prepare(v.ctx, noon))
			}
		})
		b.Run(name+"/later", func(b *testing.B) {
			look(b, v)
			b.ReportAllocs()
			for b.Loop() {
				look(b, v)
			}
		})
	}
}

func BenchmarkView(b *testing.B) {
	v := benchView(b, benchRules)
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			v.policy.prepare(v.ctx, noon)
		}
	})
	b.Run("later", func(b *testing.B) {
		for b.Loop() {
			v.policy.View(v.ctx, noon)
		}
	})
}
