package connector

import (
	"cmp"
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"tandem/internal/connector/wire"
	"tandem/internal/fault"
	"tandem/internal/tool"
)

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// ours are variables that the sandbox itself sets, or that would load code into the program before it begins.
var ours = regexp.MustCompile(`^(HOME|TMPDIR|PATH|LD_.*|DYLD_.*)$`)

// checkGiven refuses what a program cannot be given.
func checkGiven(c *wire.Connector) error {
	g := c.Given
	bad := func(format string, args ...any) error {
		return fault.New(fault.Invalid, "connector.add", format, args...)
	}
	if c.URL != "" && (g.Folder != "" || len(g.Env) > 0 || len(g.Secrets) > 0) {
		return bad("a folder and an environment are for a program, not for an address")
	}
	if g.Folder != "" && (!filepath.IsAbs(g.Folder) || filepath.Clean(g.Folder) == "/") {
		return bad("%.100q is not the absolute path of a folder that can be shown to a program", g.Folder)
	}
	if g.Write && g.Folder == "" {
		return bad("say which folder the program may change")
	}
	names := append([]string(nil), g.Secrets...)
	for _, kv := range g.Env {
		name, _, ok := strings.Cut(kv, "=")
		if !ok {
			return bad("%.60q is no variable: write NAME=VALUE", kv)
		}
		names = append(names, name)
	}
	seen := map[string]bool{}
	for _, n := range names {
		switch {
		case !variable.MatchString(n) || ours.MatchString(n):
			return bad("%.60q is not a variable that a program can be given", n)
		case seen[n]:
			return bad("the variable %s is given twice", n)
		}
		seen[n] = true
	}
	return nil
}

// sealedName is under which name the value of a program's variable is sealed.
func sealedName(name, variable string) string { return "connector/" + name + "/env/" + variable }

// withVariables lends the values of a program's sealed variables to fn, as NAME=VALUE. One that was never stored is an error.
func (r *Room) withVariables(ctx context.Context, c *wire.Connector, left []string, env []string, fn func(env []string) error) error {
	if len(left) == 0 {
		return fn(env)
	}
	err := r.keys.Lend(ctx, c.Tenant, sealedName(c.Name, left[0]), func(v []byte) error {
		return r.withVariables(ctx, c, left[1:], append(env, left[0]+"="+string(v)), fn)
	})
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.Conflict, "connector.call", "%s needs the variable %s, and no value is stored", c.Name, left[0]).
			WithNext("store it: tandem connector secret %s %s", c.Name, left[0])
	}
	return err
}

// scope is the folder that a program was given, as whoever calls it sees that: a program reads for its caller.
func (r *Room) scope(ctx context.Context, c *wire.Connector) (*tool.Scope, error) {
	if c.Given.Folder == "" {
		return tool.NewScope(nil), nil
	}
	sight, err := r.see(ctx)
	if err != nil {
		return nil, err
	}
	return tool.NewScope([]tool.Folder{{Path: c.Given.Folder, ReadOnly: !c.Given.Write}}, r.Hidden...).Seeing(sight), nil
}

// command is the confined program, in its folder and with its environment.
func (r *Room) command(ctx context.Context, c *wire.Connector, scope *tool.Scope, sealed []string) (*exec.Cmd, func(), error) {
	words := make([]string, len(c.Command))
	for i, w := range c.Command {
		words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	dir := cmp.Or(c.Given.Folder, "/")
	cmd, done, err := r.sandbox.Command(ctx, scope, dir, "exec "+strings.Join(words, " "), c.Network)
	if err == nil {
		cmd.Env = append(append(cmd.Env, c.Given.Env...), sealed...)
	}
	return cmd, done, err
}
