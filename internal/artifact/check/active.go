package check

import (
	"encoding/csv"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// What active content is called.
const (
	aScript   = "a script"
	aHandler  = "an event handler"
	aCode     = "an address that runs code"
	aFrame    = "a frame or an object"
	aForm     = "a form"
	aSender   = "a page that sends away"
	elsewhere = "something from elsewhere"
	aFormula  = "a formula"
	tooDeep   = "markup that lies too deep in other markup to be read"
)

// maxInside is how deep markup is read that stands in comments, titles and the like.
const maxInside = 4

// active finds what acts or fetches by itself when somebody looks.
func active(kind, text string, no func(string, ...any)) {
	found := map[string]bool{}
	acting := func(what string) { found[what] = true }
	for _, one := range parts(kind, text) {
		markup(one, maxInside, acting)
		if kind != "html" {
			markdown(one, acting)
		}
	}
	if kind == "csv" && formulas(text) {
		acting(aFormula)
	}
	var all []string
	for what := range found {
		all = append(all, what)
	}
	slices.Sort(all)
	for _, what := range all {
		no("there is %s in it", what)
	}
}

// markup reads HTML as browsers do. What stands in comments, titles and styles is read as HTML, too: there are places where it is.
func markup(text string, depth int, acting func(string)) {
	if !strings.Contains(text, "<") {
		return
	}
	if depth == 0 {
		acting(tooDeep)
		return
	}
	z := html.NewTokenizer(strings.NewReader(text))
	raw := ""
	for {
		switch z.Next() {
		case html.ErrorToken:
			if z.Err() != io.EOF {
				acting(tooDeep)
			}
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			raw = t.Data
			element(&t, acting)
		case html.EndTagToken:
			raw = ""
		case html.CommentToken:
			markup(strings.TrimPrefix(string(z.Raw()), "<"), depth-1, acting)
		case html.TextToken:
			if raw == "" {
				continue
			}
			inside := string(z.Raw())
			if raw == "style" {
				style(inside, acting)
			}
			if holdsText[raw] {
				markup(inside, depth-1, acting)
			}
		}
	}
}

// holdsText are the elements in which the tokenizer sees no tags.
var holdsText = map[string]bool{"iframe": true, "noembed": true, "noframes": true, "noscript": true, "plaintext": true, "script": true,
	"style": true, "textarea": true, "title": true, "xmp": true}

// elements are those that are never looked at further.
var elements = map[string]string{"script": aScript, "iframe": aFrame, "frame": aFrame, "frameset": aFrame, "object": aFrame,
	"embed": aFrame, "applet": aFrame, "portal": aFrame, "fencedframe": aFrame, "form": aForm, "base": aSender, "link": elsewhere}

// loads are the attributes whose address is fetched by itself.
var loads = map[string]bool{"src": true, "srcset": true, "imagesrcset": true, "poster": true, "background": true, "data": true,
	"lowsrc": true, "dynsrc": true, "manifest": true, "ping": true, "icon": true}

// words are attributes that hold text for people.
var words = map[string]bool{"alt": true, "title": true, "content": true, "summary": true, "label": true, "placeholder": true, "abbr": true,
	"id": true, "class": true, "lang": true, "name": true}

func element(t *html.Token, acting func(string)) {
	if what := elements[t.Data]; what != "" {
		acting(what)
	}
	for _, a := range t.Attr {
		name, v := a.Key, address(a.Val)
		name = name[strings.LastIndexByte(name, ':')+1:] // xlink:href
		switch {
		case strings.HasPrefix(name, "on") && len(name) > 2:
			acting(aHandler)
		case name == "srcdoc":
			acting(aFrame)
		case t.Data == "meta" && name == "http-equiv" && strings.EqualFold(strings.TrimSpace(a.Val), "refresh"):
			acting(aSender)
		case words[name] || strings.HasPrefix(name, "aria-") || strings.HasPrefix(name, "data-"):
		default:
			if runs(v) {
				acting(aCode)
			}
			if fetches := loads[name] || name == "href" && t.Data != "a" && t.Data != "area"; fetches && slices.ContainsFunc(candidates(name, a.Val),
				away) {
				acting(elsewhere)
			}
			style(a.Val, acting)
		}
	}
}

// candidates are the addresses of an attribute: a set has several.
func candidates(name, value string) []string {
	if !strings.HasSuffix(name, "srcset") {
		return []string{address(value)}
	}
	out := strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\f' })
	for i := range out {
		out[i] = address(out[i])
	}
	return out
}

// address is an address as browsers read it: without what they leave out.
func address(s string) string {
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	return strings.ToLower(strings.NewReplacer("\t", "", "\n", "", "\r", "", `\`, "/").Replace(s))
}

// runs reports whether an address is code.
func runs(a string) bool {
	for _, one := range strings.Split(a, ";") { // the values of an animation
		one = strings.TrimSpace(one)
		if strings.HasPrefix(one, "javascript:") || strings.HasPrefix(one, "vbscript:") ||
			strings.HasPrefix(one, "data:") && !strings.HasPrefix(one, "data:image/") {
			return true
		}
	}
	return false
}

// away reports whether an address leads out of the file.
func away(a string) bool {
	if strings.HasPrefix(a, "//") {
		return true
	}
	scheme, _, found := strings.Cut(a, ":")
	return found && !strings.ContainsAny(scheme, "/?#") && !strings.HasPrefix(a, "data:image/")
}

// style looks at CSS.
func style(s string, acting func(string)) {
	s = css(strings.ToLower(s))
	if strings.Contains(s, "@import") || strings.Contains(s, "image-set(") && strings.Contains(s, "//") {
		acting(elsewhere)
	}
	for {
		_, rest, found := strings.Cut(s, "url(")
		if !found {
			return
		}
		if away(address(strings.TrimLeft(rest[:min(len(rest), 200)], " \t\r\n\f\"'"))) {
			acting(elsewhere)
		}
		s = rest
	}
}

var cssComment = regexp.MustCompile(`(?s)/\*.*?\*/`)

// css is CSS without comments and escapes.
func css(s string) string {
	s = cssComment.ReplaceAllString(s, "")
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		n := i + 1
		for n < len(s) && n < i+7 && strings.IndexByte("0123456789abcdef", s[n]) >= 0 {
			n++
		}
		code, err := strconv.ParseUint(s[i+1:n], 16, 32)
		if err != nil {
			continue
		}
		b.WriteRune(rune(code))
		if i = n - 1; n < len(s) && s[n] <= ' ' {
			i = n
		}
	}
	return strings.ToLower(b.String())
}

// formulas reports whether a spreadsheet computes a cell, whichever of its signs parts the cells.
func formulas(text string) bool {
	for _, comma := range []rune{',', ';', '\t'} {
		r := csv.NewReader(strings.NewReader(text))
		r.Comma, r.LazyQuotes, r.FieldsPerRecord, r.ReuseRecord = comma, true, -1, true
		for {
			row, err := r.Read()
			if err == io.EOF {
				break
			}
			if err != nil || slices.ContainsFunc(row, Formula) {
				return true
			}
		}
	}
	return false
}

// Formula reports whether a spreadsheet may compute a text. A number is none.
func Formula(s string) bool {
	first := strings.TrimLeft(s, " \n\u00a0\ufeff")
	if first == "" || !strings.ContainsRune("=+-@\t\r＝＋－＠", []rune(first)[0]) {
		return false
	}
	_, err := strconv.ParseFloat(strings.TrimSpace(first), 64)
	return err != nil
}
