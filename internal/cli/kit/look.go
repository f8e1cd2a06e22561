package kit

import (
	"context"
	"fmt"
	"io"
	"strings"

	"tandem/internal/approval"
	"tandem/internal/fault"
	"tandem/internal/foreign"
	"tandem/internal/op"
)

// Look shows a whole ask on standard error, page by page, and gives the digests of the pages, which an answer names. At a
// terminal somebody turns the pages; whoever leaves before the end has looked at nothing.
func (k *Kit) Look(ctx context.Context, a *approval.Ask) (seen []string, err error) {
	page := a.First
	for n := 1; ; n++ {
		if page == nil || n > 1 {
			next, err := op.Do(ctx, k, approval.AskPage, approval.PageIn{ID: a.ID, Page: n})
			if err != nil {
				return nil, err
			}
			page = &next
		}
		ShowPage(k.Screen(k.Err), page)
		seen = append(seen, page.Digest)
		if n >= page.Of {
			return seen, nil
		}
		if !k.Asks() {
			continue
		}
		if _, ok, err := k.Ask(fmt.Sprintf("page %d of %d; Enter shows the next: ", n, page.Of)); err != nil || !ok {
			if err == nil {
				err = fault.New(fault.Conflict, "approval.page", "%s was not read to its end, so nothing was answered", a.ID)
			}
			return nil, err
		}
	}
}

// ShowPage shows a page of an ask as a person reads it: text as text, an edit as what goes and what comes, and only what has no
// better form as JSON. Every line of it stands behind a margin, so that none can pass for one of ours.
func ShowPage(w io.Writer, p *approval.Page) {
	if p.Of > 1 {
		fmt.Fprintf(w, "Page %d of %d:\n", p.Number, p.Of)
	} else {
		fmt.Fprintln(w, "Arguments:")
	}
	for _, x := range p.Pieces {
		showPiece(w, p.Ask, x)
	}
}

func showPiece(w io.Writer, ask string, p approval.Piece) {
	label := "  " + SeenLine(p.Name) + ":"
	if p.From > 0 {
		label = fmt.Sprintf("  %s, from line %d on:", SeenLine(p.Name), p.From)
	}
	several := strings.Contains(strings.TrimRight(p.Text, "\n"), "\n") || p.From > 0
	switch {
	case p.Form == approval.Gone:
		fmt.Fprintln(w, label)
		Paint(w, Red, marked(p.Text, "  - ")+"\n")
	case p.Form == approval.Come:
		fmt.Fprintln(w, label)
		Paint(w, Green, marked(p.Text, "  + ")+"\n")
	case p.Form == approval.Bytes:
		fmt.Fprintf(w, "%s not text: %s\n    open it: tandem approvals save %s %s FILE\n", label, SeenLine(p.Text), ask, SeenLine(p.Name))
	case several:
		fmt.Fprintf(w, "%s\n%s\n", label, marked(p.Text, "  | "))
	default:
		fmt.Fprintf(w, "%s %s\n", label, Seen(p.Text))
	}
}

// marked is a text line by line, each behind a mark.
func marked(text, mark string) string {
	return mark + strings.ReplaceAll(Seen(strings.TrimSuffix(text, "\n")), "\n", "\n"+mark)
}

// Seen is a text in which nothing is hidden: see foreign.Exact.
func Seen(s string) string { return foreign.Spelled(foreign.Exact(s), "<", ">") }

// SeenLine is Seen for what is a line or a cell.
func SeenLine(s string) string { return foreign.Spelled(foreign.ExactLine(s), "<", ">") }
