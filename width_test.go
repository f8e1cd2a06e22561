package tandem

import (
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"
)

// A line has 140 columns at most. Only a text that stands in one piece, so that somebody who reads it on a screen finds it by
// searching, may reach further.
func TestLinesFit(t *testing.T) {
	const widest, piece = 140, 48
	out, err := exec.Command("git", "ls-files", "*.go").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq(string(out)) {
		src, err := os.ReadFile(name)
		if err != nil || strings.HasSuffix(name, "_templ.go") {
			continue // gone from the checkout, or generated
		}
		file := token.NewFileSet().AddFile(name, -1, len(src))
		var s scanner.Scanner
		s.Init(file, src, nil, 0)
		texts := map[int]bool{} // lines that a text of one piece makes wide
		for {
			pos, tok, lit := s.Scan()
			if tok == token.EOF {
				break
			}
			if tok == token.STRING && utf8.RuneCountInString(lit) > piece {
				for i := range strings.Count(lit, "\n") + 1 {
					texts[file.Line(pos)+i] = true
				}
			}
		}
		for i, line := range strings.Split(string(src), "\n") {
			if utf8.RuneCountInString(line) > widest && !texts[i+1] {
				t.Errorf("%s:%d has %d columns, and %d fit", name, i+1, utf8.RuneCountInString(line), widest)
			}
		}
	}
}
