package jj

import (
	"context"
	"slices"

	"tandem/internal/repo"
	"tandem/internal/repo/render"
)

// describe makes the description of the combined commit.
func (s *squash) describe(ctx context.Context, d *repo.Draft, abandoned []*repo.Commit) (string, error) {
	t, p := s.t, s.p
	single, ok := "", true
	switch {
	case p.has("message"):
		single = joinParagraphs(p.all("message"))
	case p.has("use-destination-message"):
		single = s.dest.Description
	default:
		single, ok = onlyDescription(append(slices.Clone(abandoned), s.dest))
	}
	if ok {
		if single == "" && !p.has("editor") {
			return "", nil
		}
		d.Description = single
		full, err := t.withTrailers(ctx, d)
		if err != nil || !p.has("editor") {
			return full, err
		}
		d.Description = full
		text, err := t.descriptionText(ctx, "", d)
		if err != nil {
			return "", err
		}
		return s.w.editDescription(ctx, text)
	}
	combined, err := s.combinedMessage(ctx, d, abandoned)
	if err != nil {
		return "", err
	}
	d.Description = combined
	text, err := t.descriptionText(ctx, "Enter a description for the combined commit.", d)
	if err != nil {
		return "", err
	}
	return s.w.editDescription(ctx, text)
}

// onlyDescription is the one description among commits, if there is not more
// than one.
func onlyDescription(cs []*repo.Commit) (string, bool) {
	found := ""
	for _, c := range cs {
		if c.Description == "" {
			continue
		}
		if found != "" {
			return "", false
		}
		found = c.Description
	}
	return found, true
}

func (s *squash) combinedMessage(ctx context.Context, d *repo.Draft, abandoned []*repo.Commit) (string, error) {
	out := ""
	var old []render.Trailer
	if !s.insert {
		out = "JJ: Description from the destination commit:\n" + s.dest.Description
		old = append(old, render.DescriptionTrailers(s.dest.Description)...)
	}
	for _, c := range abandoned {
		out += "\nJJ: Description from source commit:\n" + c.Description
		old = append(old, render.DescriptionTrailers(c.Description)...)
	}
	source := s.w.conf.Str("templates.commit_trailers")
	if source == "" {
		return out, nil
	}
	text, err := s.t.renderDraft(ctx, d, source)
	if err != nil {
		return "", err
	}
	fresh, problem := render.ParagraphTrailers(text)
	if problem != "" {
		return "", userf("%s", problem)
	}
	fresh = slices.DeleteFunc(fresh, func(t render.Trailer) bool { return containsTrailer(old, t) })
	if len(fresh) > 0 {
		out += "\nJJ: Trailers not found in the squashed commits:\n"
		for _, tr := range fresh {
			out += tr.Key + ": " + tr.Value + "\n"
		}
	}
	return out, nil
}
