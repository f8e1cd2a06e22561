// `jj git clone`, as jj 0.45.1 has it: fetches, follows the main branch, and makes trunk() an alias of it in the
// repository's settings.

package jj

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tandem/internal/jj/config"
	"tandem/internal/repo"
	"tandem/internal/repo/gitstore"
	"tandem/internal/repo/pattern"
	"tandem/internal/repo/revset"
)

func gitCloneCommand() *command {
	return &command{
		name: "clone",
		opts: []opt{
			{id: "source", pos: true, required: true, value: "SOURCE"},
			{id: "destination", pos: true, value: "DESTINATION"},
			{id: "remote", long: "remote", value: "REMOTE_NAME"},
			{id: "colocate", long: "colocate"},
			{id: "no-colocate", long: "no-colocate", conflicts: []string{"colocate"}},
			{id: "depth", long: "depth", value: "DEPTH", check: checkDepth},
			{id: "branch", long: "branch", short: "b", alias: []string{"bookmark"}, value: "BRANCH", many: true},
			{id: "tag", long: "tag", short: "t", value: "TAG", many: true},
			{id: "object-hash", long: "object-hash", value: "OBJECT_HASH", values: []string{"sha1", "sha256"}},
		},
		run: runGitClone,
	}
}

func checkDepth(s string) error {
	if err := checkCount(s); err != nil {
		return err
	}
	if strings.Trim(s, "0") == "" {
		return fmt.Errorf("number would be zero for non-zero type")
	}
	return nil
}

// clone is one run of the command.
type clone struct {
	*env
	p               *parsed
	remote, source  string
	dir             string
	bookmarks, tags *pattern.Expr // named on the command line, or nil
	w               *session
	branch          string // to start from
	isDefault       bool   // and the remote calls it its main one
}

func runGitClone(ctx context.Context, e *env, p *parsed) error {
	if e.global.atOp != "" {
		return clif("--at-op is not respected")
	}
	if e.global.repository != "" && e.ws == nil {
		return e.noRepo()
	}
	c := &clone{env: e, p: p, remote: p.or("remote", "origin")}
	var err error
	if c.source, err = e.absoluteURL(p.str("source")); err != nil {
		return err
	}
	name, ok := p.get("destination")
	if !ok {
		if name = cloneName(c.source); name == "" {
			return userf("No destination specified and wasn't able to guess it")
		}
	}
	if c.bookmarks, c.tags, err = specificNames(p); err != nil {
		return err
	}
	if p.or("object-hash", e.conf.Str("git.object-hash")) != "sha1" {
		return missing("a repository whose objects are named by SHA-256")
	}
	colocate, err := e.conf.Bool("git.colocate")
	if err != nil {
		return err
	}
	colocate = colocate && !p.has("no-colocate") || p.has("colocate")
	c.dir = name
	if !filepath.IsAbs(c.dir) {
		c.dir = filepath.Join(e.io.Dir, c.dir)
	}
	existed := exists(c.dir)
	if entries, err := os.ReadDir(c.dir); existed && (err != nil || len(entries) > 0) {
		return userf("Destination path exists and is not an empty directory")
	}
	if err := os.MkdirAll(c.dir, 0o777); err != nil {
		return userf("Failed to create %s", name).because(err)
	}
	if c.dir, err = filepath.EvalSymlinks(c.dir); err != nil {
		return err
	}
	if err := c.fetch(ctx, colocate); err != nil {
		c.cleanUp(colocate, existed)
		return err
	}
	return c.settle(ctx)
}

// cloneName guesses a folder's name from where a repository lies.
func cloneName(source string) string {
	s := strings.TrimSuffix(strings.TrimSuffix(source, ".git"), "/")
	return s[strings.LastIndexAny(s, `/\:`)+1:]
}

func (c *clone) cleanUp(colocate, existed bool) {
	names := []string{".jj"}
	if colocate {
		names = append(names, ".git")
	}
	var err error
	for _, n := range names {
		if e := os.RemoveAll(filepath.Join(c.dir, n)); e != nil {
			err = e
		}
	}
	if !existed && err == nil {
		err = os.Remove(c.dir)
	}
	if err != nil {
		c.ui.warnf("Failed to clean up %s: %v", c.dir, osCause(err))
	}
}

// fetch makes the repository and brings the remote's branches into it.
func (c *clone) fetch(ctx context.Context, colocate bool) error {
	git := ""
	if colocate {
		git = filepath.Join(c.dir, ".git")
	}
	store, err := gitstore.Init(c.dir, git)
	if err != nil {
		return err
	}
	w, err := c.newPlace(ctx, c.dir, store)
	if err != nil {
		return err
	}
	c.w = w
	want := wanted{c.remote, c.bookmarks, c.tags}
	if err := w.git.defaultNames(&want, &gitRemote{fetch: []string{"+refs/heads/*:refs/remotes/" + c.remote + "/*"}}); err != nil {
		return err
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	if err := t.addRemote(ctx, c.remote, c.source, ""); err != nil {
		return err
	}
	if err := t.finish(ctx, "add git remote "+revset.FormatSymbol(c.remote)); err != nil {
		return err
	}
	w.ui.statusf("Fetching into new repo in %q\n", c.dir)
	if t, err = w.begin(); err != nil {
		return err
	}
	f := &fetch{tx: t, fresh: true}
	if err := f.plan(want); err != nil {
		return err
	}
	if err := f.run(ctx, c.p.str("depth")); err != nil {
		return err
	}
	if err := c.chooseBranch(ctx, t, want.bookmarks); err != nil {
		return err
	}
	if err := t.sayImported(ctx, f.stats); err != nil {
		return err
	}
	return t.finish(ctx, "fetch from git remote into empty repo")
}

// chooseBranch finds what to start from: the first branch asked for by name,
// or the one the remote calls its main one.
func (c *clone) chooseBranch(ctx context.Context, t *tx, names *pattern.Expr) error {
	main, err := c.w.git.mainBranch(ctx, c.remote)
	if err != nil {
		return err
	}
	has := func(name string) bool { return !repo.IsAbsentTarget(t.View.RemoteBookmark(c.remote, name).Target) }
	var lost []string
	for _, name := range names.Exacts() {
		switch {
		case !names.Match(name):
		case !has(name):
			lost = append(lost, revset.FormatSymbol(name))
		case c.branch == "":
			c.branch = name
		}
	}
	if c.branch == "" && main != "" && has(main) {
		c.branch = main
	}
	if len(lost) > 0 {
		c.ui.warnf("No matching branches found on remote: %s", strings.Join(lost, ", "))
	}
	c.isDefault = c.branch == main
	track, err := c.conf.Bool("git.track-default-bookmark-on-clone")
	if err != nil || c.branch == "" || !c.isDefault || !track {
		return err
	}
	return t.TrackBookmark(ctx, c.remote, c.branch)
}

// mainBranch asks a remote which branch it calls its main one.
func (gs *gitSide) mainBranch(ctx context.Context, remote string) (string, error) {
	res, err := gs.run(ctx, []string{"remote", "show", "--", remote})
	if err != nil {
		return "", err
	}
	if !res.ok {
		return "", res.failure()
	}
	for _, line := range strings.Split(res.out, "\n") {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "HEAD branch:"); ok {
			if name = strings.TrimSpace(name); name != "(unknown)" {
				return name, nil
			}
		}
	}
	return "", nil
}

// settle writes down what later fetches should bring, and checks out.
func (c *clone) settle(ctx context.Context) error {
	w := c.w
	if err := c.remember(); err != nil {
		return err
	}
	if c.branch == "" {
		return nil
	}
	id, ok := w.repo.View.RemoteBookmark(c.remote, c.branch).Target.AsResolved()
	if !ok || id == "" {
		return nil
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	head, err := w.store.Commit(ctx, id)
	if err != nil {
		return err
	}
	if _, err := t.CheckOut(ctx, w.name, head); err != nil {
		return err
	}
	return t.finish(ctx, "check out git remote's branch: "+revset.FormatSymbol(c.branch))
}

// remember puts the choices of the command line into the repository's
// settings.
func (c *clone) remember() error {
	w := c.w
	type setting struct {
		keys  []string
		value string
	}
	var list []setting
	if c.bookmarks != nil {
		for key, texts := range map[string][]string{"fetch-bookmarks": c.p.all("branch"), "fetch-tags": c.p.all("tag")} {
			text := "~*"
			if len(texts) > 0 {
				text = strings.Join(texts, " | ")
			}
			list = append(list, setting{[]string{"remotes", c.remote, key}, text})
		}
		if list[0].keys[2] > list[1].keys[2] {
			list[0], list[1] = list[1], list[0]
		}
	}
	symbol := revset.FormatRemote(c.branch, c.remote)
	if c.branch != "" && c.isDefault {
		list = append(list, setting{[]string{"revset-aliases", "trunk()"}, symbol})
	}
	if len(list) == 0 {
		return nil
	}
	path, err := w.makeScopedConfig(config.Repo)
	if err != nil || path == "" {
		return err
	}
	text := config.FirstLine
	for _, s := range list {
		if text, err = config.Set(text, s.keys, &config.Value{V: s.value}); err != nil {
			return err
		}
	}
	if c.branch != "" && c.isDefault {
		w.ui.statusf("Setting the revset alias `trunk()` to `%s`.\n", symbol)
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
