// `jj gerrit upload`, as jj 0.45.1 has it: commits are pushed to refs/for/BRANCH with a Change-Id, or a Link, made of
// jj's change id; the local commits stay as they are.

package jj

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/render"
	"tandem/internal/repo/revset"
)

func gerritCommand() *command {
	many := func(id, short, value string) opt {
		return opt{id: id, long: id, short: short, value: value, many: true}
	}
	flag := func(id string) opt { return opt{id: id, long: id} }
	return &command{
		name: "gerrit",
		subs: []*command{{
			name: "upload",
			opts: []opt{
				many("revision", "r", "REVSETS"),
				{id: "remote-branch", long: "remote-branch", short: "b", value: "REMOTE_BRANCH"},
				{id: "remote", long: "remote", value: "REMOTE"},
				{id: "dry-run", long: "dry-run", short: "n"},
				many("reviewer", "", "REVIEWER"), many("cc", "", "CC"), many("label", "l", "LABEL"),
				{id: "topic", long: "topic", value: "TOPIC"},
				many("hashtag", "", "HASHTAG"),
				{id: "message", long: "message", short: "m", value: "MESSAGE"},
				flag("edit"), flag("wip"), flag("ready"), flag("private"), flag("remove-private"), flag("publish-comments"),
				flag("no-publish-comments"),
				{id: "notify", long: "notify", value: "NOTIFY", values: []string{"none", "owner", "owner-reviewers", "all"}},
				flag("submit"), flag("skip-validation"), flag("merged"), flag("ignore-attention-set"),
				{id: "deadline", long: "deadline", value: "DEADLINE"},
				many("custom", "", "CUSTOM"), many("option", "o", "OPTION"),
				{id: "trace", long: "trace", value: "TRACE"},
			},
			run: runGerritUpload,
		}},
	}
}

// gerritOptions are the push options that stand for the arguments.
func gerritOptions(p *parsed) ([]string, error) {
	for _, c := range p.all("custom") {
		if !strings.Contains(c, ":") {
			return nil, userf("Custom values must be of the form 'key:value'. Got %s", c)
		}
	}
	for _, pair := range [][2]string{{"wip", "ready"}, {"private", "remove-private"}, {"publish-comments", "no-publish-comments"}} {
		if p.has(pair[0]) && p.has(pair[1]) {
			return nil, userf("--%s and --%s are mutually exclusive", pair[0], pair[1])
		}
	}
	if p.has("skip-validation") && !p.has("submit") {
		return nil, userf("--skip-validation is only supported for --submit")
	}
	var out []string
	add := func(key, id string, change func(string) string) {
		for _, v := range p.all(id) {
			out = append(out, key+"="+change(v))
		}
	}
	same := func(s string) string { return s }
	add("notify", "notify", func(s string) string { return strings.ToUpper(strings.ReplaceAll(s, "-", "_")) })
	for _, id := range []string{"topic", "trace", "deadline"} {
		add(id, id, same)
	}
	add("message", "message", percentEncode)
	add("label", "label", same)
	add("hashtag", "hashtag", same)
	add("custom-keyed-value", "custom", same)
	add("reviewer", "reviewer", same)
	add("cc", "cc", same)
	for _, id := range []string{"edit", "wip", "ready", "private", "remove-private", "publish-comments", "no-publish-comments",
		"skip-validation", "ignore-attention-set", "submit"} {
		if p.has(id) {
			out = append(out, id)
		}
	}
	return append(out, p.all("option")...), nil
}

// percentEncode writes everything but letters and digits as %XX, as Gerrit
// wants messages.
func percentEncode(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func runGerritUpload(ctx context.Context, e *env, p *parsed) error {
	options, err := gerritOptions(p)
	if err != nil {
		return err
	}
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	targets, err := w.revs.gerritTargets(ctx, p)
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		w.ui.statusf("No revisions to upload.\n")
		return nil
	}
	fixed, err := w.revs.immutableExpr()
	if err != nil {
		return err
	}
	ids, err := w.revs.ids(ctx, revset.Range(fixed, revset.Commits(targets...)))
	if err != nil {
		return err
	}
	commits, err := w.commits(ctx, ids)
	if err != nil {
		return err
	}
	remote, err := w.git.gerritRemote(ctx, p)
	if err != nil {
		return err
	}
	branch, ok := p.get("remote-branch")
	if !ok {
		if branch, ok, _ = w.conf.String("gerrit.default-remote-branch"); !ok {
			return userf("No target branch specified via --remote-branch, and no 'gerrit.default-remote-branch' was found")
		}
	}
	for _, c := range commits {
		if empty, err := repo.IsEmpty(ctx, w.store, w.repo.Index, c); err != nil {
			return err
		} else if empty {
			return userf("Refusing to upload revision %s because it is empty", c.ChangeID.String()[:12]).
				hinted("Perhaps you squashed then ran upload? Maybe you meant to upload the parent commit instead (eg. @-)")
		}
		if c.Description == "" {
			return userf("Refusing to upload revision %s because it is has no description", c.ChangeID.String()[:12]).
				hinted("Maybe you meant to upload the parent commit instead (eg. @-)")
		}
	}
	// The commits that Gerrit gets name their change; those here stay as they
	// are, so the transaction is never published.
	t, err := w.begin()
	if err != nil {
		return err
	}
	sent, err := t.gerritCommits(ctx, commits)
	if err != nil {
		return err
	}
	heads := w.repo.Index.HeadIDs(targets)
	w.ui.statusf("Found %d heads to push to Gerrit (remote '%s'), target branch '%s'.\n", len(heads), remote, branch)
	for _, id := range heads {
		verb := "Pushing "
		if p.has("dry-run") {
			verb = "Dry-run: Would push "
		}
		c, err := w.store.Commit(ctx, id)
		if err != nil {
			return err
		}
		o := w.ui.newText()
		o.Str(verb)
		if err := w.print.summary(ctx, o, c); err != nil {
			return err
		}
		o.Str("\n")
		w.ui.status(o)
		if p.has("dry-run") {
			continue
		}
		if err := w.git.gerritPush(ctx, remote, branch, options, sent[id]); err != nil {
			return err
		}
	}
	return nil
}

// gerritTargets are the revisions asked for, or the working copy, or its parent
// where the working copy has no description.
func (rs *revisions) gerritTargets(ctx context.Context, p *parsed) ([]repo.CommitID, error) {
	if p.has("revision") {
		x, err := rs.compileAll(p.all("revision"))
		if err != nil {
			return nil, err
		}
		if err := rs.checkRewritableExpr(ctx, x); err != nil {
			return nil, err
		}
		return rs.ids(ctx, x)
	}
	const hint = "Explicitly specify a revision to upload with `-r`"
	c, err := rs.wcCommit(ctx)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, userf("No revision provided").hinted(hint)
	}
	ids := []repo.CommitID{c.ID}
	if c.Description == "" {
		if ids = c.Parents; len(ids) != 1 {
			return nil, userf("No revision provided, and @ is a merge commit with no description. " +
				"Unable to determine a suitable default commit to upload.").hinted(hint)
		}
		rs.ui.statusf("No revision provided and @ has no description. Defaulting to @-\n")
	} else {
		rs.ui.statusf("No revision provided. Defaulting to @\n")
	}
	return ids, rs.checkRewritable(ctx, ids...)
}

func (gs *gitSide) gerritRemote(ctx context.Context, p *parsed) (string, error) {
	all, err := gs.remotes(ctx)
	if err != nil {
		return "", err
	}
	name, by := p.str("remote"), "specified via `--remote`"
	if !p.has("remote") {
		by = "configured via `gerrit.default-remote`"
		name, _, _ = gs.conf.String("gerrit.default-remote")
	}
	if name != "" || p.has("remote") {
		if all[name] == nil {
			return "", userf("The remote '%s' (%s) does not exist", name, by)
		}
		return name, nil
	}
	if out, err := gs.output(ctx, "config", "--get", "remote.pushDefault"); err == nil && strings.TrimSpace(out) != "" {
		return strings.TrimSpace(out), nil
	}
	switch names := slices.Sorted(maps.Keys(all)); {
	case len(names) == 1:
		return names[0], nil
	case all["origin"] != nil:
		return "origin", nil
	case all["gerrit"] != nil:
		return "gerrit", nil
	}
	return "", userf("No remote specified, and no 'gerrit' remote was found")
}

// gerritCommits writes the commits as Gerrit is to have them, by their own ids:
// each with a trailer that names its change.
func (t *tx) gerritCommits(ctx context.Context, commits []*repo.Commit) (map[repo.CommitID]repo.CommitID, error) {
	out := map[repo.CommitID]repo.CommitID{}
	for _, c := range slices.Backward(commits) {
		description, err := t.w.print.gerritDescription(c)
		if err != nil {
			return nil, err
		}
		parents := slices.Clone(c.Parents)
		for i, id := range parents {
			if now, ok := out[id]; ok {
				parents[i] = now
			}
		}
		if description == c.Description && slices.Equal(parents, c.Parents) {
			out[c.ID] = c.ID
			continue
		}
		d, err := t.Rewrite(ctx, c)
		if err != nil {
			return nil, err
		}
		d.Description, d.Parents, d.Author, d.Committer = description, parents, c.Author, c.Committer
		now, err := t.Write(ctx, d)
		if err != nil {
			return nil, err
		}
		out[c.ID] = now.ID
	}
	return out, nil
}

// gerritDescription is a commit's description with the change's name.
func (pr *printer) gerritDescription(c *repo.Commit) (string, error) {
	short := c.ChangeID.String()[:12]
	all := render.DescriptionTrailers(c.Description)
	var named []render.Trailer
	for _, t := range all {
		if t.Key == "Change-Id" || t.Key == "Link" {
			named = append(named, t)
		}
	}
	if len(named) > 1 {
		return "", userf("Multiple Change-Id trailers in revision %s", short)
	}
	if len(named) == 1 {
		t := named[0]
		_, id, linked := strings.Cut(t.Value, "/id/I")
		if t.Key == "Change-Id" && (len(t.Value) != 41 || t.Value[0] != 'I') || t.Key == "Link" && (!linked || len(id) != 40) {
			pr.ui.warnf("Invalid %s trailer in revision %s", t.Key, short)
		}
		return c.Description, nil
	}
	// Gerrit's names are longer by four bytes: they spell "jjid".
	trailer := fmt.Sprintf("Change-Id: I%x6a6a6964", string(c.ChangeID))
	if url, ok, _ := pr.conf.String("gerrit.review-url"); ok {
		trailer = fmt.Sprintf("Link: %s/id/I%x6a6a6964", strings.TrimRight(url, "/"), string(c.ChangeID))
	}
	gap := "\n\n"
	if len(all) > 0 {
		gap = "\n"
	}
	return strings.TrimSpace(c.Description) + gap + trailer + "\n", nil
}

func (gs *gitSide) gerritPush(ctx context.Context, remote, branch string, options []string, id repo.CommitID) error {
	if err := gs.store.Flush(); err != nil {
		return err
	}
	ref := "refs/for/" + branch
	args := []string{"push", "--porcelain", "--no-verify"}
	for _, o := range options {
		args = append(args, "--push-option="+o)
	}
	res, err := gs.run(ctx, append(args, "--force-with-lease="+ref+":", "--", remote, id.Hex()+":"+ref))
	if err != nil {
		return err
	}
	stats, err := parsePush(res)
	if err != nil {
		return userf("Internal git error while pushing to gerrit").because(err)
	}
	stats.say(gs.ui)
	if len(stats.rejected) > 0 || len(stats.refused) > 0 {
		return userf("Failed to push all changes to gerrit")
	}
	return nil
}
