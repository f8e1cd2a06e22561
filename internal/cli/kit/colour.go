package kit

import (
	"io"
	"os"
	"strings"
	"text/tabwriter"
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

// Diff writes a unified diff, what goes and what comes set apart.
func Diff(w io.Writer, text string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		switch {
		case strings.HasPrefix(line, "+"):
			Paint(w, Green, line)
		case strings.HasPrefix(line, "-"):
			Paint(w, Red, line)
		case strings.HasPrefix(line, "@@"):
			Paint(w, Cyan, line)
		default:
			io.WriteString(w, line) //nolint:errcheck // as with any print
		}
	}
}
