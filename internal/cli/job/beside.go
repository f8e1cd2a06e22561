package job

import (
	"fmt"
	"io"
	"strings"

	"tandem/internal/cli/kit"
	"tandem/internal/unified"
)

// before is how wide what stands before a line is: its number, and its sign.
const before = 8

// sideBySide prints files of a diff in two columns: what was, and what is. Lines that are too long for their column go on below.
func sideBySide(w io.Writer, files []unified.File, columns int) {
	half := max(20, (columns-3)/2)
	for _, f := range files {
		kit.Paint(w, kit.Bold, kit.VisibleLine(f.Path))
		fmt.Fprintln(w)
		for _, r := range unified.Beside(f.Lines) {
			if r.Was.Op == '@' {
				kit.Paint(w, kit.Cyan, kit.VisibleLine(r.Was.Text))
				fmt.Fprintln(w)
				continue
			}
			left, right := wrapped(r.Was, r.Was.Old, half), wrapped(r.Is, r.Is.New, half)
			for i := range max(len(left), len(right)) {
				side(w, r.Was, left, i, half, kit.Red)
				io.WriteString(w, " │ ") //nolint:errcheck // the terminal
				side(w, r.Is, right, i, 0, kit.Green)
				fmt.Fprintln(w)
			}
		}
	}
}

// wrapped is one side of a row, in lines of its column.
func wrapped(l unified.Line, no, width int) (out []string) {
	if l.Op == 0 {
		return nil
	}
	text := []rune(strings.ReplaceAll(kit.Visible(l.Text), "\t", "    "))
	head := fmt.Sprintf("%*d %c ", before-3, no, l.Op)
	for {
		n := min(len(text), width-before)
		out = append(out, head+string(text[:n]))
		if text = text[n:]; len(text) == 0 {
			return out
		}
		head = strings.Repeat(" ", before)
	}
}

// side prints one line of one side, filled up to a width.
func side(w io.Writer, l unified.Line, lines []string, i, width int, c kit.Colour) {
	text := ""
	if i < len(lines) {
		text = lines[i]
	}
	if fill := width - len([]rune(text)); fill > 0 {
		text += strings.Repeat(" ", fill)
	}
	if l.Op == '+' || l.Op == '-' {
		kit.Paint(w, c, text)
		return
	}
	io.WriteString(w, text) //nolint:errcheck // the terminal
}
