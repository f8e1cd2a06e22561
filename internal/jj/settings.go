// Where settings come from, in the order of jj 0.45.1: defaults, environment, user, repository, workspace, environment
// again, arguments.

package jj

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tandem/internal/jj/config"
)

func setTable(t *config.Table, name string, v any) {
	keys := strings.Split(name, ".")
	t.SetPath(keys, &config.Value{V: v})
}

// loadBaseConfig reads the settings for a command line: everything that does
// not depend on the repository, and the settings of the repository that -R
// names or that lies around the directory.
func (e *env) loadBaseConfig(args []string) error {
	return e.loadConfig(earlyValue(args, "repository", "R"), args, args)
}

// loadConfig is loadBaseConfig with the place of the repository and the words
// whose settings count given apart from those that decide how to print.
func (e *env) loadConfig(at string, settings, flags []string) error {
	var err error
	if e.conf, err = config.Defaults(); err != nil {
		return err
	}
	e.addEnvLayers()
	if err := e.addUserLayers(); err != nil {
		return err
	}
	e.ws = nil
	e.findWorkspace(at)
	if err := e.addRepoLayers(); err != nil {
		return err
	}
	if err := e.addArgLayers(settings); err != nil {
		return err
	}
	e.addFlagLayer(flags)
	e.layers = e.conf.Layers
	e.resolveScopes(nil)
	return e.ui.configure(e.conf)
}

// scopeTo applies the settings that hold for one command alone, now that it is
// known which.
func (e *env) scopeTo(path []*command) error {
	if !slices.ContainsFunc(e.layers, config.Layer.Conditional) {
		return nil
	}
	e.conf.Layers = e.layers
	e.resolveScopes(strings.Fields(pathName(path))[1:])
	return e.ui.configure(e.conf)
}

// earlyValue finds the value of a global option before the real parsing.
func earlyValue(args []string, long, short string) string {
	v := earlyValues(args, long, short)
	if len(v) == 0 {
		return ""
	}
	return v[len(v)-1]
}

func earlyValues(args []string, long, short string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return out
		case a == "--"+long, short != "" && a == "-"+short:
			if i+1 < len(args) && (!strings.HasPrefix(args[i+1], "-") || args[i+1] == "-") {
				i++
				out = append(out, args[i])
			}
		case strings.HasPrefix(a, "--"+long+"="):
			out = append(out, a[len(long)+3:])
		case short != "" && strings.HasPrefix(a, "-"+short) && !strings.HasPrefix(a, "--"):
			out = append(out, strings.TrimPrefix(a[2:], "="))
		}
	}
	return out
}

func (e *env) addEnvLayers() {
	base := config.NewTable()
	if h, err := os.Hostname(); err == nil {
		setTable(base, "operation.hostname", h)
	}
	if u, ok := e.io.lookup("USER"); ok {
		setTable(base, "operation.username", u)
	} else if u, err := user.Current(); err == nil {
		setTable(base, "operation.username", u.Username)
	}
	if e.io.getenv("NO_COLOR") != "" {
		setTable(base, "ui.color", "never")
	}
	if v, ok := e.io.lookup("VISUAL"); ok {
		setTable(base, "ui.editor", v)
	} else if v, ok := e.io.lookup("EDITOR"); ok {
		setTable(base, "ui.editor", v)
	}
	e.conf.Add(config.Layer{Source: config.EnvBase, Root: base})
	over := config.NewTable()
	for _, m := range [][2]string{
		{"JJ_USER", "user.name"}, {"JJ_EMAIL", "user.email"}, {"JJ_TIMESTAMP", "debug.commit-timestamp"},
		{"JJ_RANDOMNESS_SEED", "debug.randomness-seed"},
		{"JJ_OP_TIMESTAMP", "debug.operation-timestamp"}, {"JJ_OP_HOSTNAME", "operation.hostname"},
		{"JJ_OP_USERNAME", "operation.username"}, {"JJ_EDITOR", "ui.editor"}, {"JJ_PAGER", "ui.pager"},
	} {
		v, ok := e.io.lookup(m[0])
		n, err := strconv.ParseInt(v, 10, 64)
		switch seed := m[0] == "JJ_RANDOMNESS_SEED"; {
		case ok && !seed:
			setTable(over, m[1], v)
		case ok && err == nil:
			setTable(over, m[1], n)
		}
	}
	e.conf.Add(config.Layer{Source: config.EnvOverrides, Root: over})
}

// configDir is where jj keeps a user's settings.
func (e *env) configDir() string {
	if d := e.io.getenv("XDG_CONFIG_HOME"); d != "" {
		return filepath.Join(d, "jj")
	}
	if h := e.io.getenv("HOME"); h != "" {
		return filepath.Join(h, ".config", "jj")
	}
	return ""
}

// userConfigPaths lists the user's files, existing or not.
func (e *env) userConfigPaths() []string {
	if v, ok := e.io.lookup("JJ_CONFIG"); ok {
		var out []string
		for _, p := range filepath.SplitList(v) {
			if p != "" {
				out = append(out, p)
			}
		}
		return out
	}
	var out []string
	if h := e.io.getenv("HOME"); h != "" {
		home := filepath.Join(h, ".jjconfig.toml")
		if _, err := os.Stat(home); err == nil {
			out = append(out, home)
		}
	}
	if d := e.configDir(); d != "" {
		out = append(out, filepath.Join(d, "config.toml"))
		if st, err := os.Stat(filepath.Join(d, "conf.d")); err == nil && st.IsDir() {
			out = append(out, filepath.Join(d, "conf.d"))
		}
	}
	return out
}

func (e *env) addUserLayers() error {
	for _, p := range e.userConfigPaths() {
		if err := e.addPath(config.User, p); err != nil {
			return err
		}
	}
	return nil
}

// addPath adds a file, or the *.toml files of a directory in order.
func (e *env) addPath(src config.Source, path string) error {
	st, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !st.IsDir() {
		return e.addFile(src, path)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, en := range entries {
		if strings.HasSuffix(en.Name(), ".toml") {
			if err := e.addFile(src, filepath.Join(path, en.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *env) addFile(src config.Source, path string) error { return e.addFileAs(src, path, path) }

// addFileAs is addFile for a file that people know by another path.
func (e *env) addFileAs(src config.Source, path, shown string) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return configf(err, "Failed to read configuration file")
	}
	t, err := config.ParseTOML(string(data))
	if err != nil {
		return configf(err, "Configuration cannot be parsed as TOML document").hinted("Check the config file: %s", shown)
	}
	e.conf.Add(config.Layer{Source: src, Path: shown, Root: t})
	return nil
}

// addArgLayers adds what --config and --config-file say, in their order.
func (e *env) addArgLayers(args []string) error {
	var t *config.Table
	add := func() {
		if t != nil {
			e.conf.Add(config.Layer{Source: config.CommandArg, Root: t})
			t = nil
		}
	}
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		name, val, has := strings.Cut(args[i], "=")
		if name != "--config" && name != "--config-file" {
			continue
		}
		if !has {
			if i++; i == len(args) {
				break
			}
			if val = args[i]; strings.HasPrefix(val, "-") {
				i-- // an option: the parser will say that the value is missing
				continue
			}
		}
		if name == "--config" {
			if t == nil {
				t = config.NewTable()
			}
			if err := parseConfigArg(t, val); err != nil {
				return err
			}
			continue
		}
		add()
		if err := e.addArgFile(val); err != nil {
			return err
		}
	}
	add()
	return nil
}

func (e *env) addArgFile(path string) error {
	full := path
	if !filepath.IsAbs(full) {
		full = filepath.Join(e.io.Dir, full)
	}
	if _, err := os.Stat(full); err != nil {
		return configf(&chained{"Cannot access " + path, err}, "Failed to read configuration file")
	}
	return e.addFileAs(config.CommandArg, full, path)
}

// addFlagLayer adds the options that are settings by another name.
func (e *env) addFlagLayer(args []string) {
	top := config.NewTable()
	if c := earlyValue(args, "color", ""); slices.Contains(globalOpt("color").values, c) {
		setTable(top, "ui.color", c)
	}
	for _, a := range args {
		if a == "--" {
			break
		}
		if a == "--quiet" {
			setTable(top, "ui.quiet", true)
		}
		if a == "--no-pager" {
			setTable(top, "ui.paginate", "never")
		}
	}
	if len(top.Keys) > 0 {
		e.conf.Add(config.Layer{Source: config.CommandArg, Root: top})
	}
}

// parseConfigArg adds NAME=VALUE; a value that is no TOML is a string.
func parseConfigArg(t *config.Table, item string) error {
	name, val, ok := config.SplitAssignment(item)
	if !ok {
		return configf(nil, "--config must be specified as NAME=VALUE")
	}
	keys, err := config.ParseName(name)
	if err != nil {
		return configf(err, "--config name cannot be parsed")
	}
	v, err := config.ParseBare(val)
	if err != nil {
		return configf(err, "--config value cannot be parsed")
	}
	t.SetPath(keys, v)
	return nil
}

// resolveScopes applies conditional tables to this repository and command.
func (e *env) resolveScopes(command []string) {
	host, _ := os.Hostname() // the machine's own, whatever operations are told
	ctx := config.ScopeContext{Home: e.io.getenv("HOME"), Hostname: host, Command: command, Env: e.io.lookup}
	if e.ws != nil {
		ctx.Repo, ctx.Workspace = e.ws.repoDir, e.ws.root
	}
	e.conf.ResolveScopes(ctx)
}
