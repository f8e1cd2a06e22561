// `jj git push`, as jj 0.45.1 has it: what is pushed by default, what is refused (private, no description, no author,
// conflicts), and a lease on where the remote was last seen.

package jj

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/revset"
)

func gitPushCommand() *command {
	return &command{
		name: "push",
		opts: []opt{
			{id: "remote", long: "remote", value: "REMOTE"},
			{id: "bookmark", long: "bookmark", short: "b", alias: []string{"branch"}, value: "BOOKMARK", many: true, group: "specific"},
			{id: "tag", long: "tag", short: "t", value: "TAG", many: true, group: "specific"},
			{id: "all", long: "all", group: "what"},
			{id: "tracked", long: "tracked", group: "what"},
			{id: "deleted", long: "deleted", conflicts: []string{"specific"}},
			{id: "allow-empty-description", long: "allow-empty-description"},
			{id: "allow-private", long: "allow-private"},
			{id: "allow-conflicts", long: "allow-conflicts"},
			{id: "revisions", long: "revision", short: "r", alias: []string{"revisions"}, value: "REVSETS", many: true, group: "specific"},
			{id: "change", long: "change", short: "c", value: "REVSETS", many: true, group: "specific"},
			{id: "named", long: "named", value: "NAME=REVISION", many: true, group: "specific"},
			{id: "dry-run", long: "dry-run"},
			{id: "option", long: "option", short: "o", value: "OPTION", many: true},
		},
		groups: []group{{id: "specific", multiple: true}, {id: "what", conflicts: []string{"specific"}}},
		run:    runGitPush,
	}
}

// push is one run of the command.
type push struct {
	*tx
	p       *parsed
	remote  string
	updates []refMove
	seen    map[refMove]bool // kind and name
	known   []repo.CommitID  // what the remote has, or was checked already
	private func(repo.CommitID) (bool, error)
}

// refMove is a ref that goes elsewhere on the remote; "" is nowhere.
type refMove struct {
	kind     refKind
	name     string
	from, to repo.CommitID
}

func runGitPush(ctx context.Context, e *env, p *parsed) error {
	if e.global.noIntegrate {
		return clif("--no-integrate-operation is not respected; use --dry-run")
	}
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	if sign, err := w.conf.Bool("git.sign-on-push"); err != nil {
		return err
	} else if sign {
		return missing("signing commits as they are pushed (git.sign-on-push)")
	}
	x := &push{p: p, seen: map[refMove]bool{}}
	if x.remote, err = w.git.pushRemote(ctx, p); err != nil {
		return err
	}
	if x.tx, err = w.begin(); err != nil {
		return err
	}
	if err := x.prepare(ctx); err != nil {
		return err
	}
	switch {
	case p.has("all"), p.has("tracked"), p.has("deleted"):
		err = x.chooseMany(ctx)
	default:
		err = x.chooseNamed(ctx)
	}
	if err != nil {
		return err
	}
	if len(x.updates) == 0 {
		w.ui.statusf("Nothing changed.\n")
		return nil
	}
	w.ui.statusf("Changes to push to %s:\n", revset.FormatSymbol(x.remote))
	slices.SortStableFunc(x.updates, func(a, b refMove) int { return cmp.Compare(a.kind.noun, b.kind.noun) })
	for _, u := range x.updates {
		w.ui.statusf("  %s: %s [%s]\n", u.kind.noun, revset.FormatSymbol(u.name), x.describe(u))
	}
	if p.has("dry-run") {
		w.ui.statusf("Dry-run requested, not pushing.\n")
		return nil
	}
	return x.send(ctx)
}

// pushRemote is the remote to push to: asked for, configured, the only one, or
// origin.
func (gs *gitSide) pushRemote(ctx context.Context, p *parsed) (string, error) {
	if name, ok := p.get("remote"); ok {
		return name, nil
	}
	if name, ok, err := gs.conf.String("git.push"); err != nil || ok {
		return name, err
	}
	all, err := gs.remotes(ctx)
	if err != nil {
		return "", err
	}
	if len(all) == 1 {
		name := slices.Collect(maps.Keys(all))[0]
		if name != "origin" {
			gs.ui.hintf("Pushing to the only existing remote: %s", revset.FormatSymbol(name))
		}
		return name, nil
	}
	return "origin", nil
}

func (x *push) prepare(ctx context.Context) error {
	for _, r := range x.View.Remotes[x.remote].Bookmarks {
		x.known = append(x.known, repo.TargetIDs(r.Target)...)
	}
	if x.p.has("allow-private") {
		return nil
	}
	e, err := x.w.revs.compile(x.w.conf.Str("git.private-commits"))
	if err != nil {
		return err
	}
	set, err := x.w.revs.rev(ctx).Set(ctx, e)
	if err != nil {
		return err
	}
	x.private = func(id repo.CommitID) (bool, error) {
		p, ok := x.w.repo.Index.Pos(id)
		return ok && set.Has(p), nil
	}
	return nil
}

// classify decides what pushing a ref means. A nil move with a nil error means
// that nothing is to do.
func (x *push) classify(k refKind, name string, fresh, deleting bool) (*refMove, *cmdError) {
	local, remote := k.target(x.View, name), k.remote(x.View, x.remote, name)
	there := repo.NoTarget()
	if remote.Tracked && len(remote.Target) > 0 {
		there = remote.Target
	}
	full := revset.FormatRemote(name, x.remote)
	exists := len(remote.Target) > 0 && !repo.IsAbsentTarget(remote.Target)
	switch {
	case local.Equal(there):
		return nil, nil
	case !local.IsResolved():
		return nil, userf("%s %s is conflicted", k.title(), revset.FormatSymbol(name)).
			hinted("Run `jj %[1]s list` to inspect, and use `jj %[1]s set` to fix it up.", k.noun)
	case !there.IsResolved():
		return nil, userf("%s %s is conflicted", k.title(), full).hinted("Run `jj git fetch` to update the conflicted remote %s.", k.noun)
	case exists && !remote.Tracked:
		e := userf("Non-tracking remote %s %s exists", k.noun, full)
		if k == bookmarkKind {
			e.hinted("Run `jj bookmark track %s` to import the remote bookmark.", full)
		}
		return nil, e
	case !remote.Tracked && !fresh:
		return nil, userf("Refusing to create new remote %s %s", k.noun, full).hinted("Run `jj %s track %s` and try again.", k.noun, full)
	case local[0] == "" && !deleting:
		e := userf("Refusing to push deleted %s %s", k.noun, revset.FormatSymbol(name))
		if k == tagKind {
			return nil, e.hinted("Push deleted tags with --deleted.")
		}
		return nil, e.hinted("Push deleted bookmarks with --deleted or forget the bookmark to suppress this warning.")
	}
	return &refMove{k, name, there[0], local[0]}, nil
}

// warn says why a ref is left out.
func (x *push) warn(e *cmdError) {
	x.w.ui.warnf("%s", e.msg)
	for _, h := range e.hints {
		x.w.ui.hintf("%s", h.plain)
	}
}

// rejected is a commit that must not be pushed.
type rejected struct {
	commit *repo.Commit
	why    string
	hint   string
}

// check looks for a commit that must not leave.
func (x *push) check(ctx context.Context, heads ...repo.CommitID) (*rejected, error) {
	heads = slices.DeleteFunc(heads, func(id repo.CommitID) bool { return id == "" })
	fixed, err := x.w.revs.immutableExpr()
	if err != nil {
		return nil, err
	}
	ids, err := x.w.revs.rev(ctx).IDs(ctx, revset.Range(revset.Union(revset.Commits(x.known...), fixed), revset.Commits(heads...)))
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		c, err := x.w.store.Commit(ctx, id)
		if err != nil {
			return nil, err
		}
		var why []string
		hint := ""
		if c.Description == "" && !x.p.has("allow-empty-description") {
			why = append(why, "has no description")
		}
		if c.Author.Name == "" || c.Author.Email == "" || c.Committer.Name == "" || c.Committer.Email == "" {
			why = append(why, "has no author and/or committer set")
		}
		if c.Tree.HasConflict() && !x.p.has("allow-conflicts") {
			why = append(why, "has conflicts")
		}
		if x.private != nil {
			if is, err := x.private(id); err != nil {
				return nil, err
			} else if is {
				why = append(why, "is private")
				hint = "Configured git.private-commits: '" + x.w.conf.Str("git.private-commits") + "'"
			}
		}
		if len(why) > 0 {
			return &rejected{c, strings.Join(why, " and "), hint}, nil
		}
	}
	x.known = append(x.known, heads...)
	return nil, nil
}

// offer pushes a ref among others: what cannot be pushed is only warned about.
func (x *push) offer(ctx context.Context, k refKind, name string, fresh, deleting bool) error {
	m, no := x.classify(k, name, fresh, deleting)
	if no != nil {
		x.warn(no)
		return nil
	}
	if m == nil {
		return nil
	}
	bad, err := x.check(ctx, m.to)
	if err != nil {
		return err
	}
	if bad == nil {
		x.updates = append(x.updates, *m)
		return nil
	}
	x.w.ui.warnf("Won't push %s %s: commit %s %s", k.noun, revset.FormatSymbol(name), bad.commit.ID.Hex()[:12], bad.why)
	o := x.w.ui.newText()
	o.Str("  ")
	if err := x.w.print.summary(ctx, o, bad.commit); err != nil {
		return err
	}
	o.Str("\n")
	x.w.ui.status(o)
	if bad.hint != "" {
		x.w.ui.hintf("%s", bad.hint)
	}
	return nil
}

func (x *push) chooseMany(ctx context.Context) error {
	for _, k := range []refKind{bookmarkKind, tagKind} {
		for _, name := range k.names(x.View, x.remote) {
			switch {
			case x.p.has("all"):
			case x.p.has("tracked"):
				if !k.remote(x.View, x.remote, name).Tracked {
					continue
				}
			case !repo.IsAbsentTarget(k.target(x.View, name)):
				continue
			}
			if err := x.offer(ctx, k, name, x.p.has("all"), x.p.has("deleted")); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *push) describe(u refMove) string {
	short := func(id repo.CommitID) string { return id.Hex()[:12] }
	switch {
	case u.from == "":
		return "add to " + short(u.to)
	case u.to == "":
		return "delete from " + short(u.from)
	case x.Index.IsAncestor(u.from, u.to):
		return fmt.Sprintf("move forward from %s to %s", short(u.from), short(u.to))
	case x.Index.IsAncestor(u.to, u.from):
		return fmt.Sprintf("move backward from %s to %s", short(u.from), short(u.to))
	}
	return fmt.Sprintf("move sideways from %s to %s", short(u.from), short(u.to))
}
