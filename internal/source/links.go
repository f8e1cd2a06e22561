package source

import (
	"bytes"
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// maxLinks is how many links of one page are looked at.
const maxLinks = 2000

// linked is what a page says to programs that read it.
type linked struct {
	links             []*url.URL
	noindex, nofollow bool
}

// linksOf reads where a page leads, as addresses without fragments.
func linksOf(base *url.URL, page []byte) (out linked) {
	for z := html.NewTokenizer(bytes.NewReader(page)); len(out.links) < maxLinks; {
		switch z.Next() {
		case html.ErrorToken:
			return out
		case html.StartTagToken, html.SelfClosingTagToken:
			tag, attr := attributes(z)
			switch tag {
			case "base":
				if u, err := base.Parse(attr["href"]); err == nil && attr["href"] != "" {
					base = u
				}
			case "meta":
				if name := strings.ToLower(attr["name"]); name == "robots" || name == agent {
					out.ask(attr["content"])
				}
			case "a", "area":
				if u, err := base.Parse(strings.TrimSpace(attr["href"])); err == nil && attr["href"] != "" &&
					!strings.Contains(strings.ToLower(attr["rel"]), "nofollow") {
					u.Fragment, u.RawFragment = "", ""
					out.links = append(out.links, u)
				}
			}
		}
	}
	return out
}

func attributes(z *html.Tokenizer) (tag string, attr map[string]string) {
	name, more := z.TagName()
	tag, attr = string(name), map[string]string{}
	switch tag {
	case "base", "meta", "a", "area":
	default:
		return tag, attr
	}
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		attr[string(key)] = string(value)
	}
	return tag, attr
}

// ask takes what a page, or its server for it, asks of programs.
func (l *linked) ask(content string) {
	words := strings.ToLower(content)
	l.noindex = l.noindex || strings.Contains(words, "noindex") || strings.Contains(words, "none")
	l.nofollow = l.nofollow || strings.Contains(words, "nofollow") || strings.Contains(words, "none")
}
