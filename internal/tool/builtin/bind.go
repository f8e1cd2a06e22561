package builtin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/tool"
)

// maxShownDiff is how long a diff is that stands for its arguments in an ask.
const maxShownDiff = 96 << 10

// holding names what a file holds, for an approval to be bound to.
func holding(content []byte, exists bool) string {
	if !exists {
		return "is not there"
	}
	sum := sha256.Sum256(content)
	return fmt.Sprintf("%d bytes, SHA-256 %s", len(content), hex.EncodeToString(sum[:]))
}

// bindFile says what a file holds now and how a change would leave it: its diff has line numbers and context, and shows the
// arguments that it is made of.
func bindFile(p tool.Place, change func(before string) (string, error), shows ...string) ([]op.Bound, error) {
	before, err := p.ReadFile(maxFile)
	exists := err == nil
	if err != nil && !fault.Is(err, fault.NotFound) {
		return nil, err
	}
	out := []op.Bound{{Name: "file " + p.Path, Value: holding(before, exists)}}
	after, err := change(string(before))
	if err != nil {
		return nil, err
	}
	text := unified(p.Path, string(before), after)
	if len(text) > maxShownDiff || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return out, nil // the arguments are shown as they are
	}
	return append(out, op.Bound{Name: "diff of " + p.Path, Value: text, Shown: true, Diff: true, Covers: shows}), nil
}

// unchanged refuses a change to a file that is not as it was when a person approved it.
func unchanged(ctx context.Context, p tool.Place, content []byte, exists bool) error {
	if was, asked := op.BoundIn(ctx, "file "+p.Path); asked && was != holding(content, exists) {
		return fault.New(fault.Conflict, "tool", "%s changed after the approval was given", p.Path).
			WithNext("read it again and repeat the call: it is asked about anew")
	}
	return nil
}

// unified is a unified diff of one piece, with three lines around it.
func unified(path, before, after string) string {
	a, b := cutLines(before), cutLines(after)
	top, end := 0, 0
	for top < len(a) && top < len(b) && a[top] == b[top] {
		top++
	}
	for end < len(a)-top && end < len(b)-top && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	const around = 3
	from, after3 := max(top-around, 0), min(end, around)
	var out strings.Builder
	start := func(n, lines int) int {
		if lines == 0 {
			return n // git names the line before
		}
		return n + 1
	}
	wasLines, isLines := len(a)-end+after3-from, len(b)-end+after3-from
	fmt.Fprintf(&out, "--- %s\n+++ %s\n@@ -%d,%d +%d,%d @@\n", path, path, start(from, wasLines), wasLines, start(from, isLines), isLines)
	put := func(mark string, lines []string) {
		for _, l := range lines {
			out.WriteString(mark + strings.TrimSuffix(l, "\n") + "\n")
			if !strings.HasSuffix(l, "\n") {
				out.WriteString("\\ No newline at end of file\n")
			}
		}
	}
	put(" ", a[from:top])
	put("-", a[top:len(a)-end])
	put("+", b[top:len(b)-end])
	put(" ", a[len(a)-end:len(a)-end+after3])
	return out.String()
}

// cutLines are a text's lines, each with its end.
func cutLines(s string) []string {
	if s == "" {
		return nil
	}
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// bindFiles says what the files of a patch hold now; the patch itself is the diff.
func bindFiles(files []patched) (out []op.Bound, err error) {
	for _, f := range files {
		places := []tool.Place{f.at}
		if f.target != nil {
			places = append(places, *f.target)
		}
		for _, p := range places {
			content, err := p.ReadFile(maxFile)
			if err != nil && !fault.Is(err, fault.NotFound) {
				return nil, err
			}
			out = append(out, op.Bound{Name: "file " + p.Path, Value: holding(content, err == nil)})
		}
	}
	return out, nil
}
