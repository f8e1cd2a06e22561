// Fetching by the git program, with the arguments and refspecs of jj 0.45.1.

package jj

import (
	"context"
	"slices"
	"strings"

	"tandem/internal/repo/gitstore"
	"tandem/internal/repo/pattern"
)

// fetch brings branches and tags of remotes into the repository.
type fetch struct {
	*tx
	plans []fetchPlan
	fresh bool // into a new repository
	stats *gitstore.ImportStats
}

// fetchPlan is one call of git: what is wanted and the rules that say so.
type fetchPlan struct {
	wanted
	specs     []fetchSpec
	negatives []string
}

type fetchSpec struct{ from, to string }

// plan turns names into git's rules.
func (f *fetch) plan(w wanted) error {
	p := fetchPlan{wanted: w}
	for _, kind := range []struct {
		expr     *pattern.Expr
		from, to string
	}{
		{w.bookmarks, "refs/heads/", "refs/remotes/" + w.remote + "/"},
		{w.tags, "refs/tags/", gitstore.RemoteTagRef(w.remote, "")},
	} {
		plus, minus, why := splitPatterns(kind.expr)
		if why != "" {
			return userf("%s", why).hinted("Specify patterns in `(positive | ...) & ~(negative | ...)` form.")
		}
		for i, list := range [][]pattern.String{plus, minus} {
			for _, pat := range list {
				glob, ok := refspecGlob(pat)
				if !ok {
					return userf("Invalid branch pattern provided. " +
						"When fetching, branch names and globs may not contain the characters `:`, `^`, `?`, `[`, `]`")
				}
				if i == 0 {
					p.specs = append(p.specs, fetchSpec{kind.from + glob, kind.to + glob})
				} else {
					p.negatives = append(p.negatives, "^"+kind.from+glob)
				}
			}
		}
	}
	f.plans = append(f.plans, p)
	return nil
}

// refspecGlob is a pattern as git's rules write it.
func refspecGlob(p pattern.String) (string, bool) {
	glob := p.Text
	switch p.Kind {
	case "exact", "substring":
		if strings.ContainsAny(glob, "*{}") {
			return "", false
		}
		if p.Kind == "substring" {
			if glob = "*" + glob + "*"; p.Text == "" {
				glob = "*"
			}
		}
	case "glob":
	default:
		return "", false
	}
	return glob, !strings.ContainsAny(glob, ":^?[]")
}

// splitPatterns takes an expression apart into names that are wanted and names
// that are not, which is all that git's rules can say.
func splitPatterns(x *pattern.Expr) (plus, minus []pattern.String, why string) {
	var union func(x *pattern.Expr, into *[]pattern.String) string
	union = func(x *pattern.Expr, into *[]pattern.String) string {
		switch x.Op {
		case "":
			*into = append(*into, x.Pat)
		case "|":
			for _, a := range x.Args {
				if why := union(a, into); why != "" {
					return why
				}
			}
		case "~":
			return "Cannot use `~` in sub expression"
		default:
			return "Cannot use `&` in sub expression"
		}
		return ""
	}
	var top func(x *pattern.Expr) string
	top = func(x *pattern.Expr) string {
		switch x.Op {
		case "~":
			plus = append(plus, pattern.All())
			return union(x.Args[0], &minus)
		case "&":
			i := slices.IndexFunc(x.Args, func(a *pattern.Expr) bool { return a.Op == "~" })
			if len(x.Args) != 2 || i < 0 {
				return "Cannot use `&` for positive expressions"
			}
			if x.Args[1].Op == "~" {
				i = 1
			}
			if why := top(x.Args[1-i]); why != "" {
				return why
			}
			return union(x.Args[i].Args[0], &minus)
		case "|":
			if len(x.Args) == 1 {
				return top(x.Args[0])
			}
		}
		return union(x, &plus)
	}
	why = top(x)
	notAll := func(p pattern.String) bool { return !p.IsAll() }
	if len(minus) > 0 && !slices.ContainsFunc(plus, notAll) && !slices.ContainsFunc(minus, notAll) {
		return nil, nil, why // nothing at all
	}
	return plus, minus, why
}

// run calls git for each remote and takes in what came. depth is how much of
// the history to fetch, "" for all.
func (f *fetch) run(ctx context.Context, depth string) error {
	w := f.w
	var done []fetchPlan
	for _, p := range f.plans {
		if err := checkRemoteName(p.remote); err != nil {
			return err.(*cmdError).hinted("Run `jj git remote rename` to give a different name.")
		}
		if len(p.specs) == 0 {
			continue
		}
		if err := w.git.fetchOne(ctx, p, depth); err != nil {
			return err
		}
		done = append(done, p)
	}
	o, err := w.git.importOptions()
	if err != nil {
		return err
	}
	o.Unlinked = o.Unlinked || f.fresh
	o.Fetched = true
	o.Only = func(tag bool, remote, name string) bool {
		return slices.ContainsFunc(done, func(p fetchPlan) bool {
			return p.remote == remote && (tag && p.tags.Match(name) || !tag && p.bookmarks.Match(name))
		})
	}
	if f.stats, err = w.store.ImportRefs(ctx, f.Tx, o); err != nil {
		return internalf(err, "Failed to import refs from underlying Git repo")
	}
	return nil
}

// fetchOne calls git. It gives up at a name the remote does not have, so that
// name is taken out and git called again.
func (gs *gitSide) fetchOne(ctx context.Context, p fetchPlan, depth string) error {
	var prune []string
	how := "--porcelain"
	for {
		args := []string{"fetch", how, "--prune", "--no-write-fetch-head"}
		if depth != "" {
			args = append(args, "--depth="+depth)
		}
		args = append(args, "--no-tags", "--", p.remote)
		for _, s := range p.specs {
			args = append(args, "+"+s.from+":"+s.to)
		}
		if len(p.specs) == 0 {
			break
		}
		res, err := gs.run(ctx, append(args, p.negatives...))
		if err != nil {
			return err
		}
		first, _, _ := strings.Cut(res.err, "\n")
		lost, ok := strings.CutPrefix(first, "fatal: couldn't find remote ref ")
		switch {
		case res.ok:
		case strings.HasPrefix(first, "error: unknown option `porcelain'"): // git before 2.41
			how = "--quiet"
			continue
		case ok:
			p.specs = slices.DeleteFunc(slices.Clone(p.specs), func(s fetchSpec) bool { return s.from == lost })
			if branch, ok := strings.CutPrefix(lost, "refs/heads/"); ok {
				prune = append(prune, p.remote+"/"+branch)
			}
			continue
		case strings.Contains(res.out, "\n! ") || strings.HasPrefix(res.out, "! "):
		case strings.HasPrefix(first, "error: remote-tracking branch '"):
		default:
			return res.failure()
		}
		var rejected []string
		for _, line := range strings.Split(res.out, "\n") {
			if cols := strings.Fields(line); len(cols) == 4 && cols[0] == "!" {
				rejected = append(rejected, cols[3])
			}
		}
		if len(rejected) > 0 {
			return userf("Failed to update refs: %s", strings.Join(rejected, ", "))
		}
		break
	}
	if len(prune) == 0 {
		return nil
	}
	res, err := gs.run(ctx, append([]string{"branch", "--remotes", "--delete", "--"}, prune...))
	if err == nil && !res.ok && !strings.HasPrefix(res.err, "error: remote-tracking branch '") {
		err = res.failure()
	}
	return err
}
