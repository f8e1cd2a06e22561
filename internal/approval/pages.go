package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"tandem/internal/fault"
)

// How much of a call is on one page. A command of an everyday length and everything beside it is on one.
const (
	pageBytes = 12 << 10
	pageLines = 300
)

// Page is a part of a call that is looked at in one go. An approval names the digests of all of them: what was never fetched
// cannot be named.
type Page struct {
	Ask    string  `json:"ask"`
	Number int     `json:"page"`
	Of     int     `json:"of" jsonschema:"how many pages there are"`
	Digest string  `json:"digest" jsonschema:"names this page in an answer"`
	Pieces []Piece `json:"pieces"`
}

// Pages are the call whole, in the order in which it is read. The same ask has the same pages.
func (a *Ask) Pages() []Page {
	var pages []Page
	var on []Piece
	size, lines := 0, 0
	turn := func() {
		pages = append(pages, Page{Ask: a.ID, Number: len(pages) + 1, Pieces: on})
		on, size, lines = nil, 0, 0
	}
	for _, p := range a.Sheet() {
		for from, rest := 0, p.Text; ; {
			if len(on) > 0 && (size+len(p.Name) >= pageBytes || lines >= pageLines) {
				turn()
			}
			head := fitting(rest, max(pageBytes-size-len(p.Name), 64), max(pageLines-lines, 1))
			on = append(on, Piece{Name: p.Name, Form: p.Form, Text: head, From: from})
			size, lines = size+len(p.Name)+len(head), lines+1+strings.Count(head, "\n")
			if rest = rest[len(head):]; rest == "" {
				break
			}
			from = max(from, 1) + strings.Count(head, "\n")
			turn()
		}
	}
	turn()
	for i := range pages {
		pages[i].Of = len(pages)
		pages[i].Digest = pages[i].seal(a.Digest)
	}
	return pages
}

// PageDigests name all pages: what somebody answers with who looked at each.
func (a *Ask) PageDigests() []string {
	var out []string
	for _, p := range a.Pages() {
		out = append(out, p.Digest)
	}
	return out
}

// fitting is the beginning of a text that fits, cut behind a line where there is one and never within a character.
func fitting(text string, size, lines int) string {
	end, n := len(text), 0
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' {
			if n++; n == lines {
				end = i + 1
				break
			}
		}
	}
	if end <= size {
		return text[:end]
	}
	if at := strings.LastIndexByte(text[:size], '\n'); at > size/2 {
		return text[:at+1]
	}
	for size > 1 && !utf8.RuneStart(text[size]) {
		size--
	}
	return text[:size]
}

// seal is the page's digest: of what is on it, where it stands, and the exact call that it belongs to.
func (p Page) seal(call string) string {
	h := sha256.New()
	fmt.Fprintf(h, "tandem page v1\n%s\n%s\n%d %d\n", p.Ask, call, p.Number, p.Of)
	data, _ := json.Marshal(p.Pieces) // strings and numbers alone: it cannot fail
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// looked refuses an approval of what was not looked at whole: the call's digest, and that of each page in its order.
func (a *Ask) looked(digest string, pages []string, must bool) error {
	if must && digest == "" {
		return fault.New(fault.Invalid, "approval.decide", "an approval names the digest of what was looked at").
			WithNext("look at it first: tandem approvals show %s; its digest goes with the answer", a.ID)
	}
	if digest != "" && digest != a.Digest {
		return fault.New(fault.Conflict, "approval.decide", "%s is not the call that you looked at", a.ID).
			WithNext("look at it again: tandem approvals show %s", a.ID)
	}
	if !must && len(pages) == 0 {
		return nil
	}
	all := a.PageDigests()
	for _, p := range pages {
		if !slices.Contains(all, p) {
			return fault.New(fault.Conflict, "approval.decide", "a page that was looked at does not belong to %s as it is now", a.ID).
				WithNext("look at it again: tandem approvals show %s", a.ID)
		}
	}
	if must && !slices.Equal(pages, all) {
		return fault.New(fault.Invalid, "approval.decide", "an approval names every page that was shown: %d of %d pages of %s are named",
			len(pages), len(all), a.ID).
			With("pages", fmt.Sprint(len(all))).WithNext("read each: tandem approvals show %s --page 1; their digests go with the answer, in order",
			a.ID)
	}
	return nil
}

// about says what bytes are that nobody can read: their kind, size and digest.
func about(data []byte) string {
	sum := sha256.Sum256(data)
	return fmt.Sprintf("%s, %d bytes, SHA-256 %s", http.DetectContentType(data), len(data), hex.EncodeToString(sum[:]))
}
