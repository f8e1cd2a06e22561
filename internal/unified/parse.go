// Package unified reads unified diffs, as git and repositories write them, for whoever shows them: line by line, side by side, with what
// of a line is another, and with what a word of the code is. It never leaves out what it does not understand. Pure.
package unified

import (
	"fmt"
	"regexp"
	"strings"
)

// Line is a line of a diff: Op is ' ', '+', '-' or '@' (a gap).
type Line struct {
	Op       byte
	Old, New int // line numbers, 0 where the line does not exist
	Text     string
	Marks    []Mark // what of it differs from the line that it stands for
}

// File is one file of a unified diff.
type File struct {
	Path  string
	Lines []Line
}

// Parse reads a unified diff as tools and repositories write it: files
// begin with "diff --git" or "--- ", pieces with "@@". What it does not know it
// shows as a gap, so that nothing of the text is left out.
func Parse(text string) []File {
	var out []File
	var file *File
	named := false // by git's own line, and its sides did not come yet
	was, is, inPiece := 0, 0, false
	lines := splitLines(text)
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		if strings.HasPrefix(l, "--- ") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "+++ ") &&
			(!inPiece || i+2 < len(lines) && strings.HasPrefix(lines[i+2], "@@")) {
			path := sidePath(lines[i+1])
			if path == "/dev/null" {
				path = sidePath(l)
			}
			if named {
				file.Path, named = path, false
			} else {
				out = append(out, File{Path: path})
			}
			file, inPiece = &out[len(out)-1], false
			i++
			continue
		}
		if names, ok := strings.CutPrefix(l, "diff --git "); ok { // no line of a piece begins so
			out = append(out, File{Path: gitPath(names)})
			file, inPiece, named = &out[len(out)-1], false, true
			continue
		}
		if named && twoBlobs.MatchString(l) {
			continue
		}
		if to, ok := strings.CutPrefix(l, "rename to "); ok && named {
			file.Path = to
		}
		if file == nil {
			continue
		}
		add := func(op byte, text string) {
			d := Line{Op: op, Text: text}
			if op == ' ' || op == '-' {
				d.Old, was = was, was+1
			}
			if op == ' ' || op == '+' {
				d.New, is = is, is+1
			}
			file.Lines = append(file.Lines, d)
		}
		switch {
		case strings.HasPrefix(l, "@@"):
			was, is = pieceStart(l, lines[i+1:])
			inPiece = true
			if len(file.Lines) > 0 || was > 1 {
				file.Lines = append(file.Lines, Line{Op: '@', Text: strings.Trim(l, "@ ")})
			}
		case l == "":
			add(' ', "")
		case l[0] == ' ' || l[0] == '+' || l[0] == '-':
			add(l[0], l[1:])
		default:
			file.Lines = append(file.Lines, Line{Op: '@', Text: l})
		}
	}
	return out
}

// twoBlobs is git's line with the names of what a file was and is.
var twoBlobs = regexp.MustCompile(`^index [0-9a-f]+\.\.[0-9a-f]+( [0-7]+)?$`)

// gitPath is the name in "a/name b/name". Where the two differ, any " b/" may be part of a name: they are shown as they are.
func gitPath(names string) string {
	half := len(names) / 2
	was, ok := strings.CutPrefix(names[:half], "a/")
	if is, same := strings.CutPrefix(names[half:], " b/"); ok && same && was == is {
		return is
	}
	return names
}

func sidePath(l string) string {
	path, _, _ := strings.Cut(l[4:], "\t")
	for _, side := range []string{"a/", "b/"} {
		if rest, ok := strings.CutPrefix(path, side); ok {
			return rest
		}
	}
	return path
}

// pieceStart is where a piece begins: "@@ -a,b +c,d @@", or "@@ line n @@",
// where n is the first line that changed.
func pieceStart(head string, rest []string) (was, is int) {
	var n int
	if _, err := fmt.Sscanf(head, "@@ line %d @@", &n); err == nil {
		for _, l := range rest {
			if !strings.HasPrefix(l, " ") {
				break
			}
			n--
		}
		return max(n, 1), max(n, 1)
	}
	for _, f := range strings.Fields(head) {
		switch {
		case strings.HasPrefix(f, "-"):
			fmt.Sscanf(f[1:], "%d", &was)
		case strings.HasPrefix(f, "+"):
			fmt.Sscanf(f[1:], "%d", &is)
		}
	}
	return max(was, 1), max(is, 1)
}
