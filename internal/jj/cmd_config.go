// `jj config edit`, `get`, `list`, `path`, `set` and `unset`, as jj 0.45.1 has them: layers in stock jj's order, and files
// rewritten with everything that the change does not touch.

package jj

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/jj/config"
	"tandem/internal/repo/template"
)

func configCommand() *command {
	levels := func(group string) []opt {
		return []opt{
			{id: "user", long: "user", group: group},
			{id: "repo", long: "repo", group: group},
			{id: "workspace", long: "workspace", group: group},
		}
	}
	target := append(levels("target"), opt{id: "file", long: "file", value: "PATH", group: "target"})
	one := []group{{id: "target", required: true}}
	name := opt{id: "name", pos: true, required: true, value: "NAME", check: checkConfigName}
	optional := name
	optional.required = false
	return &command{
		name: "config",
		subs: []*command{
			{name: "edit", alias: []string{"e"}, opts: target, groups: one, run: runConfigEdit},
			absentCommand("gc"),
			{name: "get", alias: []string{"g"}, opts: []opt{name}, run: runConfigGet},
			{name: "list", alias: []string{"l"}, opts: append([]opt{
				optional,
				{id: "include-defaults", long: "include-defaults", conflicts: []string{"level"}},
				{id: "include-overridden", long: "include-overridden"},
			}, append(levels("level"), opt{id: "template", long: "template", short: "T", value: "TEMPLATE"})...), run: runConfigList},
			{name: "path", alias: []string{"p"}, opts: levels("target"), groups: one, run: runConfigPath},
			{name: "set", alias: []string{"s"}, opts: append([]opt{
				name, {id: "value", pos: true, required: true, value: "VALUE", check: func(s string) error {
					_, err := config.ParseBare(s)
					return err
				}},
			}, target...), groups: one, run: runConfigSet},
			{name: "unset", alias: []string{"u"}, opts: append([]opt{name}, target...), groups: one, run: runConfigUnset},
		},
	}
}

func checkConfigName(s string) error {
	_, err := config.ParseName(s)
	return err
}

// configItem is a value with where it comes from.
type configItem struct {
	name       string
	value      *config.Value
	layer      *config.Layer
	overridden bool
}

func levelOf(p *parsed) (config.Source, bool) {
	switch {
	case p.has("user"):
		return config.User, true
	case p.has("repo"):
		return config.Repo, true
	case p.has("workspace"):
		return config.Workspace, true
	}
	return 0, false
}

func runConfigGet(_ context.Context, e *env, p *parsed) error {
	keys, _ := config.ParseName(p.str("name"))
	v, _ := e.conf.GetFrom(keys...)
	if v == nil {
		return configf(nil, "Value not found for %s", p.str("name"))
	}
	if s, ok := v.V.(string); ok {
		e.ui.printf("%s\n", s)
	} else {
		e.ui.printf("%s\n", v.Text())
	}
	return nil
}

func runConfigList(ctx context.Context, e *env, p *parsed) error {
	aliases, err := e.templateAliases()
	if err != nil {
		return err
	}
	source, ok := p.get("template")
	if !ok {
		if source, _, err = e.conf.String("templates.config_list"); err != nil {
			return err
		}
	}
	r, err := template.Build(e.baseLanguage(), aliases, source, configItemType())
	if err != nil {
		return parseError("template", err)
	}
	var prefix []string
	if p.has("name") {
		prefix, _ = config.ParseName(p.str("name"))
	}
	src, leveled := levelOf(p)
	o := e.ui.newText()
	some := false
	for _, it := range e.configItems(prefix, p.str("name")) {
		switch {
		case leveled && it.layer.Source != src:
		case !leveled && !p.has("include-defaults") && it.layer.Source == config.Default:
		case it.overridden && !p.has("include-overridden"):
		default:
			some = true
			o.Push("config_list")
			err := r.Render(o, it)
			o.Pop()
			if err != nil {
				return err
			}
		}
	}
	switch {
	case some:
		e.ui.page(ctx)
		return e.ui.print(o)
	case p.has("name"):
		e.ui.warnf("No matching config key for: %s", p.str("name"))
	default:
		e.ui.warnf("No config to list.")
	}
	return nil
}

// configItems lists all values under a name, weakest layer first, each marked
// when a stronger layer hides it.
func (e *env) configItems(prefix []string, shown string) []*configItem {
	var out []*configItem
	upper := map[string]bool{} // names of stronger values, by their keys
	key := func(keys []string) string { return strings.Join(keys, "\x00") + "\x00" }
	for i := len(e.conf.Layers) - 1; i >= 0; i-- {
		layer := &e.conf.Layers[i]
		v, under := config.Look(layer.Root, prefix)
		if !under {
			upper[key(prefix)] = true
		}
		if v == nil {
			continue
		}
		var walk func(keys []string, name string, v *config.Value, hidden bool)
		walk = func(keys []string, name string, v *config.Value, hidden bool) {
			if t, ok := v.V.(*config.Table); ok {
				hidden = hidden || upper[key(keys)]
				for j := len(t.Keys) - 1; j >= 0; j-- {
					k := t.Keys[j]
					sub := config.FormatKey(k)
					if name != "" {
						sub = name + "." + sub
					}
					walk(append(keys[:len(keys):len(keys)], k), sub, t.M[k], hidden)
				}
				return
			}
			me, child := key(keys), false
			for u := range upper {
				child = child || strings.HasPrefix(u, me)
			}
			upper[me] = true
			out = append(out, &configItem{name: name, value: v, layer: layer, overridden: hidden || child})
		}
		walk(prefix, shown, v, false)
	}
	slices.Reverse(out)
	return out
}

func configItemType() *template.Type {
	shown := func(v any) any {
		c := v.(*configItem)
		var path any
		if c.layer.Path != "" {
			path = c.layer.Path
		}
		return template.Object{
			{Key: "name", Value: c.name}, {Key: "value", Value: c.value.Plain()}, {Key: "source", Value: c.layer.Source.String()},
			{Key: "path", Value: path}, {Key: "is_overridden", Value: c.overridden},
		}
	}
	return &template.Type{Name: "AnnotatedValue", JSON: shown, Methods: func() map[string]template.Method {
		return map[string]template.Method{
			"name": template.Field(template.StringType, func(c *configItem) any { return c.name }),
			"value": template.Field(template.ConfigType, func(c *configItem) any {
				return template.ConfigValue{Value: c.value.Plain(), TOML: c.value.Text()}
			}),
			"source":     template.Field(template.StringType, func(c *configItem) any { return c.layer.Source.String() }),
			"overridden": template.Field(template.BooleanType, func(c *configItem) any { return c.overridden }),
			"path": template.Field(template.PathOpt, func(c *configItem) any {
				if c.layer.Path == "" {
					return nil
				}
				return template.FsPath(c.layer.Path)
			}),
		}
	}}
}

func runConfigPath(_ context.Context, e *env, p *parsed) error {
	src, _ := levelOf(p)
	if src == config.User {
		paths := e.userConfigPaths()
		if len(paths) == 0 {
			return userf("No user config path found")
		}
		for _, path := range paths {
			e.ui.printf("%s\n", path)
		}
		return nil
	}
	path, err := e.makeScopedConfig(src)
	if err != nil {
		return err
	}
	if path == "" {
		return userf("No %s config path found", src)
	}
	e.ui.printf("%s\n", path)
	return nil
}

// configTarget is the file that a change goes to, and its text.
func (e *env) configTarget(p *parsed) (path, content string, err error) {
	if p.has("file") {
		path, err = e.configFileArg(p.str("file"))
	} else {
		src, _ := levelOf(p)
		for _, l := range e.conf.Layers {
			if l.Source == src && l.Path != "" {
				path = l.Path
				break
			}
		}
		switch {
		case path != "":
		case src == config.User:
			if paths := e.userConfigPaths(); len(paths) > 0 {
				path = paths[0]
			}
		default:
			path, err = e.makeScopedConfig(src)
		}
		if err == nil && path == "" {
			err = userf("No %s config path found to edit", src)
		}
	}
	if err != nil {
		return "", "", err
	}
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return path, config.FirstLine, os.MkdirAll(filepath.Dir(path), 0o700)
	}
	return path, string(data), err
}

// configFileArg accepts only files that are settings already, or would be.
func (e *env) configFileArg(arg string) (string, error) {
	path := arg
	if !filepath.IsAbs(path) {
		path = filepath.Join(e.io.Dir, path)
	}
	var known []string
	for _, l := range e.conf.Layers {
		known = append(known, l.Path)
	}
	known = append(known, e.userConfigPaths()...)
	for _, src := range []config.Source{config.Repo, config.Workspace} {
		if f, err := e.makeScopedConfig(src); err == nil {
			known = append(known, f)
		}
	}
	real, _ := filepath.EvalSymlinks(path)
	for _, k := range known {
		if k != "" && (k == path || k == real || filepath.Dir(path) == k && strings.HasSuffix(path, ".toml")) {
			return path, nil
		}
	}
	return "", userf("Configuration file '%s' is not a valid jj configuration file location", path).
		hinted("Valid config locations include user configs (`~/.config/jj/config.toml` or `conf.d/*.toml`), repo/workspace configs, or " +
			"files loaded with the global flag `--config-file <PATH>`.")
}

func runConfigSet(ctx context.Context, e *env, p *parsed) error {
	path, content, err := e.configTarget(p)
	if err != nil {
		return err
	}
	keys, _ := config.ParseName(p.str("name"))
	v, err := config.ParseBare(p.str("value"))
	if err != nil {
		return err
	}
	if len(keys) == 2 && keys[0] == "user" && (keys[1] == "name" || keys[1] == "email") {
		e.warnAuthor(ctx, keys[1], v)
	}
	if content, err = config.Set(content, keys, v); err != nil {
		return userf("Failed to set %s", p.str("name")).because(err)
	}
	return os.WriteFile(path, []byte(content), 0o644)
}

// warnAuthor says that the working copy keeps its author.
func (e *env) warnAuthor(ctx context.Context, field string, v *config.Value) {
	w, err := e.open(ctx)
	if err != nil {
		return
	}
	c, err := w.wcCommit(ctx)
	if err != nil || c == nil {
		return
	}
	have := c.Author.Name
	if field == "email" {
		have = c.Author.Email
	}
	if s, ok := v.V.(string); ok && s == have {
		return
	}
	e.ui.warnf("This setting will only impact future commits.\nThe author of the working copy will stay \"%s <%s>\".\n"+
		"To change the working copy author, use \"jj metaedit --update-author\".", c.Author.Name, c.Author.Email)
}

func runConfigUnset(_ context.Context, e *env, p *parsed) error {
	path, content, err := e.configTarget(p)
	if err != nil {
		return err
	}
	keys, _ := config.ParseName(p.str("name"))
	content, found, err := config.Unset(content, keys)
	if err != nil {
		return userf("Failed to unset %s", p.str("name")).because(err)
	}
	if !found {
		return userf("\"%s\" doesn't exist", p.str("name"))
	}
	return os.WriteFile(path, []byte(content), 0o644)
}

func runConfigEdit(ctx context.Context, e *env, p *parsed) error {
	path, content, err := e.configTarget(p)
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); err != nil {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	e.ui.statusf("Editing file: %s\n", path)
	for {
		if err := e.editFile(ctx, path); err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		_, err = config.ParseTOML(string(data))
		if err == nil {
			return nil
		}
		e.ui.warnf("An error has been found inside the config:")
		e.ui.causes((&cmdError{msg: "Configuration cannot be parsed as TOML document"}).because(err))
		again, err := e.ui.yesNo("Do you want to keep editing the file? If not, previous config will be restored.", true)
		if err != nil {
			return err
		}
		if !again {
			return os.WriteFile(path, []byte(content), 0o644)
		}
	}
}
