// `jj git remote add`, `list`, `remove`, `rename` and `set-url`, as jj 0.45.1 has them: written by git itself into its own
// configuration, so that git agrees.

package jj

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"tandem/internal/jj/config"
	"tandem/internal/repo"
	"tandem/internal/repo/revset"
)

func gitRemoteCommand() *command {
	name := opt{id: "remote", pos: true, required: true, value: "REMOTE"}
	return &command{
		name: "remote",
		subs: []*command{
			{name: "add", opts: []opt{
				name, {id: "url", pos: true, required: true, value: "URL"}, {id: "push-url", long: "push-url", value: "PUSH_URL"},
			}, run: runRemoteAdd},
			{name: "list", run: runRemoteList},
			{name: "remove", opts: []opt{name}, run: runRemoteRemove},
			{name: "rename", opts: []opt{
				{id: "old", pos: true, required: true, value: "OLD"}, {id: "new", pos: true, required: true, value: "NEW"},
			}, run: runRemoteRename},
			{name: "set-url", opts: []opt{
				name, {id: "url", pos: true, value: "URL"}, {id: "push", long: "push", value: "PUSH"},
				{id: "fetch", long: "fetch", value: "FETCH", conflicts: []string{"url"}},
			}, run: runRemoteSetURL},
		},
	}
}

// gitRemote is a remote of git's configuration.
type gitRemote struct {
	url, push string
	fetch     []string
	pushes    int // refspecs for pushing
}

func (r *gitRemote) pushURL() string {
	if r.push != "" {
		return r.push
	}
	return r.url
}

// remotes reads the remotes of the store's own configuration.
func (gs *gitSide) remotes(ctx context.Context) (map[string]*gitRemote, error) {
	out, err := gs.output(ctx, "config", "--local", "--list", "-z")
	if err != nil {
		return nil, err
	}
	all := map[string]*gitRemote{}
	for _, item := range strings.Split(out, "\x00") {
		key, value, _ := strings.Cut(item, "\n")
		rest, ok := strings.CutPrefix(key, "remote.")
		i := strings.LastIndexByte(rest, '.')
		if !ok || i < 0 {
			continue
		}
		name := rest[:i]
		r := all[name]
		if r == nil {
			r = &gitRemote{}
			all[name] = r
		}
		switch rest[i+1:] {
		case "url":
			r.url = value
		case "pushurl":
			r.push = value
		case "fetch":
			r.fetch = append(r.fetch, value)
		case "push":
			r.pushes++
		}
	}
	return all, nil
}

func checkRemoteName(name string) error {
	switch {
	case name == repo.GitRemote:
		return userf("Git remote named '%s' is reserved for local Git repository", repo.GitRemote)
	case strings.Contains(name, "/"):
		return userf("Git remotes with slashes are incompatible with jj: %s", revset.FormatSymbol(name))
	case name == "" || strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") || strings.HasPrefix(name, "-") ||
		strings.ContainsAny(name, " ~^:?*[\\\x7f") || strings.Contains(name, "..") || strings.HasSuffix(name, ".lock"):
		return userf("remote names must be valid within refspecs for fetching: %s", config.FormatString(name))
	}
	return nil
}

func noRemote(name string) error {
	return userf("No git remote named '%s'", revset.FormatSymbol(name))
}

func runRemoteList(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	all, err := w.git.remotes(ctx)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		r := all[name]
		show := func(s string) string {
			if s == "" {
				return "<no URL>"
			}
			return s
		}
		if r.url == r.pushURL() {
			w.ui.printf("%s %s\n", revset.FormatSymbol(name), show(r.url))
		} else {
			w.ui.printf("%s %s (push: %s)\n", revset.FormatSymbol(name), show(r.url), show(r.pushURL()))
		}
	}
	return nil
}

func runRemoteAdd(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	name := p.str("remote")
	url, err := e.absoluteURL(p.str("url"))
	if err != nil {
		return err
	}
	push := ""
	if p.has("push-url") {
		if push, err = e.absoluteURL(p.str("push-url")); err != nil {
			return err
		}
	}
	if err := checkRemoteName(name); err != nil {
		return err
	}
	all, err := w.git.remotes(ctx)
	if err != nil {
		return err
	}
	if all[name] != nil {
		return userf("Git remote named '%s' already exists", revset.FormatSymbol(name))
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	if err := t.addRemote(ctx, name, url, push); err != nil {
		return err
	}
	pushes, warned := push, false
	if pushes == "" {
		pushes = url
	}
	for _, other := range slices.Sorted(maps.Keys(all)) {
		r := all[other]
		for _, u := range []string{r.url, r.pushURL()} {
			if u != "" && (u == url || u == pushes) {
				w.ui.warnf("Remote %s already uses the same URL.", other)
				warned = true
				break
			}
		}
	}
	if warned {
		w.ui.hintf("If this was a mistake, run `jj git remote remove %s`.", revset.FormatSymbol(name))
	}
	return t.finish(ctx, "add git remote "+revset.FormatSymbol(name))
}

// addRemote makes a remote known to git and to the view.
func (t *tx) addRemote(ctx context.Context, name, url, push string) error {
	if err := checkRemoteName(name); err != nil {
		return err
	}
	if _, err := t.w.git.output(ctx, "remote", "add", name, url); err != nil {
		return err
	}
	if push != "" {
		if _, err := t.w.git.output(ctx, "config", "remote."+name+".pushurl", push); err != nil {
			return err
		}
	}
	t.View.EnsureRemote(name)
	return nil
}

func runRemoteRemove(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	name := p.str("remote")
	all, err := w.git.remotes(ctx)
	if err != nil {
		return err
	}
	if all[name] == nil {
		return noRemote(name)
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	if _, err := w.git.output(ctx, "remote", "remove", name); err != nil {
		return err
	}
	if name != repo.GitRemote {
		delete(t.View.Remotes, name)
		for full := range maps.Clone(t.View.GitRefs) {
			if strings.HasPrefix(full, "refs/remotes/"+name+"/") {
				t.View.SetGitRef(full, repo.NoTarget())
			}
		}
	}
	if t.HasChanges() {
		if err := t.finish(ctx, "remove git remote "+revset.FormatSymbol(name)); err != nil {
			return err
		}
	}
	return e.moveRemoteSettings(name, "")
}

func runRemoteRename(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	old, now := p.str("old"), p.str("new")
	if err := checkRemoteName(now); err != nil {
		return err
	}
	all, err := w.git.remotes(ctx)
	if err != nil {
		return err
	}
	switch r := all[old]; {
	case r == nil:
		return noRemote(old)
	case all[now] != nil:
		return userf("Git remote named '%s' already exists", revset.FormatSymbol(now))
	case len(r.fetch) != 1 || r.pushes > 0 || r.fetch[0] != fmt.Sprintf("+refs/heads/*:refs/remotes/%s/*", old):
		return userf("Git remote named '%s' has nonstandard configuration", revset.FormatSymbol(old))
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	if _, err := w.git.output(ctx, "remote", "rename", old, now); err != nil {
		return err
	}
	if old != repo.GitRemote {
		if rv, ok := t.View.Remotes[old]; ok {
			delete(t.View.Remotes, old)
			t.View.Remotes[now] = rv
		}
		for full, target := range maps.Clone(t.View.GitRefs) {
			if rest, ok := strings.CutPrefix(full, "refs/remotes/"+old+"/"); ok {
				t.View.SetGitRef(full, repo.NoTarget())
				t.View.SetGitRef("refs/remotes/"+now+"/"+rest, target)
			}
		}
	}
	if t.HasChanges() {
		if err := t.finish(ctx, fmt.Sprintf("rename git remote %s to %s", revset.FormatSymbol(old), revset.FormatSymbol(now))); err != nil {
			return err
		}
	}
	return e.moveRemoteSettings(old, now)
}

func runRemoteSetURL(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	name := p.str("remote")
	url, ok := p.get("url")
	if !ok {
		url, ok = p.get("fetch")
	}
	if !ok && !p.has("push") {
		return nil
	}
	if err := checkRemoteName(name); err != nil {
		return err
	}
	all, err := w.git.remotes(ctx)
	if err != nil {
		return err
	}
	if all[name] == nil {
		return noRemote(name)
	}
	set := func(key, value string) error {
		value, err := e.absoluteURL(value)
		if err == nil {
			_, err = w.git.output(ctx, "config", "remote."+name+"."+key, value)
		}
		return err
	}
	if ok {
		if err := set("url", url); err != nil {
			return err
		}
	}
	if push, ok := p.get("push"); ok {
		return set("pushurl", push)
	}
	return nil
}

// moveRemoteSettings lets the repository's own settings follow a remote that
// was renamed, or removed when it has no new name.
func (e *env) moveRemoteSettings(old, now string) error {
	path := e.scopedConfig(config.Repo)
	data, err := os.ReadFile(path)
	if path == "" || err != nil {
		return nil // it has none
	}
	text := string(data)
	root, err := config.ParseTOML(text)
	if err != nil {
		return nil // said by every command
	}
	if v, _ := config.Look(root, []string{"remotes", old}); v != nil {
		if t, ok := v.V.(*config.Table); ok {
			for _, k := range t.Keys {
				if text, _, err = config.Unset(text, []string{"remotes", old, k}); err != nil {
					return err
				}
				if now == "" {
					continue
				}
				if text, err = config.Set(text, []string{"remotes", now, k}, t.M[k]); err != nil {
					return err
				}
			}
		}
	}
	trunk := []string{"revset-aliases", "trunk()"}
	if v, _ := config.Look(root, trunk); v != nil {
		s, _ := v.V.(string)
		if name, ok := strings.CutSuffix(s, "@"+revset.FormatSymbol(old)); ok {
			if now == "" {
				text, _, err = config.Unset(text, trunk)
				e.ui.statusf("Resetting the revset alias `trunk()` to default value.\n")
			} else {
				moved := name + "@" + revset.FormatSymbol(now)
				text, err = config.Set(text, trunk, &config.Value{V: moved})
				e.ui.statusf("Updating the revset alias `trunk()` to `%s`.\n", moved)
			}
			if err != nil {
				return err
			}
		}
	}
	if text == string(data) {
		return nil
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
