package pdf

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Document is the text of a file.
type Document struct {
	Title string
	Pages []Page
}

// Page is the text of one.
type Page struct {
	Text    string
	Scanned bool // it has a picture, and no text but what was put below it
	Hidden  bool // it has text that is not drawn, which was left out
	Unknown bool // some of its letters have no meaning that the file tells
}

// ErrEncrypted is a file that needs a password, or a key.
var ErrEncrypted = errors.New("it is encrypted")

// Read reads a file.
func Read(ctx context.Context, data []byte, l Limits) (*Document, error) {
	f, err := open(ctx, data, l)
	if err != nil {
		return nil, err
	}
	if f.trailer["Encrypt"] != nil {
		return nil, ErrEncrypted
	}
	pages, err := f.pages()
	if err != nil {
		return nil, err
	}
	out := &Document{Title: f.title()}
	for _, p := range pages {
		page, err := f.page(p)
		if err != nil {
			return nil, err
		}
		out.Pages = append(out.Pages, page)
	}
	return out, nil
}

func (f *file) title() string {
	t, _ := f.at(f.dict(f.trailer["Info"])["Title"]).(text)
	if strings.HasPrefix(string(t), "\xfe\xff") {
		return wideText(t[2:])
	}
	var b strings.Builder
	for _, c := range t { // PDFDocEncoding is Latin-1 nearly everywhere
		b.WriteRune(rune(c))
	}
	return b.String()
}

// pages are in the order of the file's tree. What pages inherit is written into each.
func (f *file) pages() ([]dict, error) {
	root := f.dict(f.dict(f.trailer["Root"])["Pages"])
	if root == nil {
		for _, v := range f.objects { // the end of the file is lost
			if d := f.dict(v); d != nil && f.name(d["Type"]) == "Catalog" {
				root = f.dict(d["Pages"])
			}
		}
	}
	if root == nil {
		return f.loose()
	}
	var out []dict
	seen := map[ref]bool{}
	var walk func(node dict, inherited dict, depth int) error
	walk = func(node dict, inherited dict, depth int) error {
		if depth > maxDepth {
			return damaged("its tree of pages is too deep")
		}
		given := dict{}
		for _, key := range []name{"Resources", "Rotate"} {
			if given[key] = node[key]; given[key] == nil {
				given[key] = inherited[key]
			}
		}
		kids, tree := f.at(node["Kids"]).(array)
		if !tree {
			if len(out) == f.limits.Pages {
				return ErrTooLarge
			}
			out = append(out, dict{"Contents": node["Contents"], "Resources": given["Resources"], "Rotate": given["Rotate"]})
			return nil
		}
		for _, kid := range kids {
			r, ok := kid.(ref)
			if !ok || seen[r] {
				continue // a page stands once in the tree, whatever a hostile file says
			}
			seen[r] = true
			if d := f.dict(kid); d != nil {
				if err := walk(d, given, depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return out, walk(root, dict{}, 0)
}

// loose are the pages of a file whose tree is lost, in the order of their numbers.
func (f *file) loose() ([]dict, error) {
	var out []dict
	for _, r := range slices.Sorted(maps.Keys(f.objects)) {
		if d := f.dict(f.objects[r]); d != nil && f.name(d["Type"]) == "Page" && len(out) < f.limits.Pages {
			out = append(out, d)
		}
	}
	if len(out) == 0 {
		return nil, damaged("it has no pages")
	}
	return out, nil
}

func (f *file) page(p dict) (Page, error) {
	var content []byte
	for _, v := range f.list(p["Contents"]) {
		if s, ok := f.at(v).(stream); ok {
			data, err := f.unpack(s)
			if err != nil {
				return Page{}, err
			}
			content = append(append(content, data...), '\n')
		}
	}
	d := &drawing{f: f}
	turned := map[int]matrix{90: {0, -1, 1, 0, 0, 0}, 180: {-1, 0, 0, -1, 0, 0}, 270: {0, 1, -1, 0, 0, 0}}
	ctm, ok := turned[((int(f.number(p["Rotate"]))%360)+360)%360]
	if !ok {
		ctm = identity
	}
	if err := d.run(content, f.dict(p["Resources"]), ctm, 0); err != nil {
		return Page{}, err
	}
	var seen, unseen []mark
	for _, m := range d.marks {
		if m.unseen {
			unseen = append(unseen, m)
		} else {
			seen = append(seen, m)
		}
	}
	out := Page{Unknown: d.unknown, Scanned: d.pictures > 0 && letters(seen) == 0}
	if out.Scanned { // what a program read from the picture lies below it
		seen = unseen
	} else {
		out.Hidden = letters(unseen) > 0
	}
	out.Text = strings.TrimSpace(flow(read(pieces(seen), 0)))
	return out, nil
}

func letters(ms []mark) int {
	n := 0
	for _, m := range ms {
		n += utf8.RuneCountInString(strings.TrimSpace(m.text))
	}
	return n
}
