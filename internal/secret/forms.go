package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
)

// forms are the shapes that a value takes on its way into text: as it is,
// line by line, escaped for JSON (also twice), for Go, HTML and URLs, in hex,
// as a list of bytes,
// and in base64 wherever it begins within a larger text.
func forms(value string) []string {
	value = strings.TrimSpace(value)
	out := []string{value}
	add := func(s ...string) { out = append(out, s...) }
	if lines := strings.FieldsFunc(value, func(r rune) bool { return r == '\n' || r == '\r' }); len(lines) > 1 {
		for _, l := range lines {
			if l = strings.TrimSpace(l); !strings.HasPrefix(l, "-----") { // what frames a key is no secret
				add(l)
			}
		}
		add(strings.Join(lines, "\n"), strings.Join(lines, "\r\n"), strings.Join(lines, " "), strings.Join(lines, ""))
	}
	once := escapeJSON(value)
	add(once...)
	for _, s := range once {
		add(escapeJSON(s)...)
	}
	add(inner(strconv.Quote(value)), inner(strconv.QuoteToASCII(value)), html.EscapeString(value))
	for _, s := range []string{url.QueryEscape(value), url.PathEscape(value), (&url.URL{Path: value}).EscapedPath()} {
		add(s, lowerEscapes(s))
	}
	x := hex.EncodeToString([]byte(value))
	add(x, strings.ToUpper(x))
	bytes := inner(fmt.Sprint([]byte(value)))
	add(bytes, strings.ReplaceAll(bytes, " ", ","), strings.ReplaceAll(bytes, " ", ", "))
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 {
			add(base64Core(enc, value, shift))
		}
	}
	return out
}

// base64Core is what is certain of a value's base64 when shift bytes stand
// before it: the characters that depend on the value alone.
func base64Core(enc *base64.Encoding, value string, shift int) string {
	text := enc.EncodeToString(append(make([]byte, shift), value...))
	return text[(8*shift+5)/6 : 8*(shift+len(value))/6]
}

func escapeJSON(s string) []string {
	b, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	escaped := inner(string(b))
	plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(escaped)
	return []string{escaped, plain, strings.ReplaceAll(escaped, "/", `\/`)}
}

// inner takes the quotes off.
func inner(quoted string) string { return quoted[1 : len(quoted)-1] }

// lowerEscapes writes %2F as %2f.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:], strings.ToLower(string(b[i+1:i+3])))
		}
	}
	return string(b)
}
