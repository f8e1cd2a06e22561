package red

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	cedar "github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
	"github.com/cedar-policy/cedar-go/x/exp/schema"
	"github.com/cedar-policy/cedar-go/x/exp/schema/validate"

	"tandem/internal/policy"
	"tandem/internal/repo/fileset"
	"tandem/internal/repo/revset"
	"tandem/internal/repo/template"
	"tandem/internal/tool"
	"tandem/internal/tool/builtin"
)

// unbounded reads and checks rules as the library does that reads them, whatever their size.
func unbounded(rules string) func() {
	return func() {
		list, err := cedar.NewPolicyListFromBytes("rules", []byte(rules))
		if err != nil {
			panic(err)
		}
		var s schema.Schema
		if err := s.UnmarshalCedar([]byte(policy.Schema())); err != nil {
			panic(err)
		}
		r, err := s.Resolve()
		if err != nil {
			panic(err)
		}
		for _, p := range list {
			validate.New(r).Policy("rule", (*ast.Policy)(p.AST())) //nolint:errcheck // how long it takes is what counts
		}
	}
}

// rules is a trial of rules that take long to read.
func rules(name, text string) trial {
	return dear("rules", name, unbounded(text), func() {
		policy.Compile(policy.Source{Tenant: "local", Rules: text}) //nolint:errcheck // a refusal is what is hoped for
	})
}

func when(condition string) string {
	return "permit(principal, action, resource) when {" + condition + "};"
}

func times(n int, s string) string { return strings.Repeat(s, n) }

// backtracks matches as most people write it: every star tries every length.
func backtracks(pattern, s string) bool {
	if pattern == "" {
		return s == ""
	}
	if pattern[0] == '*' {
		for i := 0; i <= len(s); i++ {
			if backtracks(pattern[1:], s[i:]) {
				return true
			}
		}
		return false
	}
	return s != "" && pattern[0] == s[0] && backtracks(pattern[1:], s[1:])
}

// covers asks a grant's scope with such a pattern about such a path.
func covers(only, path string) func() {
	return func() {
		scope := policy.ResourceScope{Root: policy.ResourceRef{Kind: policy.KindFolder, Path: "/"}, Only: []string{only}}
		scope.Covers(policy.ResourceRef{Kind: policy.KindFolder, Path: path})
	}
}

// decides judges a call that touches these things by a rule that reads them.
func decides(facts func() policy.Facts) func() {
	return func() {
		who, _ := policy.ParsePrincipal("agent:red")
		c, err := policy.Compile(policy.Source{Tenant: "local", Grants: policy.DefaultGrants(), Rules: when(
			`context.paths.contains("/x") || context.commands.contains("x") || context.hosts.contains("x")`)})
		if err != nil {
			panic(err)
		}
		f := facts()
		view := c.View(policy.StrictTenantContext{Tenant: "local", Principal: who}, time.Now())
		view.Decide(policy.Request{Right: "tool.execute", Resource: policy.ToolRef("bash"), Tool: "bash", Facts: &f})
	}
}

// every is a set of all beginnings of a text, as a rule would be given them by somebody who bounds nothing.
func every(n int, part string) func() {
	return func() {
		seen, text := map[string]int{}, ""
		for range n {
			text += part
			seen[text]++
			for s := range seen { // Cedar compares what hashes alike
				seen[s]++
			}
		}
	}
}

// searches runs a search tool with such arguments in a folder of its own.
func searches(name string, args map[string]any) func() {
	return func() {
		dir, err := os.MkdirTemp("", "red")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		deep := filepath.Join(dir, times(60, "a/"))
		if err := os.MkdirAll(deep, 0o755); err != nil {
			panic(err)
		}
		if err := os.WriteFile(filepath.Join(deep, times(40, "a")), []byte(times(4000, "a")), 0o644); err != nil {
			panic(err)
		}
		raw, err := json.Marshal(args)
		if err != nil {
			panic(err)
		}
		for _, t := range builtin.All(nil, nil) {
			if t.Spec().Name != name {
				continue
			}
			if p, err := t.Plan(&tool.Env{Dir: dir, Scope: tool.NewScope([]tool.Folder{{Path: dir}})}, raw); err == nil {
				p.Run(context.Background(), func(string) {}) //nolint:errcheck // how long it takes is what counts
			}
		}
	}
}

// goesBack is a matcher that tries every way, on something that none of them fits.
func goesBack(pattern, text string) func() {
	return func() {
		if backtracks(pattern, text) {
			panic("it fits")
		}
	}
}

// nested descends a level of its own for every bracket, as parsers do that count none.
func nested(text string) int {
	if text == "" || text[0] != '(' {
		return 0
	}
	var room [256]byte // what a level keeps
	room[len(text)%256] = text[0]
	return nested(text[1:]) + int(room[0])
}

// copies reads substitutions by taking out what is in each and reading that.
func copies(text string) func() {
	return func() {
		for line := text; len(line) > 2; line = string([]byte(line[2:])) {
			if strings.Count(line, "(") == 0 {
				return
			}
		}
	}
}

var ruleTrials = []trial{
	rules("sets in sets", when(times(60000, "[")+"1"+times(60000, "]")+"==[1]")),
	rules("records in records", when(times(5000, "{a:")+"1"+times(5000, "}")+"=={}")),
	rules("a row of operators", when("true"+times(40000, "&&true"))),
	rules("a row of negations", when(times(120000, "!")+"true")),
	rules("conditions in conditions", when(times(20000, "if true then ")+"true"+times(20000, " else true"))),
	rules("a long list of records", when("["+times(20000, "{a:1},")+"{a:1}]==[{a:2}]")),
	rules("rules without end", times(60000, when("true"))),
	dear("rules", "a pattern full of stars", goesBack(times(25, "*a")+"b", times(40, "a")),
		covers("/"+times(25, "*a")+"b", "/"+times(40, "a"))),
	dear("rules", "a pattern of any folders in any folders", goesBack(times(12, "*/a")+"b", times(60, "/a")),
		covers(times(12, "/**/a")+"/b", times(60, "/a"))),
	dear("rules", "a search for any folders in any folders", goesBack(times(12, "*/a")+"b", times(60, "/a")),
		searches("glob", map[string]any{"pattern": times(12, "**/a/") + "b"})),
	dear("rules", "an expression that goes back on itself", goesBack(times(25, "*a")+"b", times(40, "a")),
		searches("grep", map[string]any{"pattern": "(a+)+(a+)+(a+)+b"})),
	dear("rules", "a line of nothing but braces", func() {
		for i, line := 0, "a "+times(400000, "{"); i < len(line); i++ {
			strings.FieldsFunc(line[i:], func(c rune) bool { return c == ' ' })
		}
	}, func() { policy.Runs("a " + times(400000, "{")); policy.Commands("a " + times(400000, "{")) }),
	dear("rules", "substitutions in substitutions", copies(times(400000, "$(")),
		func() { policy.Runs(times(400000, "$(")); policy.ShellFacts("/x", times(400000, "$(")) }),
	dear("rules", "a path of very many folders", every(6000, "/a"),
		decides(func() policy.Facts { return policy.ShellFacts("/x", "cat "+times(30000, "/a")) })),
	dear("rules", "a host of very many names", every(6000, "a."),
		decides(func() policy.Facts { return policy.ShellFacts("/x", "curl http://"+times(30000, "a.")+"example") })),
	dear("rules", "a command of very many words", every(6000, "a "),
		decides(func() policy.Facts { return policy.ShellFacts("/x", "a "+times(60000, "b ")) })),
	dear("rules", "brackets of a revision, files and a template", func() { nested(times(8<<20, "(")) }, func() {
		revset.Parse(times(8<<20, "("))   //nolint:errcheck // how long it takes is what counts
		fileset.Parse(times(8<<20, "("))  //nolint:errcheck // how long it takes is what counts
		template.Parse(times(8<<20, "(")) //nolint:errcheck // how long it takes is what counts
	}),
}
