// `jj git fetch`, as jj 0.45.1 has it: patterns of branches and tags by command line, then settings, then git's
// refspecs; the rules that cannot be followed are warned about in stock jj's words.

package jj

import (
	"context"
	"maps"
	"slices"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/pattern"
	"tandem/internal/repo/revset"
)

func gitFetchCommand() *command {
	return &command{
		name: "fetch",
		opts: []opt{
			{id: "branch", long: "branch", short: "b", alias: []string{"bookmark"}, value: "BRANCH", many: true, group: "specific"},
			{id: "tag", long: "tag", short: "t", value: "TAG", many: true, group: "specific"},
			{id: "tracked", long: "tracked", conflicts: []string{"specific"}},
			{id: "remote", long: "remote", value: "REMOTE", many: true},
			{id: "all-remotes", long: "all-remotes", conflicts: []string{"remote"}},
		},
		groups: []group{{id: "specific", multiple: true}},
		run:    runGitFetch,
	}
}

// wanted is what is to be fetched from one remote.
type wanted struct {
	remote          string
	bookmarks, tags *pattern.Expr
}

func allNames() *pattern.Expr { return pattern.One(pattern.All()) }
func noNames() *pattern.Expr  { return &pattern.Expr{Op: "~", Args: []*pattern.Expr{allNames()}} }

func runGitFetch(ctx context.Context, e *env, p *parsed) error {
	if e.global.noIntegrate {
		return clif("--no-integrate-operation is not respected")
	}
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	all, err := w.git.remotes(ctx)
	if err != nil {
		return err
	}
	from, err := w.git.fetchRemotes(p, all)
	if err != nil {
		return err
	}
	var names, lost []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if from.Match(name) {
			names = append(names, name)
		}
	}
	for _, name := range from.Exacts() {
		if all[name] == nil {
			lost = append(lost, revset.FormatSymbol(name))
		}
	}
	if len(lost) > 0 {
		w.ui.warnf("No matching remotes for names: %s", strings.Join(lost, ", "))
	}
	if len(names) == 0 {
		return userf("No git remotes to fetch from")
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	bookmarks, tags, err := specificNames(p)
	if err != nil {
		return err
	}
	f := &fetch{tx: t}
	for _, name := range names {
		want := wanted{name, bookmarks, tags}
		if p.has("tracked") {
			want = t.trackedNames(name)
		} else if err := w.git.defaultNames(&want, all[name]); err != nil {
			return err
		}
		if err := f.plan(want); err != nil {
			return err
		}
	}
	if err := f.run(ctx, ""); err != nil {
		return err
	}
	if err := t.sayImported(ctx, f.stats); err != nil {
		return err
	}
	if bookmarks != nil {
		t.warnNoBranches(bookmarks, names)
	}
	var shown []string
	for _, n := range names {
		shown = append(shown, revset.FormatSymbol(n))
	}
	return t.finish(ctx, "fetch from git remote(s) "+strings.Join(shown, ","))
}

// fetchRemotes says which remotes to fetch from.
func (gs *gitSide) fetchRemotes(p *parsed, all map[string]*gitRemote) (*pattern.Expr, error) {
	switch {
	case p.has("all-remotes"):
		return allNames(), nil
	case p.has("remote"):
		return namePatterns(p.all("remote"))
	}
	if v := gs.conf.Get("git", "fetch"); v != nil {
		if s, ok := v.V.(string); ok {
			return namePatterns([]string{s})
		}
		if _, is := v.V.(int64); is {
			_, _, err := gs.conf.String("git.fetch")
			return nil, err
		}
		list, err := gs.conf.Strings("git", "fetch")
		if err != nil {
			return nil, err
		}
		return namePatterns(list)
	}
	only := "origin"
	if len(all) == 1 {
		only = slices.Collect(maps.Keys(all))[0]
		if only != "origin" {
			gs.ui.hintf("Fetching from the only existing remote: %s", revset.FormatSymbol(only))
		}
	}
	return pattern.One(pattern.Exact(only)), nil
}

// specificNames are the branches and tags named on the command line; nil is
// nothing said about either.
func specificNames(p *parsed) (bookmarks, tags *pattern.Expr, err error) {
	if !p.has("branch") && !p.has("tag") {
		return nil, nil, nil
	}
	bookmarks, tags = noNames(), noNames()
	if p.has("branch") {
		bookmarks, err = namePatterns(p.all("branch"))
	}
	if err == nil && p.has("tag") {
		tags, err = namePatterns(p.all("tag"))
	}
	return bookmarks, tags, err
}

func (t *tx) trackedNames(remote string) wanted {
	exact := func(refs map[string]repo.RemoteRef) *pattern.Expr {
		out := &pattern.Expr{Op: "|"}
		for _, name := range slices.Sorted(maps.Keys(refs)) {
			if refs[name].Tracked {
				out.Args = append(out.Args, pattern.One(pattern.Exact(name)))
			}
		}
		if len(out.Args) == 0 {
			return noNames()
		}
		return out
	}
	rv := t.View.Remotes[remote]
	return wanted{remote, exact(rv.Bookmarks), exact(rv.Tags)}
}

// defaultNames fills in what nobody asked for specially: the settings, then
// git's own.
func (gs *gitSide) defaultNames(want *wanted, git *gitRemote) error {
	read := func(key string) (*pattern.Expr, error) {
		name := "remotes." + quoteKey(want.remote) + "." + key
		text, ok, err := gs.conf.String(name)
		if err != nil || !ok {
			return nil, err
		}
		x, err := revset.ParseStringExpr(text)
		if err != nil {
			return nil, configf(err, "Invalid `%s`", name)
		}
		return x, nil
	}
	var err error
	if want.bookmarks == nil {
		if want.bookmarks, err = read("fetch-bookmarks"); err != nil {
			return err
		}
	}
	if want.bookmarks == nil {
		want.bookmarks = gs.refspecNames(want.remote, git)
	}
	if want.tags == nil {
		if want.tags, err = read("fetch-tags"); err != nil {
			return err
		}
	}
	if want.tags == nil {
		want.tags = allNames()
	}
	return nil
}

// refspecNames reads which branches git's configuration fetches.
func (gs *gitSide) refspecNames(remote string, git *gitRemote) *pattern.Expr {
	plus, minus := &pattern.Expr{Op: "|"}, &pattern.Expr{Op: "|"}
	for _, spec := range git.fetch {
		name, negative, why := parseFetchSpec(remote, spec)
		if why != "" {
			gs.ui.warnf("Ignored refspec `%s` from `%s`: %s", spec, revset.FormatSymbol(remote), why)
			continue
		}
		pat, err := pattern.New("glob", name)
		if err != nil {
			gs.ui.warnf("Ignored refspec `%s` from `%s`: invalid pattern", spec, revset.FormatSymbol(remote))
			continue
		}
		if negative {
			minus.Args = append(minus.Args, pattern.One(pat))
		} else {
			plus.Args = append(plus.Args, pattern.One(pat))
		}
	}
	if len(plus.Args) == 0 {
		plus = noNames()
	}
	if len(minus.Args) == 0 {
		return plus
	}
	return &pattern.Expr{Op: "&", Args: []*pattern.Expr{plus, {Op: "~", Args: []*pattern.Expr{minus}}}}
}

// parseFetchSpec reads one of git's own rules, or says why it does not count.
func parseFetchSpec(remote, spec string) (branch string, negative bool, why string) {
	if src, ok := strings.CutPrefix(spec, "^"); ok {
		branch, ok = strings.CutPrefix(src, "refs/heads/")
		if !ok {
			return "", true, "only refs/heads/ is supported for refspec sources"
		}
		return branch, true, ""
	}
	rest, forced := strings.CutPrefix(spec, "+")
	src, dst, both := strings.Cut(rest, ":")
	switch {
	case !both || dst == "":
		return "", false, "fetch-only refspecs are not supported"
	case !forced:
		return "", false, "non-forced refspecs are not supported"
	}
	branch, ok := strings.CutPrefix(src, "refs/heads/")
	if !ok {
		return "", false, "only refs/heads/ is supported for refspec sources"
	}
	below, ok := strings.CutPrefix(dst, "refs/remotes/")
	if !ok {
		return "", false, "only refs/remotes/ is supported for fetch destinations"
	}
	to, ok := strings.CutPrefix(below, remote+"/")
	switch {
	case !ok:
		return "", false, "remote renaming not supported"
	case to != branch:
		return "", false, "renaming is not supported"
	}
	return branch, false, ""
}

// warnNoBranches tells of branches asked for by name that nobody has.
func (t *tx) warnNoBranches(x *pattern.Expr, remotes []string) {
	var lost []string
	for _, name := range x.Exacts() {
		if !x.Match(name) {
			continue
		}
		found := false
		for _, r := range remotes {
			for _, v := range []*repo.View{t.View, t.Base().View} {
				found = found || !repo.IsAbsentTarget(v.RemoteBookmark(r, name).Target)
			}
		}
		if !found {
			lost = append(lost, revset.FormatSymbol(name))
		}
	}
	if len(lost) > 0 {
		t.w.ui.warnf("No matching branches found on any specified/configured remote: %s", strings.Join(lost, ", "))
	}
}
