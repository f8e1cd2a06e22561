package jj

import (
	"errors"
	"slices"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/revset"
)

// chooseNamed takes the bookmarks that the command line names, and those that
// revisions lead to.
func (x *push) chooseNamed() error {
	w, p := x.w, x.p
	made, err := x.newBookmarks()
	if err != nil {
		return err
	}
	take := func(name string, fresh, deleting bool) error {
		if x.seen[name] {
			return nil
		}
		x.seen[name] = true
		m, no := x.classify(name, fresh, deleting)
		switch {
		case no != nil:
			return no
		case m == nil:
			w.ui.statusf("Bookmark %s already matches %s\n", revset.FormatRemote(name, x.remote), revset.FormatSymbol(name))
		default:
			x.updates = append(x.updates, *m)
		}
		return nil
	}
	for _, name := range made {
		if err := take(name, true, false); err != nil {
			return err
		}
	}
	if err := x.byPattern(take); err != nil {
		return err
	}
	var heads []repo.CommitID
	for _, u := range x.updates {
		heads = append(heads, u.to)
	}
	bad, err := x.check(heads...)
	if err != nil {
		return err
	}
	if bad != nil {
		e := userf("Won't push commit %s since it %s", bad.commit.ID.Hex()[:12], bad.why)
		o := w.ui.newText()
		o.Str("Rejected commit: ")
		if err := w.summary(o, bad.commit); err != nil {
			return err
		}
		e.hints = append(e.hints, hint{rich: o})
		if bad.hint != "" {
			e.hinted("%s", bad.hint)
		}
		return e
	}
	revisions, err := x.revisions(p.has("bookmark") || p.has("change") || p.has("named"))
	if err != nil {
		return err
	}
	for _, name := range x.names() {
		old := w.repo.View.Bookmark(name)
		led := slices.ContainsFunc(repo.TargetIDs(old), func(id repo.CommitID) bool { return revisions[id] })
		if !led || x.seen[name] {
			continue
		}
		x.seen[name] = true
		if err := x.offer(name, false, false); err != nil {
			return err
		}
	}
	return x.refuseTags(revisions)
}

// refuseTags hands over when a tag would have to be considered.
func (x *push) refuseTags(revisions map[repo.CommitID]bool) error {
	for _, t := range x.w.repo.View.Tags {
		if slices.ContainsFunc(repo.TargetIDs(t), func(id repo.CommitID) bool { return revisions[id] }) {
			return missing("pushing revisions that have tags")
		}
	}
	return nil
}

func (x *push) byPattern(take func(name string, fresh, deleting bool) error) error {
	if !x.p.has("bookmark") {
		return nil
	}
	pat, err := namePatterns(x.p.all("bookmark"))
	if err != nil {
		return err
	}
	here := func(name string) bool {
		return !repo.IsAbsentTarget(x.View.Bookmark(name)) || x.View.RemoteBookmark(x.remote, name).Tracked
	}
	var lost []string
	for _, name := range pat.Exacts() {
		if !here(name) {
			lost = append(lost, name)
		}
	}
	if len(lost) > 0 {
		x.w.ui.warnf("No matching bookmarks for names: %s", symbols(lost))
	}
	for _, name := range x.names() {
		if !pat.Match(name) || !here(name) {
			continue
		}
		if err := take(name, !x.trackedAnywhere(name), true); err != nil {
			return err
		}
	}
	return nil
}

func (x *push) trackedAnywhere(name string) bool {
	for remote, rv := range x.View.Remotes {
		if r, ok := rv.Bookmarks[name]; ok && remote != repo.GitRemote && r.Tracked {
			return true
		}
	}
	return false
}

// newBookmarks makes the bookmarks of --change and --named.
func (x *push) newBookmarks() ([]string, error) {
	var names []string
	if x.p.has("change") {
		cs, err := x.w.evalSome(x.p.all("change"))
		if err != nil {
			return nil, err
		}
		l, err := x.w.language()
		if err != nil {
			return nil, err
		}
		r, err := x.w.template(l, x.w.conf.Str("templates.git_push_bookmark"), l.Commit)
		if err != nil {
			return nil, err
		}
		for _, c := range cs {
			name, err := r.String(c)
			if err != nil {
				return nil, err
			}
			if name == "" {
				return nil, userf("Empty bookmark name generated")
			}
			names = append(names, name)
			if x.View.Bookmark(name).Equal(repo.Target(c.ID)) {
				continue
			}
			if err := x.mustBeNew(name); err != nil {
				return nil, err
			}
			x.w.ui.statusf("Creating bookmark %s for revision %s\n", revset.FormatSymbol(name), c.ChangeID.String()[:12])
			if err := x.SetBookmark(name, repo.Target(c.ID)); err != nil {
				return nil, err
			}
		}
	}
	const hint = "For example, `--named myfeature=@` is valid syntax"
	for _, arg := range x.p.all("named") {
		name, rev, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, clif("Argument '%s' must include '=' and have the form NAME=REVISION", arg).hinted(hint)
		}
		if name == "" || rev == "" {
			return nil, clif("Argument '%s' must have the form NAME=REVISION, with both NAME and REVISION non-empty", arg).hinted(hint)
		}
		sym, err := revset.ParseSymbol(name)
		if err != nil {
			return nil, clif("Could not parse '%s' as a bookmark name", name).because(err).hinted(hint)
		}
		c, err := x.w.single(rev)
		if err != nil {
			return nil, err
		}
		if err := x.mustBeNew(sym); err != nil {
			return nil, err
		}
		if err := x.SetBookmark(sym, repo.Target(c.ID)); err != nil {
			return nil, err
		}
		names = append(names, sym)
	}
	return names, nil
}

func (x *push) mustBeNew(name string) error {
	s := revset.FormatSymbol(name)
	if !repo.IsAbsentTarget(x.View.Bookmark(name)) {
		return userf("Bookmark already exists: %s", s).
			hinted("Use 'jj bookmark move' to move it, and 'jj git push -b %s' to push it", s)
	}
	if x.trackedAnywhere(name) {
		return userf("Tracked remote bookmarks exist for deleted bookmark: %s", s).
			hinted("Use `jj bookmark set` to recreate the local bookmark. Run `jj bookmark untrack %s` to disassociate them.", s)
	}
	return nil
}

// revisions are the commits whose bookmarks are pushed: those asked for or,
// when nothing is named, those between the remote and the working copy.
func (x *push) revisions(named bool) (map[repo.CommitID]bool, error) {
	out := map[repo.CommitID]bool{}
	add := func(text string) (int, error) {
		e, err := x.w.compile("(" + text + ") & (bookmarks() | tags())")
		if err != nil {
			return 0, err
		}
		ids, err := x.w.ids(e)
		for _, id := range ids {
			out[id] = true
		}
		return len(ids), err
	}
	if !named && !x.p.has("revisions") {
		n, err := add("remote_bookmarks(remote=exact:" + dslQuote(x.remote) + ")..@")
		if err == nil && n == 0 {
			x.w.ui.warnf("No bookmarks/tags found in the default push revset: remote_bookmarks(remote=%s)..@", revset.FormatSymbol(x.remote))
		}
		return out, err
	}
	for _, r := range x.p.all("revisions") {
		if _, err := x.w.compile(r); err != nil {
			return nil, err
		}
		n, err := add(r)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			x.w.ui.warnf("No bookmarks/tags point to the specified revisions: %s", r)
		}
	}
	return out, nil
}

func dslQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// send runs git and records what the remote has taken.
func (x *push) send() error {
	w := x.w
	if err := checkRemoteName(x.remote); err != nil {
		return err
	}
	all, err := w.remotes()
	if err != nil {
		return err
	}
	if all[x.remote] == nil {
		return noRemote(x.remote)
	}
	if err := w.store.Flush(); err != nil {
		return err
	}
	args := []string{"push", "--porcelain", "--no-verify"}
	for _, o := range x.p.all("option") {
		args = append(args, "--push-option="+o)
	}
	var specs []string
	for _, u := range x.updates {
		args = append(args, "--force-with-lease=refs/heads/"+u.name+":"+hexOrEmpty(u.from))
		specs = append(specs, hexOrEmpty(u.to)+":refs/heads/"+u.name)
	}
	args = append(append(args, "--", x.remote), specs...)
	res, err := w.runGit(args)
	if err != nil {
		return err
	}
	stats, err := parsePush(res)
	if err != nil {
		return err
	}
	stats.say(w.ui)
	n := 0
	for _, u := range x.updates {
		if !stats.pushed["refs/heads/"+u.name] {
			continue
		}
		n++
		if err := x.record(u); err != nil {
			return err
		}
	}
	ok := len(stats.rejected) == 0 && len(stats.refused) == 0
	if ok || n > 0 {
		if err := x.finish(x.title()); err != nil {
			return err
		}
	}
	if !ok {
		return userf("Failed to push some bookmarks")
	}
	return nil
}

func hexOrEmpty(id repo.CommitID) string {
	if id == "" {
		return ""
	}
	return id.Hex()
}

// record notes where a bookmark of the remote is now, in git and in the view.
func (x *push) record(u refMove) error {
	full := "refs/remotes/" + x.remote + "/" + u.name
	now, _, err := x.w.store.ReadRef(full)
	if err != nil {
		return err
	}
	target := repo.NoTarget()
	if u.to != "" {
		target = repo.Target(u.to)
	}
	if now.ID != string(u.to) {
		if err := x.w.store.UpdateRef(full, now.ID, string(u.to)); err != nil {
			return errors.Join(userf("The following bookmarks couldn't be updated locally: %s", revset.FormatRemote(u.name, x.remote)), err)
		}
	}
	x.View.SetGitRef(full, target)
	x.View.SetRemoteBookmark(x.remote, u.name, repo.RemoteRef{Target: target, Tracked: true})
	return nil
}

func (x *push) title() string {
	to := " to git remote " + revset.FormatSymbol(x.remote)
	switch {
	case x.p.has("all"):
		return "push all bookmarks/tags" + to
	case x.p.has("tracked"):
		return "push all tracked bookmarks/tags" + to
	case x.p.has("deleted"):
		return "push all deleted bookmarks/tags" + to
	}
	var names []string
	for _, u := range x.updates {
		names = append(names, u.name)
	}
	if len(names) == 1 {
		return "push bookmark " + revset.FormatSymbol(names[0]) + to
	}
	return "push bookmarks " + symbols(names) + to
}
