package check

import (
	"html"
	"regexp"
	"strings"
)

var (
	definition = regexp.MustCompile(`(?m)^[ \t>*+-]*\[[^\]\n]{1,999}\]:[ \t]*\n?[ \t]*<?([^\s>]+)`)
	autolink   = regexp.MustCompile(`(?i)<\s*(?:javascript|vbscript|data)\s*:`)
)

// markdown finds pictures that are fetched, and links that run code. Where it is not sure whether something is a picture, it is one.
func markdown(text string, acting func(string)) {
	if autolink.MatchString(text) {
		acting(aCode)
	}
	var open []bool // the brackets that are open: whether each begins a picture
	pictures, seen, byName := 0, false, false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '\n':
			if strings.HasPrefix(strings.TrimLeft(text[i+1:min(len(text), i+100)], " \t"), "\n") { // a paragraph ends
				open, pictures, seen = open[:0], 0, false
			}
		case '[':
			picture := i > 0 && text[i-1] == '!'
			if open = append(open, picture); picture {
				pictures, seen = pictures+1, true
			}
		case ']':
			picture := pictures > 0 || len(open) == 0 && seen
			if n := len(open); n > 0 {
				if open[n-1] {
					pictures--
				}
				open = open[:n-1]
			}
			if i+1 == len(text) || text[i+1] != '(' {
				byName = byName || picture
				continue
			}
			goesTo(text[i+2:min(len(text), i+2+4096)], picture, acting)
		}
	}
	for _, m := range definition.FindAllStringSubmatch(text, -1) {
		goesTo(m[1], byName, acting)
	}
}

// goesTo looks at the address of a link or picture, which stands at the beginning of a text.
func goesTo(rest string, picture bool, acting func(string)) {
	rest = strings.TrimLeft(rest, " \t\r\n<")
	if end := strings.IndexAny(rest, " \n)>"); end >= 0 {
		rest = rest[:end]
	}
	a := address(strings.NewReplacer(`\:`, ":", `\/`, "/").Replace(html.UnescapeString(rest)))
	if runs(a) {
		acting(aCode)
	}
	if picture && away(a) {
		acting(elsewhere)
	}
}
