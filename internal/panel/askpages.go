package panel

import (
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"tandem/internal/approval"
	"tandem/internal/panel/ui"
	"tandem/internal/unified"
)

// AskPage is a page of what an ask is about, as it is shown.
type AskPage struct {
	Number int
	Digest string
	Parts  []AskPart
}

// AskPart is an argument, or what a name in the call stood for; one of its fields says how it is shown.
type AskPart struct {
	Name  string
	Form  string
	Text  string
	Diffs []unified.File // of a diff, or of what goes and what comes
	Href  string         // where bytes are opened
}

// pages are the first pages of an ask, as many as shown says and there are.
func (v *visit) pages(a *approval.Ask, shown int) (out []AskPage, of int, err error) {
	page := a.First
	for n := 1; n <= max(shown, 1) && (of == 0 || n <= of); n++ {
		if page == nil || n > 1 {
			one, err := ask(v, approval.AskPage, approval.PageIn{ID: a.ID, Page: n})
			if err != nil {
				return nil, 0, err
			}
			page = &one
		}
		of = page.Of
		out = append(out, AskPage{Number: n, Digest: page.Digest, Parts: askParts(page, a.ID)})
	}
	return out, of, nil
}

// askParts are a page's pieces; what goes and what comes in its place is one change.
func askParts(p *approval.Page, ask string) (out []AskPart) {
	for i := 0; i < len(p.Pieces); i++ {
		x := p.Pieces[i]
		part := AskPart{Name: x.Name, Form: string(x.Form), Text: x.Text}
		if x.From > 0 {
			part.Name += ", from line " + strconv.Itoa(x.From) + " on"
		}
		switch {
		case x.Form == approval.Bytes:
			part.Href = "/panel/approvals/" + pathEscape(ask) + "/content?" + url.Values{"name": {x.Name}}.Encode()
		case x.Form == approval.Diff && x.From == 0:
			part.Diffs = unified.Parse(x.Text)
		case x.Form == approval.Gone && x.From == 0 && i+1 < len(p.Pieces) && p.Pieces[i+1].Form == approval.Come:
			part.Diffs = []unified.File{{Path: askPath(p), Lines: changed(x.Text, p.Pieces[i+1].Text)}}
			i++
		case x.Form == approval.Come && x.From == 0:
			part.Diffs = []unified.File{{Path: askPath(p), Lines: unified.Diff("", x.Text)}}
		}
		out = append(out, part)
	}
	return out
}

// askPath is the file that a page speaks of, "the text" where it names none.
func askPath(p *approval.Page) string {
	for _, x := range p.Pieces {
		switch path.Ext("." + x.Name[strings.LastIndexByte(x.Name, '.')+1:]) {
		case ".path", ".file_path", ".filePath", ".notebook_path":
			return x.Text
		}
	}
	return "the text"
}

// lines are the parts that are a word each, for one list.
func (p AskPage) lines() (out []ui.Pair) {
	for _, x := range p.Parts {
		if x.Form == "line" || x.Form == "fact" || x.Form == "json" && !strings.Contains(x.Text, "\n") {
			out = append(out, ui.Pair{Key: x.Name, Value: x.Text, Mono: true})
		}
	}
	return out
}

func (x AskPart) short() bool {
	return x.Form == "line" || x.Form == "fact" || x.Form == "json" && !strings.Contains(x.Text, "\n")
}

// content gives the bytes of an argument to be opened elsewhere: never by this browser as a page of ours.
func (v *visit) content() error {
	out, err := ask(v, approval.AskContent, approval.ContentIn{ID: v.r.PathValue("id"), Name: v.query("name")})
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "application/octet-stream")
	v.w.Header().Set("Content-Disposition", `attachment; filename="argument"`)
	v.w.Header().Set("X-Content-Type-Options", "nosniff")
	v.w.WriteHeader(http.StatusOK)
	_, err = v.w.Write(out.Data)
	return err
}
