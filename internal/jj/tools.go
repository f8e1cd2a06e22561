// Programs of `merge-tools`, as jj 0.45.1 finds and starts them.

package jj

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"tandem/internal/jj/config"
	"tandem/internal/repo"
)

// toolbox runs the programs, and the screens of our own, in which people choose,
// edit and merge.
type toolbox struct{ *state }

// tool is an outside program for diffs and merges.
type tool struct {
	name, program                 string
	editArgs, mergeArgs, diffArgs []string
	conflictCodes, diffCodes      []int
	editsMarkers                  bool
	style                         *repo.MarkerStyle
	builtin                       bool
	side                          int // of :ours and :theirs, from 1
	editFiles, diffFiles          bool
	diffElsewhere                 bool // runs where it is, not in the folder of both sides
}

// toolFor finds a tool by name or by the setting of that purpose.
func (tb *toolbox) toolFor(name, setting string) (*tool, error) {
	if name == "" {
		v := tb.conf.Get("ui", setting)
		if v == nil {
			tb.ui.hintf("Using default editor ':builtin'; run `jj config set --user ui.%s :builtin` to disable this message.", setting)
			return &tool{name: ":builtin", builtin: true}, nil
		}
		if _, ok := v.V.(string); !ok {
			c, err := tb.conf.Cmd("ui", setting)
			if err != nil {
				return nil, err
			}
			return commandTool(c.Args), nil
		}
		name = v.V.(string)
		if tb.conf.Get("merge-tools", name) == nil && !strings.HasPrefix(name, ":") {
			t := commandTool(config.Words(name))
			t.name = name
			return t, nil
		}
	}
	switch name {
	case ":builtin":
		return &tool{name: name, builtin: true}, nil
	case ":ours":
		return &tool{name: name, side: 1}, nil
	case ":theirs":
		return &tool{name: name, side: 2}, nil
	}
	return tb.configuredTool(name)
}

func newTool(program string) *tool {
	both := []string{"$left", "$right"}
	return &tool{name: program, program: program, editArgs: both, diffArgs: both, diffCodes: []int{0}}
}

// commandTool is a tool given as a command line.
func commandTool(words []string) *tool {
	t := newTool(words[0])
	if len(words) > 1 {
		t.editArgs, t.mergeArgs, t.diffArgs = words[1:], words[1:], words[1:]
	}
	return t
}

func (tb *toolbox) configuredTool(name string) (*tool, error) {
	t := newTool(name)
	table := tb.conf.Table("merge-tools", name)
	if table == nil {
		return t, nil
	}
	text := func(key string) string {
		if v := table.Get(key); v != nil {
			s, _ := v.V.(string)
			return s
		}
		return ""
	}
	if s := text("program"); s != "" {
		t.program = s
	}
	for key, dst := range map[string]*[]string{"edit-args": &t.editArgs, "merge-args": &t.mergeArgs, "diff-args": &t.diffArgs} {
		if table.Get(key) != nil {
			args, err := tb.conf.Strings("merge-tools", name, key)
			if err != nil {
				return nil, err
			}
			*dst = args
		}
	}
	for key, dst := range map[string]*[]int{"merge-conflict-exit-codes": &t.conflictCodes, "diff-expected-exit-codes": &t.diffCodes} {
		v := table.Get(key)
		if v == nil {
			continue
		}
		*dst = nil
		list, _ := v.V.([]*config.Value)
		for _, x := range list {
			if n, ok := x.V.(int64); ok {
				*dst = append(*dst, int(n))
			}
		}
	}
	if v := table.Get("merge-tool-edits-conflict-markers"); v != nil {
		t.editsMarkers, _ = v.V.(bool)
	}
	if v := table.Get("diff-do-chdir"); v != nil {
		t.diffElsewhere = v.V == false
	}
	t.editFiles, t.diffFiles = text("edit-invocation-mode") == "file-by-file", text("diff-invocation-mode") == "file-by-file"
	styles := map[string]repo.MarkerStyle{"diff": repo.DiffMarkers, "diff-experimental": repo.DiffFirstSnapshotMarkers,
		"snapshot": repo.SnapshotMarkers, "git": repo.GitMarkers}
	if st, ok := styles[text("conflict-marker-style")]; ok {
		t.style = &st
	}
	return t, nil
}

// interpolate replaces $name by what it stands for; unknown names stay.
func interpolate(args []string, vars map[string]string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = os.Expand(a, func(name string) string {
			if v, ok := vars[name]; ok {
				return v
			}
			return "$" + name
		})
	}
	return out
}

// run starts the tool and returns its exit code.
func (tb *toolbox) runTool(ctx context.Context, t *tool, args []string) (int, error) {
	cmd := tb.ui.command(ctx, t.program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env, cmd.Dir = tb.io.Stdin, tb.io.Stdout, tb.io.Stderr, tb.io.Env, tb.io.Dir
	err := cmd.Run()
	if exit, ok := err.(*exec.ExitError); ok {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 0, userf("Error executing '%s' (run with --debug to see the exact invocation)", t.program).because(osCause(err))
	}
	return 0, nil
}

func toolAborted(code int) error {
	return fmt.Errorf("Tool exited with exit status: %d (run with --debug to see the exact invocation)", code)
}
