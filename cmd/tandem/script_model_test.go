package main

import (
	"github.com/rogpeppe/go-internal/testscript"

	"tandem/internal/provider/scripted"
)

// model starts a scripted model on loopback and adds it as the provider "fake": the prompt is the script.
func model(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: model")
	}
	s := &scripted.Server{}
	ts.Check(s.Start("127.0.0.1:0"))
	ts.Defer(func() { s.Close() })
	ts.Setenv("MODEL", s.URL())
	ensurePIN(ts)
	if out, err := onTerminal(ts, ownerPIN, "provider", "add", "fake", s.URL(), "--wire", "anthropic", "--keyless"); err != nil {
		ts.Fatalf("%s", out)
	}
}
