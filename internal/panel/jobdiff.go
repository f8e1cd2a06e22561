package panel

import (
	"net/url"
	"strings"

	"tandem/internal/job/wire"
	"tandem/internal/unified"
)

// JobDiff is what a job changed, as it is looked at: all of it or a part, in one column or two.
type JobDiff struct {
	Beside bool   // what was on the left, what is on the right
	Blanks bool   // without lines in which only blanks are others
	Of     string // one commit
	Mine   bool   // what came since the viewer's last look
	Stack  bool   // together with the jobs that it stands on
	Part   bool   // it is not all that the job changed
	Empty  bool   // the part holds nothing
	Steps  []wire.Step
	Looked string // the commit at which the viewer looked last
	Unread bool   // all of it is shown, and the viewer has not said that they looked at it

	Files    []wire.File // those that the text does not show
	Diffs    []unified.File
	Pictures []Picture
	Cut      bool
	Hidden   int
}

// Picture is an image that the job changed: where its two states are read.
type Picture struct{ Path, WasHref, IsHref string }

// diffAsked is how this page was asked to show the diff.
func (v *visit) diffAsked() JobDiff {
	return JobDiff{Beside: v.query("diff") == "beside", Blanks: v.query("blanks") == "no", Of: v.query("of"),
		Mine: v.query("since") == wire.MyLook, Stack: v.query("stack") == "whole"}
}

// href is the job's page with its diff shown so; about a commit where one is named.
func (d JobDiff) href(id, commit string) string {
	q := url.Values{}
	for name, value := range map[string]string{"commit": commit, "of": d.Of, "since": when(d.Mine, wire.MyLook),
		"diff": when(d.Beside, "beside"), "blanks": when(d.Blanks, "no"),
		"stack": when(d.Stack, "whole")} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if len(q) == 0 {
		return jobHref(id)
	}
	return jobHref(id) + "?" + q.Encode()
}

func when(is bool, word string) string {
	if is {
		return word
	}
	return ""
}

// with is the same look, changed in one way.
func (d JobDiff) with(change func(*JobDiff)) JobDiff {
	change(&d)
	return d
}

// read fills in what the operation answers.
func (d *JobDiff) read(id string, out wire.DiffOut) {
	d.Diffs, d.Cut, d.Hidden = unified.Parse(out.Diff), out.Cut, out.Hidden
	d.Files, d.Steps, d.Looked, d.Part = unshown(out), out.Steps, out.Looked, out.Part && !out.All()
	d.Empty = out.Part && out.Diff == ""
	d.Unread = out.All() && out.Looked != out.Commit
	for _, f := range out.Files {
		if p := picture(id, out, f); p.WasHref+p.IsHref != "" {
			d.Pictures = append(d.Pictures, p)
		}
	}
}

// picture is where an image is read. Names that had to be quoted are no paths.
func picture(id string, out wire.DiffOut, f wire.File) (p Picture) {
	if !strings.HasPrefix(f.Type, "image/") || strings.HasPrefix(f.Path, `"`) || strings.HasPrefix(f.From, `"`) {
		return p
	}
	at := func(commit, path string) string {
		return jobHref(id) + "/image?" + url.Values{"commit": {commit}, "path": {path}}.Encode()
	}
	p.Path = f.Path
	switch f.How {
	case "added":
	case "renamed":
		p.WasHref = at(out.Base, f.From)
	default:
		p.WasHref = at(out.Base, f.Path)
	}
	if f.How != "deleted" {
		p.IsHref = at(out.Commit, f.Path)
	}
	return p
}

// jobImage draws a picture that the job changed: as that kind of image and nothing else.
func (v *visit) jobImage() error {
	out, err := ask(v, wire.Image, wire.ImageIn{ID: v.r.PathValue("id"), Commit: v.query("commit"), Path: v.query("path")})
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", out.Type) // one of four that the operation lets through
	v.w.Header().Set("X-Content-Type-Options", "nosniff")
	v.w.Header().Set("Content-Security-Policy", "sandbox; default-src 'none'")
	_, err = v.w.Write(out.Data)
	return err
}
