package approval

import (
	"context"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

// PageIn names a page of an ask.
type PageIn struct {
	ID   string `json:"id" jsonschema:"the ask's id, ask_…"`
	Page int    `json:"page" jsonschema:"which one, from 1 on"`
}

// ContentIn names an argument of an ask.
type ContentIn struct {
	ID   string `json:"id" jsonschema:"the ask's id, ask_…"`
	Name string `json:"name" jsonschema:"the argument as a page names it, such as args.content"`
}

// ContentOut is an argument's bytes.
type ContentOut struct {
	About string `json:"about" jsonschema:"its kind, size and digest"`
	Data  []byte `json:"data" jsonschema:"the bytes, in base64"`
}

func (r *Room) page(ctx context.Context, in PageIn) (Page, error) {
	a, err := r.get(ctx, IDIn{in.ID})
	if err != nil {
		return Page{}, err
	}
	pages := a.Pages()
	if in.Page < 1 || in.Page > len(pages) {
		return Page{}, fault.New(fault.Invalid, "approval.page", "%s has %d pages", in.ID, len(pages))
	}
	return pages[in.Page-1], nil
}

func (r *Room) content(ctx context.Context, in ContentIn) (ContentOut, error) {
	a, err := r.get(ctx, IDIn{in.ID})
	if err != nil {
		return ContentOut{}, err
	}
	data, err := a.Content(in.Name)
	if err != nil {
		return ContentOut{}, fault.New(fault.NotFound, "approval.content", "%s has no argument %.80q", in.ID, in.Name)
	}
	return ContentOut{about(data), data}, nil
}

// MaxSeveral is how many asks one answer is for: each was looked at whole, which nobody does with hundreds.
const MaxSeveral = 50

// SeveralIn answers several asks alike.
type SeveralIn struct {
	Asks     []Looked `json:"asks" jsonschema:"those that are answered, each as it was looked at"`
	Verdict  Verdict  `json:"decision" jsonschema:"approve, rework or cancel"`
	Feedback string   `json:"feedback,omitempty" jsonschema:"a word to the askers; needed for rework"`
}

// Looked is an ask as somebody looked at it.
type Looked struct {
	ID     string   `json:"id" jsonschema:"the ask's id, ask_…"`
	Digest string   `json:"digest,omitempty" jsonschema:"the digest of what was looked at"`
	Pages  []string `json:"pages,omitempty" jsonschema:"the digest of every page that was looked at, in order"`
}

// SeveralOut are the answered asks.
type SeveralOut struct {
	Asks []*Ask `json:"asks"`
}

func (in SeveralIn) first() string {
	if len(in.Asks) == 0 {
		return ""
	}
	return in.Asks[0].ID
}

// Check refuses what nobody can have looked at.
func (in SeveralIn) Check() error {
	if len(in.Asks) == 0 || len(in.Asks) > MaxSeveral {
		return fault.New(fault.Invalid, "approval.decide_several", "1 to %d asks are answered at once, not %d", MaxSeveral, len(in.Asks))
	}
	for _, a := range in.Asks {
		if err := id.Check("ask", a.ID); err != nil {
			return err
		}
	}
	return nil
}

// several answers each ask as decide does. The gate judged the right on the first; every other one needs it too.
func (r *Room) several(ctx context.Context, tx *db.Tx, in SeveralIn) (SeveralOut, error) {
	var out SeveralOut
	var names []string
	for _, l := range in.Asks {
		if !op.May(ctx, "approval.decide", at(l.ID)) {
			return SeveralOut{}, missing("approval.decide_several", l.ID)
		}
		a, err := r.decide(ctx, tx, DecideIn{ID: l.ID, Verdict: in.Verdict, Feedback: in.Feedback, Digest: l.Digest, Pages: l.Pages})
		if err != nil {
			return SeveralOut{}, err
		}
		out.Asks, names = append(out.Asks, a.listed()), append(names, a.ID)
	}
	op.Note(ctx, "asks", names)
	return out, nil
}
