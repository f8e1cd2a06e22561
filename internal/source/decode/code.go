package decode

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// codeEnds are names of programs' sources.
var codeEnds = strings.Fields(`.go .py .js .mjs .cjs .ts .tsx .jsx .java .kt .kts .scala .rs .c .h .cc .cpp .hpp .cs .swift .rb .php .sh
	.bash .lua .ex .exs .hs .ml .sql .proto .dart .zig .css .scss .vue`)

// symbol finds the name in a line that begins a definition at the margin, whatever the language: words that say how, a word that says
// what, and, in Go, the receiver.
var symbol = regexp.MustCompile(`^(?:(?:` + oneOf(`export default pub(?:\([a-z]+\))? public private protected internal static final abstract
	async unsafe extern inline open sealed data override virtual const`) + `)\s+)*(?:` + oneOf(`func function\*? fn def defp defmodule
	class interface struct enum trait impl type module namespace object protocol extension record message service
	(?i:create)\s+(?i:table|view|function|index)`) + `)\s+((?:\([^)]*\)\s*)?[\p{L}_$][\p{L}\p{N}_$.:]*)`)

// arrow is a function that has its name from a constant.
var arrow = regexp.MustCompile(`^(?:export\s+)?(?:const|let|var)\s+(` + word + `)\s*=\s*(?:async\s*)?(?:\([^)]*\)|` + word + `)\s*=>`)

const word = `[\p{L}_$][\p{L}\p{N}_$]*`

func oneOf(words string) string { return strings.Join(strings.Fields(words), "|") }

// readCode makes a part of each definition at the margin, with the comment above it; a long one is cut by lines.
func readCode(w *writer, data []byte) error {
	s, err := plain(data)
	if err != nil {
		return err
	}
	w.doc.Title = clip(path.Base(w.name))
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	begin, name := 0, ""
	write := func(end int) error {
		for at := begin; at < end; at += 2 * linesPerPart {
			to := min(at+2*linesPerPart, end)
			place := fmt.Sprintf("lines %d-%d", at+1, to)
			if name != "" {
				place = name + ", " + place
			}
			if err := w.part(place, strings.Join(lines[at:to], "\n")); err != nil {
				return err
			}
		}
		return nil
	}
	for i, line := range lines {
		next := defined(line)
		if next == "" {
			continue
		}
		from := i
		for from > begin && isComment(lines[from-1]) {
			from--
		}
		if err := write(from); err != nil {
			return err
		}
		begin, name = from, next
	}
	return write(len(lines))
}

func defined(line string) string {
	if len(line) > 1000 || line == "" || line[0] == ' ' || line[0] == '\t' {
		return ""
	}
	if m := symbol.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	if m := arrow.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	return ""
}

// isComment tells whether a line belongs to what follows it.
func isComment(line string) bool {
	line = strings.TrimSpace(line)
	for _, begin := range []string{"//", "#", "--", "/*", "*", "@"} {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	return false
}
