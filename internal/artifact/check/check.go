// Package check says what is wrong with an artifact before it is kept. It computes only.
//
// What a model or a program made is a stranger's text: a check finds what its maker can mend, and says it so that the maker can.
package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Want is what is asked of an artifact.
type Want struct {
	Checks   []string // sections, citations, no-secrets, no-active-content
	Sections []string // headings that have to be there
	Max      int      // bytes; 0 is no bound of its own
}

// Look names all that is wrong with a text of a kind (markdown, html, csv, json), and with the size of its bytes. known reports whether a
// text holds a secret that is kept here; it may be nil.
func Look(kind, text string, size int, w Want, known func(string) bool) (wrong []string) {
	no := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if w.Max > 0 && size > w.Max {
		no("it has %d bytes; %d are allowed", size, w.Max)
	}
	for _, one := range w.Checks {
		switch one {
		case "sections":
			sections(kind, strings.Join(parts(kind, text), "\n\n"), w.Sections, no)
		case "citations":
			citations(strings.Join(parts(kind, text), "\n\n"), no)
		case "no-secrets":
			secrets(append(parts(kind, text), text), known, no)
		case "no-active-content":
			active(kind, text, no)
		}
	}
	return wrong
}

// parts are the texts to look at: of JSON each name and each string as it is, and not as JSON writes it.
func parts(kind, text string) (out []string) {
	var v any
	if kind != "json" || json.Unmarshal([]byte(text), &v) != nil {
		return []string{text}
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				out = append(out, name)
				walk(v[name])
			}
		}
	}
	walk(v)
	return out
}

var (
	heading     = regexp.MustCompile(`(?m)^#{1,6}[ \t]+(.+?)[ \t#]*$`)
	htmlHeading = regexp.MustCompile(`(?is)<h[1-6][^>]*>(.*?)</h[1-6]>`)
	tag         = regexp.MustCompile(`<[^>]*>`)
)

// sections looks for headings, in any case of letters.
func sections(kind, text string, want []string, no func(string, ...any)) {
	form := heading
	if kind == "html" {
		form = htmlHeading
	}
	var there []string
	for _, m := range form.FindAllStringSubmatch(text, -1) {
		there = append(there, strings.ToLower(strings.TrimSpace(tag.ReplaceAllString(m[1], ""))))
	}
	for _, name := range want {
		if !slices.Contains(there, strings.ToLower(strings.TrimSpace(name))) {
			no("the section %q is missing", name)
		}
	}
}

var (
	cited  = regexp.MustCompile(`\[\^?([0-9]{1,4})\]`)
	listed = regexp.MustCompile(`(?m)^\s*(?:[-*]\s+|<li[^>]*>)?\[\^?([0-9]{1,4})\]:?\s+(\S.*)$`)
	leads  = regexp.MustCompile(`https?://[^\s<>"')\]]{3,}|\b(?:psg|art|run|ses|mem)_[a-z0-9]{8,}\b|[\w./-]+\.[a-z0-9]{1,5}:[0-9]+`)
)

// citations wants at least one mark like [1], and for each mark a line "[1] …" that leads somewhere.
func citations(text string, no func(string, ...any)) {
	sources := map[string]bool{}
	for _, m := range listed.FindAllStringSubmatch(text, -1) {
		sources[m[1]] = true
		if !leads.MatchString(m[2]) {
			no("the source [%s] leads nowhere: it has no address, id or place", m[1])
		}
	}
	marks := map[string]int{}
	for _, m := range cited.FindAllStringSubmatch(text, -1) {
		marks[m[1]]++
	}
	missing := 0
	for mark := range marks {
		if !sources[mark] {
			missing++
			no("[%s] is cited, and no line begins with [%s] and says what it is", mark, mark)
		}
	}
	uses := 0
	for source := range sources {
		if marks[source] > 1 {
			uses++
		}
	}
	if uses+missing == 0 {
		no("nothing is cited: write [1] behind what is said, and a line \"[1] title https://…\" for each source")
	}
}

// tokens are forms that nothing but a credential has.
var tokens = map[string]*regexp.Regexp{
	"a private key":     regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----`),
	"an AWS key":        regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`),
	"a GitHub token":    regexp.MustCompile(`\b(?:gh[opsur]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})\b`),
	"a GitLab token":    regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{20,}\b`),
	"a model's key":     regexp.MustCompile(`\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{24,}\b`),
	"a Slack token":     regexp.MustCompile(`\bxox[abprs]-[A-Za-z0-9-]{10,}\b`),
	"a Google key":      regexp.MustCompile(`\bAIza[0-9A-Za-z_-]{35}\b`),
	"a Stripe key":      regexp.MustCompile(`\b[rs]k_live_[0-9a-zA-Z]{20,}\b`),
	"a signed token":    regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}\b`),
	"a tandem token":    regexp.MustCompile(`\btk_[A-Za-z0-9]{24,}\b`),
	"a password in URL": regexp.MustCompile(`\b[a-z][a-z0-9+.-]*://[^\s/:@]+:[^\s/@]{4,}@`),
}

// secrets finds credentials in the parts of a text and, last, in all of it. It says of which form, and never which.
func secrets(texts []string, known func(string) bool, no func(string, ...any)) {
	var found []string
	for what, form := range tokens {
		if slices.ContainsFunc(texts, form.MatchString) {
			found = append(found, what)
		}
	}
	if known != nil && (known(texts[len(texts)-1]) || len(texts) > 1 && known(strings.Join(texts[:len(texts)-1], "\n"))) {
		found = append(found, "a secret that is kept here")
	}
	slices.Sort(found)
	for _, what := range found {
		no("there is %s in it", what)
	}
}
