// The texts that editors are opened on, with the `JJ:` lines of jj 0.45.1: lines that begin so are dropped, and what
// follows `JJ: ignore-rest` too.

package jj

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/render"
	"tandem/internal/repo/template"
)

func completeNewline(s string) string {
	if s != "" && !strings.HasSuffix(s, "\n") {
		return s + "\n"
	}
	return s
}

func joinParagraphs(ps []string) string {
	out := make([]string, len(ps))
	for i, p := range ps {
		out[i] = completeNewline(p)
	}
	return strings.Join(out, "\n")
}

// draftCommit is a draft as a commit that can be shown; it is not visible and
// not written to disk.
func (t *tx) draftCommit(ctx context.Context, d *repo.Draft) (*repo.Commit, *repo.Repo, error) {
	over := repo.NewOverlay(t.Store)
	c, err := over.PutCommit(ctx, &d.Commit)
	if err != nil {
		return nil, nil, err
	}
	r := t.now()
	r.Store = over
	r.Index = r.Index.Extend()
	if err := r.Index.AddAll(ctx, over, []repo.CommitID{c.ID}); err != nil {
		return nil, nil, err
	}
	return c, r, nil
}

// renderDraft shows a draft with a template.
func (t *tx) renderDraft(ctx context.Context, d *repo.Draft, source string) (string, error) {
	c, r, err := t.draftCommit(ctx, d)
	if err != nil {
		return "", err
	}
	l, err := t.w.print.newLang(ctx, r)
	if err != nil {
		return "", err
	}
	tm, err := t.w.print.template(l, source, l.Commit)
	if err != nil {
		return "", err
	}
	o := t.w.ui.newText()
	o.Colour = false
	if err := tm.Render(o, c); err != nil {
		return "", err
	}
	return o.String(), nil
}

// describedBy is a description made by a configured template.
func (t *tx) describedBy(ctx context.Context, name string, d *repo.Draft) (string, error) {
	source := t.w.conf.Str(name)
	if source == "" {
		return "", nil
	}
	s, err := t.renderDraft(ctx, d, source)
	return completeNewline(s), err
}

// withTrailers is a draft's description with the configured trailers.
func (t *tx) withTrailers(ctx context.Context, d *repo.Draft) (string, error) {
	source := t.w.conf.Str("templates.commit_trailers")
	if source == "" {
		return d.Description, nil
	}
	text, err := t.renderDraft(ctx, d, source)
	if err != nil {
		return "", err
	}
	fresh, problem := render.ParagraphTrailers(text)
	if problem != "" {
		return "", userf("%s", problem)
	}
	old := render.DescriptionTrailers(d.Description)
	out := d.Description
	if len(old) == 0 && len(fresh) > 0 {
		if out == "" {
			out = "\n"
		}
		out += "\n"
	}
	for _, tr := range fresh {
		if !containsTrailer(old, tr) {
			out += tr.Key + ": " + tr.Value + "\n"
		}
	}
	return out, nil
}

func containsTrailer(list []render.Trailer, t render.Trailer) bool {
	for _, x := range list {
		if x == t {
			return true
		}
	}
	return false
}

func appendBlank(s string) string {
	s = completeNewline(s)
	lines := template.Lines(s)
	if len(lines) > 0 && strings.HasPrefix(lines[len(lines)-1], "JJ:") {
		return s + "JJ:\n"
	}
	return s + "\n"
}

const removedLines = "JJ: Lines starting with \"JJ:\" (like this one) will be removed.\n"

func cleanDescription(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		if strings.HasPrefix(l, "JJ: ignore-rest") {
			break
		}
		if !strings.HasPrefix(l, "JJ:") {
			b.WriteString(l + "\n")
		}
	}
	return completeNewline(strings.Trim(b.String(), "\n"))
}

// descriptionText is what the editor shows for a draft.
func (t *tx) descriptionText(ctx context.Context, intro string, d *repo.Draft) (string, error) {
	s, err := t.renderDraft(ctx, d, t.w.conf.Str("templates.draft_commit_description"))
	if intro != "" {
		s = "JJ: " + intro + "\n" + s
	}
	return s, err
}

// editDescription lets the user edit a description.
func (e *env) editDescription(ctx context.Context, s string) (string, error) {
	out, err := e.editText(ctx, appendBlank(s)+removedLines, ".jjdescription", "description")
	if err != nil {
		return "", err
	}
	return cleanDescription(template.Lines(out)), nil
}

// editText opens the user's editor on a temporary file.
func (e *env) editText(ctx context.Context, content, suffix, what string) (string, error) {
	if _, err := e.conf.Cmd("ui", "editor"); err != nil {
		return "", err
	}
	dir := e.io.getenv("TMPDIR")
	if dir == "" {
		dir = os.TempDir()
	}
	f, err := os.CreateTemp(dir, "editor-*"+suffix)
	if err != nil {
		return "", userf("Failed to edit %s", what).because(err)
	}
	path := f.Name()
	if _, err = f.WriteString(content); err == nil {
		err = f.Close()
	}
	if err == nil {
		err = e.editFile(ctx, path)
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return "", userf("Failed to edit %s", what).because(err).hinted("Edited %s is left in %s", what, path)
	}
	os.Remove(path)
	return string(data), nil
}

// editFile runs the editor and waits for it.
func (e *env) editFile(ctx context.Context, path string) error {
	c, err := e.conf.Cmd("ui", "editor")
	if err != nil {
		return err
	}
	cmd := e.ui.command(ctx, c.Args[0], append(c.Args[1:len(c.Args):len(c.Args)], path)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env, cmd.Dir = e.io.Stdin, e.io.Stdout, e.io.Stderr, e.io.Env, e.io.Dir
	for k, v := range c.Env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	err = cmd.Run()
	if exit, ok := err.(*exec.ExitError); ok {
		return userf("Editor '%s' exited with exit status: %d", strings.Join(c.Args, " "), exit.ExitCode())
	}
	if err != nil {
		return userf("Failed to run editor '%s'", filepath.Base(c.Args[0])).because(err)
	}
	return nil
}
