package box_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Where the program starts another one, and in which box that runs. A confined Codex once got out through a helper that was started
// beside its session without a box: whoever adds a place says here what keeps it. docs/THREATS.md has the same table in words.
var starts = map[string]string{
	// boxes
	"tool/box.Command":     "the box itself: bash lines, connectors' programs, what a session's program is asked before it starts",
	"tool/box.seatbelted":  "the box itself, on macOS where a person chose Seatbelt",
	"tool/box.Unconfined":  "none: a person allowed that for one session, on a machine without a sandbox",
	"tool/confine.Command": "Landlock's box",
	"tool/confine.become":  "inside Landlock's box: it becomes the program",
	// sessions' programs
	"session/terminal.beside":     "the session's box; none where the session has none and says so",
	"session/terminal/tmux.start": "none: tmux itself, with an environment of few names; what it starts is `tandem launch`",
	"session/terminal/tmux.Watch": "none: tmux itself",
	"session/terminal/tmux.exec":  "none: tmux itself",
	"cli/session.become":          "what launch.json says: the session's box, built before; or the program itself where the session has none",
	"cli/session.both":            "inside the session's box, where it has one: Codex's server and its terminal",
	// version control: no program that a repository names is run
	"notify.git":           "none: git, told to run neither hooks nor a file system monitor of the repository's",
	"session/since.git":    "none: git, for commands that run no filter, hook or helper, with no configuration but the repository's",
	"session/checkout.run": "none: git or jj, told to run neither hooks nor filters that the repository's configuration names",
	"repo/host.safeGit":    "none: git, in the daemon's own store, with a cleaned configuration",
	"repo/host.ownConfig":  "none: git, which reads the person's own configuration",
	"repo/host.upload":     "none: git, in the daemon's own store",
	// what a person installed or typed
	"notify.show":         "none: notify-send or osascript, with the words as arguments",
	"tunnel.Open":         "none: the tunnel's program, chosen by a person",
	"tunnel.run":          "none: the tunnel's program, chosen by a person",
	"cli/server.browse":   "none: the person's browser, from the person's terminal",
	"cli/kit.Spawn":       "none: tandem's own daemon",
	"cli/policy.inEditor": "none: the person's editor, from the person's terminal",
	"cli/space.git":       "none: git, which somebody uses in this checkout anyway, where they type the commit",
	"cli/setup.tell":      "none: systemctl or launchctl, from the person's terminal",
	"jj.runStock":         "none: a person's command line, in the person's terminal",
	"jj.command":          "none: a person's command line, in the person's terminal",
}

// calls are the ways in which Go starts a process.
var calls = []string{"exec.Command", "exec.CommandContext", "os.StartProcess", "syscall.Exec", "syscall.ForkExec", "syscall.StartProcess",
	"unix.Exec"}

func TestEveryPlaceThatStartsAProcessIsKnown(t *testing.T) {
	root := filepath.Join("..", "..")
	found := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(rel))
		if strings.HasSuffix(dir, "test") || dir == "testenv" { // tests' own
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			name := dir + ".(package)"
			if f, ok := decl.(*ast.FuncDecl); ok {
				name = dir + "." + f.Name.Name
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				if l, ok := n.(*ast.CompositeLit); ok { // a command that is put together by hand
					n = l.Type
					if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Cmd" {
						found[name] = append(found[name], rel)
					}
				}
				if s, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := s.X.(*ast.Ident); ok && slices.Contains(calls, x.Name+"."+s.Sel.Name) {
						found[name] = append(found[name], rel)
					}
				}
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if starts[name] == "" {
			t.Errorf("%s (%s) starts a process: say in this test in which box it runs", name, found[name][0])
		}
	}
	for name := range starts {
		if found[name] == nil {
			t.Errorf("%s starts nothing any more: take it off the list", name)
		}
	}
}
