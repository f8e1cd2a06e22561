package kit

import (
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"tandem/internal/unified"
)

// Colour is how a word is set apart on a terminal that has colours.
type Colour string

// The colours that commands use. What they say also stands in words: nobody needs to see them.
const (
	Red    Colour = "31"
	Green  Colour = "32"
	Yellow Colour = "33"
	Cyan   Colour = "36"
	Bold   Colour = "1"
	Dim    Colour = "2"
)

// colours says whether a stream shows colours: it is a terminal that has them, and nobody asked to go without.
func (k *Kit) colours(w io.Writer) bool {
	if k.NoColour || !isTerminal(w) {
		return false
	}
	for _, kv := range k.Env {
		name, v, _ := strings.Cut(kv, "=")
		if name == "NO_COLOR" && v != "" || name == "TERM" && (v == "dumb" || v == "") {
			return false
		}
	}
	return true
}

// Screen is Screen for a stream of this command, with colours where it shows them.
func (k *Kit) Screen(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok && isTerminal(f) {
		return screen{w, k.colours(w)}
	}
	return w
}

// Paint writes a text in a colour where w is a screen that has colours, and plainly elsewhere. What somebody else wrote stays
// visible in it and gives itself no colour.
func Paint(w io.Writer, c Colour, text string) {
	if s, ok := w.(screen); ok && s.colours {
		io.WriteString(s.w, painted(c, text)) //nolint:errcheck // as with any print
		return
	}
	io.WriteString(w, text) //nolint:errcheck // as with any print
}

// painted is a text in a colour, line by line, so that none goes on behind the end of a line.
func painted(c Colour, text string) string {
	lines := strings.Split(Visible(text), "\n")
	for i, l := range lines {
		if l != "" {
			lines[i] = "\x1b[" + string(c) + "m" + l + "\x1b[0m"
		}
	}
	return strings.Join(lines, "\n")
}

// Table is for columns, the first line of which is their heading.
func Table(w io.Writer) *tabwriter.Writer {
	return tabwriter.NewWriter(&heading{w: w}, 0, 0, 2, ' ', 0)
}

// heading sets the first line apart, which comes in pieces.
type heading struct {
	w     io.Writer
	first strings.Builder
	over  bool
}

func (h *heading) Write(p []byte) (int, error) {
	if h.over {
		return h.w.Write(p)
	}
	before, rest, over := strings.Cut(string(p), "\n")
	h.first.WriteString(before)
	if h.over = over; !over {
		return len(p), nil
	}
	Paint(h.w, Bold, h.first.String())
	_, err := io.WriteString(h.w, "\n"+rest)
	return len(p), err
}

// Diff writes a unified diff, what goes and what comes set apart, and what of a line that was replaced is another.
func Diff(w io.Writer, text string) {
	var lines []unified.Line
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		l := unified.Line{Op: ' ', Text: line}
		if line != "" && (line[0] == '+' || line[0] == '-') && !strings.HasPrefix(line, "+++ ") && !strings.HasPrefix(line, "--- ") {
			l.Op, l.Text = line[0], line[1:]
		}
		lines = append(lines, l)
	}
	for _, l := range unified.Marked(lines) {
		switch {
		case l.Op == '+':
			signed(w, Green, l)
		case l.Op == '-':
			signed(w, Red, l)
		case strings.HasPrefix(l.Text, "@@"):
			Paint(w, Cyan, l.Text)
		case strings.HasPrefix(l.Text, "+++ "), strings.HasPrefix(l.Text, "--- "), strings.HasPrefix(l.Text, "diff --git "):
			Paint(w, Bold, l.Text)
		default:
			io.WriteString(w, l.Text) //nolint:errcheck // as with any print
		}
		io.WriteString(w, "\n") //nolint:errcheck // as with any print
	}
}

// signed writes a line that came or went in a colour, what of it is another set apart.
func signed(w io.Writer, c Colour, l unified.Line) {
	rest, at := string(l.Op)+l.Text, 0
	for _, m := range l.Marks {
		Paint(w, c, rest[at:m.From+1])
		Paint(w, "1;4;"+c, rest[m.From+1:m.To+1])
		at = m.To + 1
	}
	Paint(w, c, rest[at:])
}
