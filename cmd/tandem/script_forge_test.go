package main

import (
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"tandem/internal/forge/forgetest"
	"tandem/internal/forge/wire"
)

type forgeKey struct{}

// standIn is the forge of a script, once it has started one.
type standIn struct{ *forgetest.Server }

// atForge is a stand-in of a forge: "forge start gitea" starts one and names it in the environment; the other words are what people and
// services do there.
func atForge(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: forge start KIND | issue BY TITLE TEXT | comment N BY TEXT | review N BY VERDICT TEXT " +
			"| status N NAME STATE | merge N BY")
	}
	if args[0] == "start" {
		s, err := forgetest.Start(wire.Kind(args[1]), ts.MkAbs("forge-"+args[1]))
		ts.Check(err)
		ts.Defer(s.Close)
		ts.Setenv("FORGE", s.URL)
		ts.Setenv("FORGE_GIT", s.Git)
		ts.Setenv("FORGE_TOKEN", forgetest.Token)
		ts.Value(forgeKey{}).(*standIn).Server = s
		return
	}
	s := ts.Value(forgeKey{}).(*standIn)
	n, _ := strconv.ParseInt(args[1], 10, 64) //nolint:errcheck // issues have names of people there
	switch {
	case args[0] == "issue" && len(args) == 4:
		s.Issue(args[1], args[2], args[3])
	case args[0] == "comment" && len(args) == 4:
		s.Comment(n, args[2], args[3])
	case args[0] == "review" && len(args) == 5:
		s.Review(n, args[2], args[3], args[4], "", 0)
	case args[0] == "status" && len(args) == 4:
		s.Status(n, args[2], args[3])
	case args[0] == "merge" && len(args) == 3:
		ts.Check(s.Merge(n, args[2]))
	default:
		ts.Fatalf("forge %v means nothing", args)
	}
}
