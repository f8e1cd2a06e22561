// Package foreign marks text that somebody else wrote, for a model to read as data: what tools returned, what was attached.
// It owns the marks and promises one thing: the text between them cannot close them.
package foreign

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Mark puts a text between marks that do not occur in it. They are made of the text itself, so that the same text has the
// same marks and a model's cache goes on fitting. kind is a word of ours; from may be anybody's.
func Mark(kind, from, text string) string {
	mark := kind
	for n := 0; ; n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d\n%s\n%s", n, from, text))
		mark = kind + "-" + hex.EncodeToString(sum[:4])
		if !strings.Contains(text, mark) {
			break
		}
	}
	return fmt.Sprintf("<%s from=%q>\n%s\n</%s>", mark, plain(from), text, mark)
}

// plain keeps a name from ending the mark that it stands in.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`"<>\`, r) {
			return '_'
		}
		return r
	}, name)
}
