package terminal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/session/agents"
	"tandem/internal/session/screen"
)

func TestWhatClaudeCodesSignsMean(t *testing.T) {
	in := func(status, waits string) *agents.Registered {
		return &agents.Registered{Status: status, WaitingFor: waits}
	}
	for what, c := range map[string]struct {
		signs claudeSigns
		want  finding
	}{
		"a hook asks, whatever else is said": {claudeSigns{dialog: &wait{detail: "rm"}, entry: in("busy", ""), turn: true, started: true},
			finding{state: Permission, signal: "hook PermissionRequest", detail: "rm"}},
		"a hook has a question": {claudeSigns{dialog: &wait{detail: "which?", question: true}},
			finding{state: Asking, signal: "hook PermissionRequest", detail: "which?"}},
		"the registry alone knows that it asks": {claudeSigns{entry: in("waiting", "permission prompt"), turn: true, started: true},
			finding{state: Permission, signal: "registry", detail: "permission prompt"}},
		"another dialog": {claudeSigns{entry: in("waiting", "dialog open"), started: true},
			finding{state: Dialog, signal: "registry", detail: "dialog open"}},
		"at work": {claudeSigns{entry: in("busy", ""), turn: true, started: true}, finding{signal: "registry", ask: working}},
		"it took the prompt and has not begun": {claudeSigns{entry: in("idle", ""), turn: true, started: true},
			finding{state: Working, signal: "hook UserPromptSubmit"}},
		"it worked and rests": {claudeSigns{entry: in("idle", ""), turn: true, worked: true, started: true},
			finding{signal: "registry", ask: resting}},
		"its end came before it was seen at work": {claudeSigns{entry: in("idle", ""), turn: true, ended: true, started: true},
			finding{signal: "registry", ask: resting}},
		"a shell runs on behind it":    {claudeSigns{entry: in("shell", ""), started: true}, finding{signal: "registry", ask: resting}},
		"it rests, its hooks may come": {claudeSigns{entry: in("idle", ""), age: grace}, finding{ask: byEye}},
		"its hooks never came": {claudeSigns{entry: in("idle", ""), age: grace + 1}, finding{state: Ready, signal: "registry",
			detail: "warning: this version's hooks are not heard, so its tools cannot be guarded; nothing is sent to it"}},
		"it tells nothing yet":                                         {claudeSigns{}, finding{ask: byEye}},
		"a version without a registry rests":                           {claudeSigns{started: true}, finding{ask: byEye}},
		"a version without a registry, seen at work by its transcript": {claudeSigns{started: true, turn: true, worked: true}, finding{}},
	} {
		if got := c.signs.meaning(); got != c.want {
			t.Errorf("%s: %+v", what, got)
		}
	}
	early, late := claudeSigns{started: true, age: grace}, claudeSigns{started: true, age: grace + time.Second}
	for _, c := range []struct {
		signs claudeSigns
		shown screen.State
		want  State
	}{{early, screen.Ready, ""}, {late, screen.Ready, Ready}, {late, screen.Working, Working}, {claudeSigns{}, screen.Working, ""},
		{claudeSigns{}, screen.Trust, Dialog}} {
		if got := c.signs.seen(screen.Reading{State: c.shown}, "here"); got.state != c.want {
			t.Errorf("%+v on a screen that shows %s: %+v", c.signs, c.shown, got)
		}
	}
}

func TestWhatASpokenProgramsSignsMean(t *testing.T) {
	on := func(change func(p *spokenSigns)) spokenSigns { // attached and at rest
		p := spokenSigns{link: true, linked: true, known: true, joined: true, signal: "codex"}
		change(&p)
		return p
	}
	limited := &agents.Event{Entry: agents.Entry{Failure: strings.TrimPrefix(LimitedOutcome, "error: "), Text: "later"}}
	for what, c := range map[string]struct {
		signs spokenSigns
		want  finding
	}{
		"it rests": {on(func(*spokenSigns) {}), finding{signal: "codex", ask: resting}},
		"it asks, though its server is away": {on(func(p *spokenSigns) { p.dialog, p.link = &wait{detail: "make"}, false }),
			finding{state: Permission, signal: "codex request", detail: "make"}},
		"its server went away": {on(func(p *spokenSigns) { p.link = false }),
			finding{state: Working, signal: "none", detail: "its server does not answer; it is looked for again"}},
		"its server was never there": {on(func(p *spokenSigns) { p.link, p.linked = false, false }), finding{ask: byEye}},
		"it is not attached":         {on(func(p *spokenSigns) { p.joined = false }), finding{ask: byEye}},
		"a turn runs, and its conversation has no name yet": {on(func(p *spokenSigns) { p.known, p.turn = false, true }),
			finding{state: Working, signal: "codex"}},
		"the provider refuses": {on(func(p *spokenSigns) { p.retry, p.turn = limited, true }),
			finding{state: RateLimited, signal: "codex", detail: "later"}},
		"the provider fails": {on(func(p *spokenSigns) {
			p.retry, p.turn = &agents.Event{Entry: agents.Entry{Failure: "overloaded", Text: "529"}}, true
		}),
			finding{state: Retrying, signal: "codex", detail: "529"}},
		"nothing moves": {on(func(p *spokenSigns) { p.still, p.busy, p.turn = time.Minute, true, true }),
			finding{state: Hung, signal: "codex", detail: "nothing moved for 1m0s"}},
		"somebody works at its terminal": {on(func(p *spokenSigns) { p.busy = true }), finding{state: Working, signal: "codex"}},
		"its turn was told to be over":   {on(func(p *spokenSigns) { p.turn, p.over = true, true }), finding{signal: "codex", ask: resting}},
	} {
		if got := c.signs.meaning(); got != c.want {
			t.Errorf("%s: %+v", what, got)
		}
	}
}

// A program has its seat's methods and none that only seems to be one of them: what the seat calls by itself would not be the program's.
func TestNoProgramHidesAMethodOfItsSeat(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	methods := map[string]map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil {
				continue
			}
			if star, ok := fn.Recv.List[0].Type.(*ast.StarExpr); ok {
				of := star.X.(*ast.Ident).Name
				if methods[of] == nil {
					methods[of] = map[string]bool{}
				}
				methods[of][fn.Name.Name] = true
			}
		}
	}
	for _, program := range []string{"claude", "spoken"} {
		if len(methods[program]) == 0 {
			t.Errorf("%s has no methods", program)
		}
		for name := range methods[program] {
			if methods["seat"][name] {
				t.Errorf("%s and its seat both have %s", program, name)
			}
		}
	}
}
