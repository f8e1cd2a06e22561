package decode

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// readHTML makes a part of each section of a page. What a browser does not show is left out.
func readHTML(w *writer, data []byte) error {
	s, err := plain(data)
	if err != nil {
		return err
	}
	root, err := html.Parse(strings.NewReader(s))
	if err != nil {
		return refused("it is no HTML: %v", err)
	}
	p := &page{w: w}
	if err := p.walk(root, 0); err != nil {
		return err
	}
	return p.flush()
}

// page is the text of a page up to where the walk has come.
type page struct {
	w    *writer
	path headings
	text bytes.Buffer
	pre  int  // how many elements around here keep their blanks
	gap  bool // a blank is due before the next word
}

// unseen are elements whose content is for programs.
var unseen = map[atom.Atom]bool{atom.Script: true, atom.Style: true, atom.Template: true, atom.Noscript: true, atom.Head: true,
	atom.Iframe: true, atom.Object: true, atom.Svg: true, atom.Math: true, atom.Select: true, atom.Nav: true}

// blocks begin on a line of their own.
var blocks = map[atom.Atom]string{atom.P: "\n\n", atom.Div: "\n", atom.Section: "\n\n", atom.Article: "\n\n", atom.Ul: "\n", atom.Ol: "\n",
	atom.Li: "\n", atom.Table: "\n\n", atom.Tr: "\n", atom.Pre: "\n\n", atom.Blockquote: "\n\n", atom.Dl: "\n", atom.Dt: "\n",
	atom.Dd: "\n", atom.Header: "\n", atom.Footer: "\n", atom.Main: "\n", atom.Aside: "\n", atom.Figure: "\n", atom.Figcaption: "\n",
	atom.Form: "\n", atom.Hr: "\n\n", atom.Address: "\n", atom.Details: "\n", atom.Summary: "\n"}

func (p *page) walk(n *html.Node, depth int) error {
	if err := p.w.deep(depth); err != nil {
		return err
	}
	switch n.Type {
	case html.TextNode:
		p.write(n.Data)
		return nil
	case html.CommentNode, html.DoctypeNode:
		return nil
	case html.ElementNode:
		if n.DataAtom == atom.Head {
			p.w.doc.Title = clip(textOf(find(n, atom.Title)))
		}
		if unseen[n.DataAtom] {
			return nil
		}
		if hidden(n) {
			p.w.left("hidden text")
			return nil
		}
		if level := levelOf(n.DataAtom); level > 0 {
			if err := p.flush(); err != nil {
				return err
			}
			title := clip(textOf(n))
			p.path.set(level, title)
			p.text.WriteString(title + "\n\n")
			p.gap = false
			return nil
		}
	}
	p.open(n)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if err := p.walk(c, depth+1); err != nil {
			return err
		}
	}
	p.shut(n)
	return nil
}

func (p *page) open(n *html.Node) {
	if sep := blocks[n.DataAtom]; sep != "" {
		p.line(sep)
	}
	switch n.DataAtom {
	case atom.Br:
		p.line("\n")
	case atom.Li:
		p.text.WriteString("- ")
	case atom.Td, atom.Th:
		if prior := n.PrevSibling; prior != nil && p.text.Len() > 0 && p.text.Bytes()[p.text.Len()-1] != '\n' {
			p.text.WriteString(" | ")
			p.gap = false
		}
	case atom.Pre:
		p.pre++
	case atom.Img:
		if alt := strings.TrimSpace(attr(n, "alt")); alt != "" {
			p.write("[picture: " + alt + "]")
		}
	}
}

func (p *page) shut(n *html.Node) {
	if n.DataAtom == atom.Pre {
		p.pre--
	}
	if sep := blocks[n.DataAtom]; sep != "" {
		p.line(sep)
	}
}

// line ends a line, if one was begun.
func (p *page) line(sep string) {
	p.gap = false
	if b := p.text.Bytes(); len(b) > 0 && !bytes.HasSuffix(b, []byte(sep)) {
		p.text.WriteString(sep)
	}
}

// write adds words, with one blank where the page has any.
func (p *page) write(s string) {
	if p.pre > 0 {
		p.text.WriteString(s)
		return
	}
	if s == "" {
		return
	}
	words := strings.Fields(s)
	if strings.ContainsAny(s[:1], " \t\r\n") {
		p.gap = true
	}
	for i, word := range words {
		if b := p.text.Bytes(); (p.gap || i > 0) && len(b) > 0 && b[len(b)-1] != '\n' && b[len(b)-1] != ' ' {
			p.text.WriteByte(' ')
		}
		p.text.WriteString(word)
		p.gap = false
	}
	if len(words) > 0 && strings.ContainsAny(s[len(s)-1:], " \t\r\n") {
		p.gap = true
	}
}

func (p *page) flush() error {
	err := p.w.part(p.path.String(), p.text.String())
	p.text.Reset()
	return err
}

func levelOf(a atom.Atom) int {
	for i, h := range []atom.Atom{atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6} {
		if a == h {
			return i + 1
		}
	}
	return 0
}

// hidden tells whether a browser would leave the element out. What a style sheet hides is not known here.
func hidden(n *html.Node) bool {
	for _, a := range n.Attr {
		switch strings.ToLower(a.Key) {
		case "hidden":
			return true
		case "aria-hidden":
			if strings.EqualFold(strings.TrimSpace(a.Val), "true") {
				return true
			}
		case "style":
			style := strings.ToLower(strings.Join(strings.Fields(a.Val), ""))
			for _, rule := range []string{"display:none", "visibility:hidden", "font-size:0;", "font-size:0px", "opacity:0;", "text-indent:-9"} {
				if strings.Contains(style+";", rule) {
					return true
				}
			}
		}
	}
	return n.DataAtom == atom.Input && attr(n, "type") == "hidden"
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// find is the first element of a kind right below.
func find(n *html.Node, kind atom.Atom) *html.Node {
	for c := range n.ChildNodes() {
		if c.DataAtom == kind {
			return c
		}
	}
	return nil
}

// textOf is all the text of an element, on one line.
func textOf(n *html.Node) string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
