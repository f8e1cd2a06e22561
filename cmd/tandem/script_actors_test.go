package main

import (
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

const (
	apiToken = "tdm_script_api_token_0123456789"
	ownerPIN = "482913"
)

type hatsKey struct{}

// hats are the tokens of the actors that a script has used.
type hats struct {
	tokens map[string]string
	pinSet bool
}

// as runs tandem with another actor's token: as builder board claim T1.
//
//	as owner …      the person, present: the command runs on a terminal and the PIN is typed
//	as local …      whoever speaks on the control socket
//	as stranger …   a token that nobody has
//	as NAME …       an agent of that name, made when it is first named
func as(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: as NAME COMMAND …")
	}
	name, line := args[0], args[1:]
	switch name {
	case "owner":
		ensurePIN(ts)
		out, err := onTerminal(ts, ownerPIN, line...)
		ts.Stdout().Write([]byte(out))
		check(ts, neg, err)
		return
	case "local":
		check(ts, neg, ts.Exec("tandem", line...))
		return
	}
	token := "tdm_nobody_has_this_token"
	if name != "stranger" {
		token = tokenOf(ts, name)
	}
	ts.Setenv("TANDEM_AS_TOKEN", token)
	err := ts.Exec("tandem", line...)
	ts.Setenv("TANDEM_AS_TOKEN", "")
	check(ts, neg, err)
}

// addActor makes an actor of another kind than agent: actor NAME person|service.
func addActor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: actor NAME KIND")
	}
	makeActor(ts, args[0], args[1])
}

// tokenOf is an actor's token; an actor that nobody named before is an agent.
func tokenOf(ts *testscript.TestScript, name string) string {
	h := ts.Value(hatsKey{}).(*hats)
	if h.tokens[name] == "" {
		makeActor(ts, name, "agent")
	}
	return h.tokens[name]
}

func makeActor(ts *testscript.TestScript, name, kind string) {
	ensurePIN(ts)
	if out, err := onTerminal(ts, ownerPIN, "actor", "add", name, "--kind", kind); err != nil {
		ts.Fatalf("add %s: %v\n%s", name, err, out)
	}
	out, err := onTerminal(ts, ownerPIN, "token", "new", name)
	if err != nil {
		ts.Fatalf("make a token for %s: %v\n%s", name, err, out)
	}
	for _, word := range strings.Fields(out) {
		if strings.HasPrefix(word, "tdm_") {
			ts.Value(hatsKey{}).(*hats).tokens[name] = word
			return
		}
	}
	ts.Fatalf("no token in what tandem token new printed:\n%s", out)
}

// ensurePIN sets the owner's PIN once in a script.
func ensurePIN(ts *testscript.TestScript) {
	h := ts.Value(hatsKey{}).(*hats)
	if h.pinSet {
		return
	}
	if out, err := onTerminal(ts, ownerPIN, "pin", "set"); err != nil {
		ts.Fatalf("set the PIN: %v\n%s", err, out)
	}
	h.pinSet = true
}
