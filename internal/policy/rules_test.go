package policy

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestRules(t *testing.T) {
	c := compiled(t, `
		@id("release") @reason("releases are made on working days")
		forbid (principal, action == Action::"edit", resource in Folder::"/code/release")
		when { context.now < datetime("2026-03-02") };

		@id("no-push")
		forbid (principal is Agent, action, resource is Tool)
		when { context.commands.contains("git push") || context.hosts.contains("evil.net") };

		@ask("changing the build needs a look") @id("build") @approvers("person:ann, person:bob")
		forbid (principal, action == Action::"edit", resource in Folder::"/code/build");

		@id("docs")
		permit (principal in Agent::"writer", action in [Action::"read", Action::"edit"], resource in Folder::"/docs");

		@id("docs-tree") @ask
		permit (principal == Agent::"writer", action == Action::"edit", resource in Folder::"/wiki");
	`,
		give(t, "code", "*", Allow, "folder:/code", "read edit"),
		give(t, "tools", "*", Allow, "tool:/", "execute"))
	a, w := seen(t, c, "agent:a"), seen(t, c, "agent:writer")
	edit := func(p string) Request { return do(t, CanEdit, "folder:"+p) }
	if d := want(t, a, edit("/code/release/x"), Deny, "rule:release"); d.Reason != "releases are made on working days" {
		t.Errorf("reason %q", d.Reason)
	}
	later := edit("/code/release/x")
	later.Now = noon.Add(24 * time.Hour)
	want(t, a, later, Allow, "grant:code")
	want(t, a, edit("/code/release-notes"), Allow, "grant:code")
	if d := want(t, a, edit("/code/build/x"), Ask, "rule:build"); len(d.Approvers) != 2 {
		t.Errorf("approvers %v", d.Approvers)
	}
	want(t, w, edit("/docs/x"), Allow, "rule:docs")
	want(t, w, edit("/wiki/x"), Ask, "rule:docs-tree")
	want(t, a, edit("/docs/x"), Deny, "")
	want(t, a, edit("/build"), Deny, "")
	run := func(f *Facts) Request {
		return Request{Permission: CanExecute, Resource: ToolRef("bash"), Tool: "bash", Facts: f}
	}
	want(t, a, run(&Facts{Commands: [][]string{{"git", "push", "-f"}}}), Deny, "rule:no-push")
	want(t, a, run(&Facts{Commands: [][]string{{"git", "pull"}}}), Allow, "grant:tools")
	want(t, a, run(&Facts{Hosts: []string{"a.b.evil.net"}}), Deny, "rule:no-push")
	if d := want(t, a, run(nil), Deny, "rule:no-push"); d.Code != CodeRuleError {
		t.Errorf("unknown arguments: %s", d.Code)
	}
	want(t, seen(t, c, "person:ann"), run(nil), Allow, "grant:tools")
	if !a.MayUse("bash") {
		t.Error("a tool that is forbidden for some arguments is hidden altogether")
	}
	if w.May(CanEdit, at(t, "folder:/code/release/x")) {
		t.Error("what a rule forbids is shown")
	}
	if !w.May(CanEdit, at(t, "folder:/wiki/x")) || a.May(CanEdit, at(t, "folder:/wiki/x")) {
		t.Error("the mask does not follow the permitting rules")
	}
	// a rule about somebody up the chain binds who acts for them
	want(t, seen(t, c, "session:s", "agent:writer"), edit("/docs/x"), Allow, "rule:docs")
	d, steps := a.Explain(edit("/code/build/x"))
	if d.By != "rule:build" || len(steps) != 2 || steps[0].By != "grant:code" || steps[1].Effect != Ask {
		t.Errorf("explained as %+v %+v", d, steps)
	}
}

func TestRulesThatDoNotCompile(t *testing.T) {
	for text, wants := range map[string]string{
		`permit (principal, action, resource`:                                                                                   "",
		`permit (principal, action == Action::"fly", resource);`:                                                                "",
		`permit (principal is Robot, action, resource);`:                                                                        "",
		`permit (principal, action, resource in Moon::"/x");`:                                                                   "",
		`permit (principal, action, resource in Folder::"code");`:                                                               "path",
		`forbid (principal, action, resource) when { resource in Folder::"/code/" };`:                                           "path",
		`forbid (principal, action, resource) when { context.pathes.contains("/x") };`:                                          "",
		`forbid (principal, action, resource) when { context has paths && context.paths.contains("/x") };`:                      "has",
		`forbid (principal, action, resource) when { context.class > 3 };`:                                                      "",
		`@aks permit (principal, action, resource);`:                                                                            "@aks",
		`@approvers("person:ann") permit (principal, action, resource);`:                                                        "@ask",
		`@ask @approvers("agent:b") permit (principal, action, resource);`:                                                      "person",
		`@id("a") permit (principal, action, resource); @id("a") permit (principal, action, resource);`:                         "twice",
		strings.Repeat(`forbid (principal, action, resource) when { context.class == "public" };`+"\n", 1001):                   "more than",
		`permit (principal, action, resource) when { ` + strings.Repeat("[", 60) + "1" + strings.Repeat("]", 60) + " == [1] };": "nested",
		`permit (principal, action, resource) when { true` + strings.Repeat(" && true", 300) + " };":                            "operators",
		`permit (principal, action, resource) when { [` + strings.Repeat("{a: 1}, ", 1200) + "{a: 1}] == [{a: 2}] };":           "lists",
		strings.Repeat("// long\n", 40000):                                                                                      "longer",
	} {
		_, err := Compile(Source{Tenant: "home", Rules: text})
		if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), wants) {
			t.Errorf("%.80s: %v", text, err)
		}
	}
}

// What is written in strings and comments counts for nothing.
func TestOnlyARuleIsSized(t *testing.T) {
	text := "// " + strings.Repeat("(", 100) + "\nforbid (principal, action, resource) when { context.class == \"" +
		strings.Repeat(`((&&\"`, 200) + "\" };"
	for range 3 {
		text += text
	}
	if err := sized(text); err != nil {
		t.Error(err)
	}
}

// A path of very many folders is judged at once, and what is denied above it stays denied.
func TestALongPathIsJudgedByItsBeginning(t *testing.T) {
	c := compiled(t, `forbid (principal, action, resource) when { context.paths.contains("/a/a") || context.hosts.contains("b.example") };`,
		DefaultGrants()...)
	for _, line := range []string{"cat " + strings.Repeat("/a", 30000), "curl http://" + strings.Repeat("a.", 30000) + "b.example"} {
		f := ShellFacts("/x", line)
		d := seen(t, c, "agent:red").Decide(Request{Right: "tool.execute", Resource: ToolRef("bash"), Tool: "bash", Facts: &f})
		if d.Effect != Deny || d.Code != CodeForbidden {
			t.Errorf("%.20s: %s %s", line, d.Effect, d.Code)
		}
	}
}

func FuzzRules(f *testing.F) {
	f.Add(`@ask forbid (principal, action, resource) when { context.class == "public" };`)
	f.Add(`permit (principal == Agent::"a", action in [Action::"edit"], resource is Folder in Folder::"/x") unless { context.present };`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Compile(Source{Tenant: "home", Rules: text, Grants: []ScopedGrant{give(t, "g", "*", Allow, "*", "read")}})
		if err != nil {
			return
		}
		seen(t, c, "agent:a").Decide(do(t, CanRead, "folder:/x"))
	})
}
