package daemon

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/internal/automation/wire"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/policy"
	"tandem/internal/policy/book"
	"tandem/internal/testenv"
)

// machineKinds are the kinds of right that are the machine's.
var machineKinds = []string{"setting", "tunnel", "folder", "tool", "repo", "workspace", "source", "job", "relay", "connector", "login",
	"forge"}

// reachesNothing are operations that a tenant may call although they act outside of the database, or are answered by a room that opens
// files or starts programs: why none of them reaches the machine of the house.
var reachesNothing = map[string][]string{
	"it speaks to the host of a space over its link, and a tenant's seat has no folder": {
		"board.add", "board.archive", "board.cancel", "board.claim",
		"board.comment", "board.depend", "board.edit", "board.finding", "board.handoff",
		"board.plan", "board.reopen", "board.take_back", "board.unclaim", "board.update", "space.attach", "space.changed",
		"space.create", "space.inbox", "space.invite", "space.join", "space.knock_reply", "space.leave", "space.rejoin",
		"space.release", "space.remove", "space.rename", "space.reserve", "space.revoke", "space.send", "space.send_files",
		"space.set_var", "space.share", "space.surfaced", "space.take_over"},
	"it reaches files of granted folders alone, and a tenant is granted none": {
		"aside.get", "aside.list", "session.diff", "session.revert", "session.tools", "session.unrevert", "tool.task"},
	"it shows programs in terminals, of which a tenant has none": {
		"session.live", "session.programs", "session.screen", "session.skips", "session.watch"},
	"it reads the tenant's own memory, and of files only a model that tandem fetched and keeps itself": {
		"memory.brief", "memory.export", "memory.history", "memory.list", "memory.model", "memory.search", "memory.show"},
	"it calls a model, which lies outside": {
		"automation.draft", "provider.models", "session.model_call"},
	"it gives rows of the caller's own tenant, or hashes of the journal": {
		"access.list", "audit.adopted", "audit.anchor", "audit.export", "audit.log", "audit.prove", "audit.show", "audit.tile",
		"audit.verify", "automation.handoffs", "automation.hooks", "automation.list", "automation.runs", "automation.show", "automation.ticks",
		"automation.rehearse", "automation.review",
		"automation.trace", "pack.list", "board.findings", "board.show", "budget.list", "event.stream", "grant.list", "group.list", "group.show",
		"person.aways", "policy.context", "policy.explain", "policy.show", "policy.test", "policy.vocabulary", "policy.why_not",
		"provider.list", "question.list",
		"secret.delete", "secret.list", "secret.set", "session.events", "session.follow", "session.get", "session.list",
		"session.messages", "session.turn", "session.turns", "session.unconfined", "space.activity", "space.attachment",
		"space.get_var", "space.guard", "space.hosted", "space.leases", "space.list", "space.moved", "space.peers", "space.phrase",
		"space.piece_get", "space.pull", "space.receipt", "space.verify", "space.wait", "space.whoami"},
}

// opensOrStarts are the packages below internal, by folder, whose code opens files or starts programs.
func opensOrStarts(t *testing.T) map[string]bool {
	t.Helper()
	calls := map[string][]string{
		"os": {"Open", "OpenFile", "OpenRoot", "ReadFile", "ReadDir", "WriteFile", "Create", "Mkdir", "MkdirAll", "MkdirTemp", "Rename", "Remove",
			"RemoveAll", "Symlink", "Link", "Stat", "Lstat", "StartProcess", "FindProcess"},
		"filepath": {"EvalSymlinks", "WalkDir", "Walk", "Glob"}, "exec": {"Command", "CommandContext"},
		"syscall": {"Exec", "ForkExec", "StartProcess", "Kill"}, "Machine": {"Command"}}
	found := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of := ""
			switch x := s.X.(type) {
			case *ast.Ident:
				of = x.Name
			case *ast.SelectorExpr:
				of = x.Sel.Name
			}
			if slices.Contains(calls[of], s.Sel.Name) {
				found[strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../")] = true
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// outward says whether a call of an operation can come to the machine: its kind is one of the machine's, it acts outside of the database,
// it names files or a shell line, or a room answers it that opens files or starts programs. What changes the database alone does not: it
// is given a transaction and nothing else.
func (w *ward) outward(o *op.Op, in any, acts map[string]bool) bool {
	right, err := policy.ParseRight(o.Right)
	switch {
	case err != nil:
		return false // it is public
	case slices.Contains(machineKinds, string(right.Kind)), strings.HasPrefix(o.Name, "tenant."),
		right.Kind == "server" && right.Permission != policy.CanView:
		return true
	case o.Class == op.ClassState:
		return o.Touch(w.t.Context(), in) != nil
	case o.Class != op.ClassRead:
		return true
	}
	room := strings.TrimSuffix(strings.TrimPrefix(o.In.PkgPath(), "tandem/internal/"), "/wire")
	for folder := range acts {
		if room == "" || folder == room || strings.HasPrefix(folder, room+"/") {
			return true
		}
	}
	return o.Touch(w.t.Context(), in) != nil
}

// kept checks that nothing of the machine is a tenant's, whatever its owner may there.
func (w *ward) kept(c op.Caller) {
	w.t.Helper()
	acts, known, n := opensOrStarts(w.t), map[string]bool{}, 0
	for why, names := range reachesNothing {
		for _, name := range names {
			if w.gate.Table().Get(name) == nil {
				w.t.Errorf("there is no %s any more, of which is said: %s", name, why)
			}
			known[name] = true
		}
	}
	for _, o := range w.gate.Table().All() {
		if o.Public {
			continue
		}
		in, err := o.Decode(encode(w.t, filled(o, "x")))
		w.must(err)
		if !w.outward(o, in, acts) {
			continue
		}
		n++
		d, err := w.gate.Weigh(op.WithCaller(w.t.Context(), c), o.Name, in)
		refused := err != nil || d.Effect == policy.Deny
		switch {
		case !refused && !known[o.Name]:
			w.t.Errorf("a tenant's owner may %s (%s), which can come to the machine: refuse it in houseRule, or say in reachesNothing why it "+
				"does not", o.Name, o.Class)
		case refused && known[o.Name]:
			w.t.Errorf("%s is refused: take it out of reachesNothing", o.Name)
		}
	}
	if n < 120 {
		w.t.Errorf("only %d operations were looked at", n)
	}
}

// acme makes a tenant, and gives it and its owner, present.
func (w *ward) acme() (identity.TenantOut, op.Caller) {
	w.t.Helper()
	var made identity.TenantOut
	w.present("tenant.create", map[string]any{"name": "acme", "owner": "ana"}, &made)
	_, err := w.enter(identity.PersonIn{Invite: made.Invite.Invite, Machine: "laptop"})
	w.must(err)
	return made, w.within(made.ID, "ana")
}

// A tenant's automation ran its commands on the house's machine. Now its step is refused, and where the tool for commands is denied in
// the house, an automation has no other way to it.
func TestATenantsAutomationRunsNoCommand(t *testing.T) {
	wards(t, func(w *ward) {
		_, ana := w.acme()
		w.present("grant.add", book.GrantIn{Principal: "service:automation.greet", Effect: "deny", Resource: "tool:/bash",
			Permissions: []string{"execute"}, Classes: []string{"*"}}, nil)
		for c, why := range map[*op.Caller]string{new(op.CallerFrom(owner(t, w.Daemon))): "commands do not run here",
			&ana: "belong to the house"} {
			c.Present = "passkey"
			added, err := w.calls(*c, "automation.add", wire.AddIn{Text: greet})
			w.must(err)
			_, err = w.calls(*c, "automation.on", wire.OnIn{Name: "greet", Digest: added.(*wire.Automation).Latest})
			w.must(err)
			begun, err := w.calls(*c, "automation.run", wire.BeginIn{Name: "greet"})
			w.must(err)
			var r *wire.Run
			testenv.Eventually(t, "the run ends", 2*time.Minute, func() bool {
				out, err := w.calls(*c, "automation.trace", wire.RunIn{ID: begun.(*wire.Run).ID})
				w.must(err)
				r = out.(*wire.Run)
				return !r.EndedAt.IsZero()
			})
			if r.Status != "failed" || !strings.Contains(r.Steps[0].Reason, why) {
				t.Errorf("%s: a command ended as %s, %+v", c.Name, r.Status, r.Steps[0])
			}
		}
	})
}
