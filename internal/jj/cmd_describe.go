// `jj describe`, as jj 0.45.1 has it: one editor for several commits, each below a line `JJ: describe ID -------`.

package jj

import (
	"context"
	"fmt"
	"io"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/template"
)

func describeCommand() *command {
	return &command{
		name: "describe",
		opts: []opt{
			posRevs("REVSETS"),
			{id: "opt", short: "r", value: "REVSETS", many: true, hidden: true},
			{id: "message", long: "message", short: "m", value: "MESSAGE", many: true, conflicts: []string{"stdin"}},
			{id: "stdin", long: "stdin"},
			{id: "editor", long: "editor"},
		},
		run: runDescribe,
	}
}

// targets evaluates revisions given as arguments, or the working copy.
func (rs *revisions) targets(ctx context.Context, texts []string) ([]*repo.Commit, error) {
	if len(texts) == 0 {
		texts = []string{"@"}
	}
	x, err := rs.compileAll(texts)
	if err != nil {
		return nil, err
	}
	ids, err := rs.ids(ctx, x)
	if err != nil {
		return nil, err
	}
	if err := rs.checkRewritable(ctx, ids...); err != nil {
		return nil, err
	}
	return rs.commits(ctx, ids)
}

func runDescribe(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	cs, err := w.revs.targets(ctx, append(append([]string(nil), p.all("pos")...), p.all("opt")...))
	if err != nil {
		return err
	}
	if len(cs) == 0 {
		w.ui.statusf("No revisions to describe.\n")
		return nil
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	shared, given := "", false
	if p.has("stdin") {
		data, err := io.ReadAll(w.io.Stdin)
		if err != nil {
			return err
		}
		shared, given = completeNewline(string(data)), true
	} else if p.has("message") {
		shared, given = joinParagraphs(p.all("message")), true
	}
	edit := p.has("editor") || !given
	drafts := make([]*repo.Draft, len(cs))
	for i, c := range cs {
		if drafts[i], err = t.Rewrite(ctx, c); err != nil {
			return err
		}
		if given {
			drafts[i].Description = shared
		}
		if edit || drafts[i].Description != "" {
			if drafts[i].Description, err = t.withTrailers(ctx, drafts[i]); err != nil {
				return err
			}
		}
	}
	if edit {
		if err := t.editDrafts(ctx, cs, drafts); err != nil {
			return err
		}
	}
	texts := map[repo.CommitID]string{}
	var roots []repo.CommitID
	for i, c := range cs {
		if c.Description != drafts[i].Description {
			texts[c.ID] = drafts[i].Description
			roots = append(roots, c.ID)
		}
	}
	described, reparented := 0, 0
	err = t.TransformDescendants(ctx, roots, nil, repo.RebaseOptions{}, func(m *repo.Move) error {
		d, err := m.Reparent(ctx)
		if err != nil {
			return err
		}
		if s, ok := texts[m.Old.ID]; ok {
			d.Description = s
			described++
		} else {
			reparented++
		}
		_, err = t.Write(ctx, d)
		return err
	})
	if err != nil {
		return err
	}
	if described > 1 {
		w.ui.statusf("Updated %d commits.\n", described)
	}
	if reparented > 0 {
		w.ui.statusf("Rebased %d descendant commits.\n", reparented)
	}
	title := "describe commit " + cs[0].ID.Hex()
	if len(cs) > 1 {
		title += fmt.Sprintf(" and %d more", len(cs)-1)
	}
	return t.finish(ctx, title)
}

// editDrafts opens the editor on one description or on several at once.
func (t *tx) editDrafts(ctx context.Context, cs []*repo.Commit, drafts []*repo.Draft) error {
	if len(cs) == 1 {
		s, err := t.descriptionText(ctx, "", drafts[0])
		if err != nil {
			return err
		}
		drafts[0].Description, err = t.w.editDescription(ctx, s)
		return err
	}
	b := "JJ: Enter or edit commit descriptions after the `JJ: describe` lines.\n" +
		"JJ: Warning:\n" +
		"JJ: - The text you enter will be lost on a syntax error.\n" +
		"JJ: - The syntax of the separator lines may change in the future.\n" +
		"JJ:\n"
	at := map[string]int{}
	for i := len(cs) - 1; i >= 0; i-- {
		id := cs[i].ID.Hex()[:12]
		at[id] = i
		s, err := t.descriptionText(ctx, "", drafts[i])
		if err != nil {
			return err
		}
		b = appendBlank(b + "JJ: describe " + id + " -------\n" + s)
	}
	out, err := t.w.editText(ctx, b+removedLines, ".jjdescription", "description")
	if err != nil {
		return err
	}
	return parseBulk(out, cs, at, drafts)
}

func parseBulk(message string, cs []*repo.Commit, at map[string]int, drafts []*repo.Draft) error {
	type section struct {
		id    string
		lines []string
	}
	var sections []section
	for _, line := range template.Lines(message) {
		if id, ok := strings.CutPrefix(line, "JJ: describe "); ok {
			sections = append(sections, section{id: strings.TrimRight(id, " \t\r\f-")})
		} else if len(sections) > 0 {
			s := &sections[len(sections)-1]
			s.lines = append(s.lines, line)
		} else if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "JJ:") {
			return userf("Found the following line without a commit header: %q", line)
		}
	}
	found := map[string]bool{}
	var duplicates, unexpected, lost []string
	for _, s := range sections {
		i, ok := at[s.id]
		switch {
		case !ok:
			unexpected = append(unexpected, s.id)
		case found[s.id]:
			duplicates = append(duplicates, s.id)
		default:
			found[s.id] = true
			drafts[i].Description = cleanDescription(s.lines)
		}
	}
	for i := len(cs) - 1; i >= 0; i-- {
		if id := cs[i].ID.Hex()[:12]; !found[id] {
			lost = append(lost, id)
		}
	}
	switch {
	case len(lost) > 0:
		return userf("The description for the following commits were not found in the edited message: %s", strings.Join(lost, ", "))
	case len(duplicates) > 0:
		return userf("The following commits were found in the edited message multiple times: %s", strings.Join(duplicates, ", "))
	case len(unexpected) > 0:
		return userf("The following commits were not being edited, but were found in the edited message: %s", strings.Join(unexpected, ", "))
	}
	return nil
}
