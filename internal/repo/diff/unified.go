package diff

import (
	"bytes"
	"fmt"
	"strings"
)

// Unified is a comparison of two texts as people read it: lines that went with
// "-", lines that came with "+", and some lines around them.
func Unified(before, after []byte, around int) string {
	type line struct {
		mark byte
		text []byte
	}
	var lines []line
	for _, h := range ByLine(before, after).Hunks() {
		marks := []byte{'-', '+'}
		contents := h.Contents
		if h.Matching {
			marks, contents = []byte{' '}, contents[:1]
		}
		for i, c := range contents {
			for _, s := range Lines(c) {
				lines = append(lines, line{marks[i], bytes.TrimSuffix(c[s.Start:s.End], []byte("\n"))})
			}
		}
	}
	keep := make([]bool, len(lines))
	for i, l := range lines {
		if l.mark != ' ' {
			for j := max(0, i-around); j <= min(len(lines)-1, i+around); j++ {
				keep[j] = true
			}
		}
	}
	var b strings.Builder
	old, now := 1, 1
	for i, l := range lines {
		if keep[i] {
			if i == 0 || !keep[i-1] {
				fmt.Fprintf(&b, "@@ -%d +%d @@\n", old, now)
			}
			b.WriteByte(l.mark)
			b.Write(l.text)
			b.WriteByte('\n')
		}
		if l.mark != '+' {
			old++
		}
		if l.mark != '-' {
			now++
		}
	}
	return b.String()
}
