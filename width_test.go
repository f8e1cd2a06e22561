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

// A line has 140 columns at most. Only a field's tag, which cannot be broken, may reach further.
func TestLinesFit(t *testing.T) {
	const widest = 140
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
		tags := map[int]bool{}
		for {
			pos, tok, lit := s.Scan()
			if tok == token.EOF {
				break
			}
			if tok == token.STRING && strings.HasPrefix(lit, "`json:\"") {
				tags[file.Line(pos)] = true
			}
		}
		for i, line := range strings.Split(string(src), "\n") {
			if utf8.RuneCountInString(line) > widest && !tags[i+1] {
				t.Errorf("%s:%d has %d columns, and %d fit", name, i+1, utf8.RuneCountInString(line), widest)
			}
		}
	}
}
