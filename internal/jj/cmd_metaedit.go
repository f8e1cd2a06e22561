// `jj metaedit`, as jj 0.45.1 has it: author, times, change id and description, without a change of content.

package jj

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"tandem/internal/repo"
)

func metaeditCommand() *command {
	return &command{
		name: "metaedit",
		opts: []opt{
			posRevs("REVSETS"),
			{id: "opt", short: "r", value: "REVSETS", many: true, hidden: true},
			{id: "update-change-id", long: "update-change-id"},
			{id: "message", long: "message", short: "m", value: "MESSAGE", many: true},
			{id: "update-author-timestamp", long: "update-author-timestamp"},
			{id: "update-author", long: "update-author"},
			{id: "author", long: "author", value: "AUTHOR", conflicts: []string{"update-author"}, check: checkAuthor},
			{id: "author-timestamp", long: "author-timestamp", value: "AUTHOR_TIMESTAMP", conflicts: []string{"update-author-timestamp"},
				check: checkDateTime},
			{id: "force-rewrite", long: "force-rewrite"},
		},
		run: runMetaedit,
	}
}

func parseDateTime(s string) (time.Time, bool) {
	for _, layout := range []string{time.RFC1123Z, "Mon, 2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04:05 -0700", time.RFC3339,
		"2006-01-02 15:04:05Z07:00"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

func checkAuthor(s string) error {
	if _, _, ok := parseAuthor(s); !ok {
		return userf("Invalid author string")
	}
	return nil
}

func checkDateTime(s string) error {
	if _, ok := parseDateTime(s); ok {
		return nil
	}
	if len(s) < len("2000-01-01") {
		return userf("premature end of input")
	}
	return userf("input contains invalid characters")
}

// parseAuthor reads "Name <email>".
var authorForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(.*?)\s*<(.+)>$`) })

func parseAuthor(s string) (name, email string, ok bool) {
	m := authorForm().FindStringSubmatch(s)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

func runMetaedit(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	cs, err := w.revs.targets(ctx, append(append([]string(nil), p.all("pos")...), p.all("opt")...))
	if err != nil {
		return err
	}
	if len(cs) == 0 {
		w.ui.statusf("No revisions to modify.\n")
		return nil
	}
	var ids []repo.CommitID
	for _, c := range cs {
		ids = append(ids, c.ID)
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	name, email := "", ""
	if s, ok := p.get("author"); ok {
		name, email, _ = parseAuthor(s)
	}
	var modified []*repo.Commit
	reparented := 0
	err = t.TransformDescendants(ctx, ids, nil, repo.RebaseOptions{}, func(m *repo.Move) error {
		if !slices.Contains(ids, m.Old.ID) {
			if !m.ParentsChanged() {
				return nil
			}
			d, err := m.Reparent(ctx)
			if err != nil {
				return err
			}
			reparented++
			_, err = t.Write(ctx, d)
			return err
		}
		rewrite := p.has("force-rewrite") || m.ParentsChanged()
		d, err := m.Reparent(ctx)
		if err != nil {
			return err
		}
		old, now := m.Old.Author, d.Author
		if p.has("author") {
			now.Name, now.Email = name, email
		} else if p.has("update-author") {
			now.Name, now.Email = d.Committer.Name, d.Committer.Email
		}
		if p.has("update-author-timestamp") {
			now.When = d.Committer.When
		}
		if s, ok := p.get("author-timestamp"); ok {
			at, _ := parseDateTime(s)
			now.When = stamp(at)
		}
		if now.Name != old.Name || now.Email != old.Email || now.When != d.Author.When && now.When != old.When {
			d.Author = now
			rewrite = true
		}
		if p.has("message") {
			if s := joinParagraphs(p.all("message")); s != d.Description {
				d.Description = s
				rewrite = true
			}
		}
		if p.has("update-change-id") {
			t.Renew(d)
			rewrite = true
		}
		if !rewrite {
			return nil
		}
		c, err := t.Write(ctx, d)
		modified = append(modified, c)
		return err
	})
	if err != nil {
		return err
	}
	if len(modified) > 0 {
		o := w.ui.newText()
		o.Printf("Modified %d commits:\n", len(modified))
		l, err := w.print.newLang(ctx, t.now())
		if err != nil {
			return err
		}
		if err := w.print.commitListWith(l, o, modified); err != nil {
			return err
		}
		w.ui.status(o)
	}
	if reparented > 0 {
		w.ui.statusf("Rebased %d descendant commits.\n", reparented)
	}
	title := "edit commit metadata for commit " + ids[0].Hex()
	if len(ids) > 1 {
		title += fmt.Sprintf(" and %d more", len(ids)-1)
	}
	return t.finish(ctx, title)
}
