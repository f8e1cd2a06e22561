package main

import (
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"tandem/internal/provider/scripted"
)

// model starts a scripted model on loopback and adds it as the provider "fake": the prompt is the script. PROMPT=FILE has it answer a
// prompt that fits with what a file says.
func model(ts *testscript.TestScript, neg bool, args []string) {
	s := &scripted.Server{}
	for _, a := range args {
		prompt, file, ok := strings.Cut(a, "=")
		if !ok {
			ts.Fatalf("usage: model [PROMPT=FILE …]")
		}
		s.Script.Rules = append(s.Script.Rules, scripted.Rule{Prompt: prompt, Turns: []scripted.Turn{{{Say: ts.ReadFile(file)}}}})
	}
	if neg {
		ts.Fatalf("usage: model [PROMPT=FILE …]")
	}
	ts.Check(s.Start("127.0.0.1:0"))
	ts.Defer(func() { s.Close() })
	ts.Setenv("MODEL", s.URL())
	ensurePIN(ts)
	if out, err := onTerminal(ts, ownerPIN, "provider", "add", "fake", s.URL(), "--wire", "anthropic", "--keyless"); err != nil {
		ts.Fatalf("%s", out)
	}
}
