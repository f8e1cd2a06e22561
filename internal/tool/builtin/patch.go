package builtin

import (
	"slices"
	"strings"

	"tandem/internal/fault"
)

// fileChange is what a patch does to one file.
type fileChange struct {
	verb  string // add, update or delete
	path  string
	to    string // the new name of an updated file, "" when it stays
	added string // content of an added file
	hunks []hunk
}

// hunk replaces a run of lines.
type hunk struct {
	below    string // a line that stands somewhere above the place, "" for none
	old, new []string
	atEnd    bool // the old lines are the file's last
}

const (
	patchBegin  = "*** Begin Patch"
	patchEnd    = "*** End Patch"
	patchAdd    = "*** Add File: "
	patchUpdate = "*** Update File: "
	patchDelete = "*** Delete File: "
	patchMove   = "*** Move to: "
	patchEOF    = "*** End of File"
)

func badPatch(format string, args ...any) error {
	return fault.New(fault.Invalid, "apply_patch", format, args...).WithNext("the form of a patch is in the tool's description")
}

// parsePatch reads a patch. It looks at no file.
func parsePatch(text string) ([]fileChange, error) {
	lines := strings.Split(strings.ReplaceAll(strings.TrimSpace(text), "\r\n", "\n"), "\n")
	if len(lines) < 3 || lines[0] != patchBegin || lines[len(lines)-1] != patchEnd {
		return nil, badPatch("a patch begins with %q and ends with %q", patchBegin, patchEnd)
	}
	var out []fileChange
	for rest := lines[1 : len(lines)-1]; len(rest) > 0; {
		var c fileChange
		var err error
		if c, rest, err = parseFile(rest); err != nil {
			return nil, err
		}
		if strings.TrimSpace(c.path) == "" {
			return nil, badPatch("a file has no name")
		}
		out = append(out, c)
	}
	return out, nil
}

func parseFile(lines []string) (fileChange, []string, error) {
	head, rest := lines[0], lines[1:]
	if name, ok := strings.CutPrefix(head, patchAdd); ok {
		c := fileChange{verb: "add", path: name}
		for len(rest) > 0 && strings.HasPrefix(rest[0], "+") {
			c.added += rest[0][1:] + "\n"
			rest = rest[1:]
		}
		return c, rest, nil
	}
	if name, ok := strings.CutPrefix(head, patchDelete); ok {
		return fileChange{verb: "delete", path: name}, rest, nil
	}
	name, ok := strings.CutPrefix(head, patchUpdate)
	if !ok {
		return fileChange{}, nil, badPatch("%.80q begins no file", head)
	}
	c := fileChange{verb: "update", path: name}
	if len(rest) > 0 {
		if to, ok := strings.CutPrefix(rest[0], patchMove); ok {
			c.to, rest = to, rest[1:]
		}
	}
	for len(rest) > 0 && !beginsFile(rest[0]) {
		var h hunk
		var err error
		if h, rest, err = parseHunk(rest, len(c.hunks) == 0); err != nil {
			return c, nil, err
		}
		c.hunks = append(c.hunks, h)
	}
	if len(c.hunks) == 0 && c.to == "" {
		return c, nil, badPatch("nothing is changed in %s", name)
	}
	return c, rest, nil
}

func beginsFile(line string) bool {
	return strings.HasPrefix(line, patchAdd) || strings.HasPrefix(line, patchUpdate) || strings.HasPrefix(line, patchDelete)
}

// parseHunk reads one hunk. The first of a file may leave its @@ line out.
func parseHunk(lines []string, first bool) (h hunk, rest []string, err error) {
	rest = lines
	if strings.HasPrefix(rest[0], "@@") {
		h.below = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest[0][2:]), "@@"))
		rest = rest[1:]
	} else if !first {
		return h, nil, badPatch("a change begins with @@, not with %.80q", rest[0])
	}
	changed := false
	for len(rest) > 0 && !strings.HasPrefix(rest[0], "@@") && !beginsFile(rest[0]) {
		line := rest[0]
		rest = rest[1:]
		switch {
		case line == patchEOF:
			h.atEnd = true
		case line == "":
			h.old, h.new = append(h.old, ""), append(h.new, "")
		case line[0] == ' ':
			h.old, h.new = append(h.old, line[1:]), append(h.new, line[1:])
		case line[0] == '-':
			h.old, changed = append(h.old, line[1:]), true
		case line[0] == '+':
			h.new, changed = append(h.new, line[1:]), true
		default:
			return h, nil, badPatch("%.80q begins with neither a blank, - nor +", line)
		}
	}
	if !changed {
		return h, nil, badPatch("a change adds and removes nothing")
	}
	return h, rest, nil
}

// apply makes a file's new text.
func (c fileChange) apply(text string) (string, error) {
	ended := strings.HasSuffix(text, "\n") || text == ""
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if text == "" {
		lines = nil
	}
	at := 0
	for i, h := range c.hunks {
		if h.below != "" {
			k := slices.IndexFunc(lines[at:], func(l string) bool { return strings.TrimSpace(l) == h.below })
			if k < 0 {
				return "", c.misfit(i, "has no line "+h.below+" behind the change before it")
			}
			at += k + 1
		}
		if len(h.old) == 0 {
			if h.below == "" {
				at = len(lines)
			}
			lines = slices.Insert(lines, at, h.new...)
			at += len(h.new)
			continue
		}
		k := place(lines, h, at)
		if k < 0 {
			return "", c.misfit(i, "does not hold these lines: "+strings.Join(h.old, "\n"))
		}
		lines = slices.Replace(lines, k, k+len(h.old), h.new...)
		at = k + len(h.new)
	}
	out := strings.Join(lines, "\n")
	if ended && len(lines) > 0 {
		out += "\n"
	}
	return out, nil
}

func (c fileChange) misfit(n int, why string) error {
	return fault.New(fault.Conflict, "apply_patch", "change %d does not fit: %s %.400s", n+1, c.path, why).
		WithNext("read the file again and copy the lines exactly")
}

// place finds the old lines at or behind a line, exactly or, failing that, but for blanks at their ends.
func place(lines []string, h hunk, from int) int {
	for _, same := range []func(a, b string) bool{
		func(a, b string) bool { return a == b },
		func(a, b string) bool { return strings.TrimRight(a, " \t") == strings.TrimRight(b, " \t") },
	} {
		for k := from; k+len(h.old) <= len(lines); k++ {
			if h.atEnd && k+len(h.old) != len(lines) {
				continue
			}
			if slices.EqualFunc(lines[k:k+len(h.old)], h.old, same) {
				return k
			}
		}
	}
	return -1
}
