// `jj util`, as jj 0.45.1 has it: what shells, editors and packagers ask for (completion, the schema of settings, help
// as one text), and `gc`, `exec` and `snapshot`.

package jj

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"tandem/internal/jj/config"
)

func utilCommand() *command {
	return &command{
		name: "util",
		subs: []*command{
			{name: "backend", subs: []*command{
				{name: "name", run: runUtilBackend},
			}},
			{name: "completion", opts: []opt{
				{id: "shell", pos: true, required: true, value: "SHELL", values: []string{"bash", "elvish", "fish", "nushell", "power-shell", "zsh"}},
			}, run: runUtilCompletion},
			{name: "config-schema", run: runUtilSchema},
			{name: "exec", opts: []opt{
				{id: "command", pos: true, required: true, value: "COMMAND"}, {id: "args", pos: true, many: true, value: "ARGS"},
			}, run: runUtilExec},
			{name: "gc", opts: []opt{{id: "expire", long: "expire", value: "EXPIRE"}}, run: runUtilGC},
			absentCommand("install-man-pages"),
			{name: "markdown-help", run: runUtilMarkdown},
			{name: "snapshot", run: runUtilSnapshot},
		},
	}
}

func runUtilBackend(ctx context.Context, e *env, p *parsed) error {
	if _, err := e.openNoSnapshot(ctx); err != nil {
		return err
	}
	e.ui.printf("git\n") // the only one that can be opened here
	return nil
}

func runUtilSnapshot(ctx context.Context, e *env, p *parsed) error {
	w, err := e.openNoSnapshot(ctx)
	if err != nil {
		return err
	}
	before := w.repo.Operation.ID
	if err := w.snapshotIfWanted(ctx); err != nil {
		return err
	}
	if w.repo.Operation.ID == before {
		w.ui.statusf("No snapshot needed.\n")
	} else {
		w.ui.statusf("Snapshot complete.\n")
	}
	return nil
}

func runUtilExec(ctx context.Context, e *env, p *parsed) error {
	cmd := e.ui.command(ctx, p.str("command"), p.all("args")...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir, cmd.Env = e.io.Stdin, e.io.Stdout, e.io.Stderr, e.io.Dir, e.io.Env
	if e.ws != nil {
		cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], "JJ_WORKSPACE_ROOT="+e.ws.root)
	}
	err := cmd.Run()
	if exit, ok := err.(*exec.ExitError); ok {
		if exit.ExitCode() < 0 {
			return userf("External command was terminated by %s", exit)
		}
		return exitCode(exit.ExitCode())
	}
	if err != nil {
		return userf("Failed to execute external command '%s'", p.str("command")).because(err)
	}
	return nil
}

func runUtilGC(ctx context.Context, e *env, p *parsed) error {
	if e.global.atOp != "" && e.global.atOp != "@" {
		return userf("Cannot garbage collect from a non-head operation")
	}
	keep := time.Now().Add(-14 * 24 * time.Hour)
	if s, ok := p.get("expire"); ok {
		if s != "now" {
			return userf("--expire only accepts 'now'")
		}
		keep = time.Now()
	}
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	if err := w.store.GC(ctx, w.repo, keep); err != nil {
		return err
	}
	program := w.conf.Str("git.executable-path")
	cmd := w.ui.command(ctx, program, "--git-dir=.", "gc", fmt.Sprintf("--prune=@%d +0000", keep.Unix()))
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = w.store.GitDir(), w.io.Env, w.io.Stdout, w.io.Stderr
	if err := cmd.Run(); err != nil {
		return internalf(fmt.Errorf("failed to run git gc: %w", err), "Unexpected error from backend")
	}
	return nil
}

// runUtilMarkdown prints the help of every command, for documents.
func runUtilMarkdown(_ context.Context, e *env, p *parsed) error {
	var walk func(path []*command)
	walk = func(path []*command) {
		e.ui.printf("## `%s`\n\n```text\n%s```\n\n", pathName(path), helpFor(path, true, 100))
		for _, c := range path[len(path)-1].subs {
			if !c.hidden && !c.absent {
				walk(append(path[:len(path):len(path)], c))
			}
		}
	}
	walk([]*command{commandTree()})
	return nil
}

// runUtilSchema prints which settings there are, what they hold and what they
// are by default, as a JSON schema.
func runUtilSchema(_ context.Context, e *env, p *parsed) error {
	text, err := config.Schema()
	if err != nil {
		return err
	}
	e.ui.printf("%s\n", strings.TrimSpace(text))
	return nil
}
