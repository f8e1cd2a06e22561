package ui

// DiffRow is a line of a diff that is shown side by side: what was, and what
// is. A side without a line has Op 0; a gap stands on the left alone.
type DiffRow struct{ Was, Is DiffLine }

// Beside puts the lines of a diff side by side: of what was replaced, the first
// line stands beside the first that came for it, and so on.
func Beside(lines []DiffLine) []DiffRow {
	var out []DiffRow
	for i := 0; i < len(lines); {
		gone := run(lines[i:], '-')
		come := run(lines[i+len(gone):], '+')
		for k := range max(len(gone), len(come)) {
			var r DiffRow
			if k < len(gone) {
				r.Was = gone[k]
			}
			if k < len(come) {
				r.Is = come[k]
			}
			out = append(out, r)
		}
		if i += len(gone) + len(come); len(gone)+len(come) > 0 {
			continue
		}
		r := DiffRow{Was: lines[i]}
		if lines[i].Op == ' ' {
			r.Is = lines[i]
		}
		out = append(out, r)
		i++
	}
	return out
}

// run is the lines at the beginning that have an op.
func run(lines []DiffLine, op byte) []DiffLine {
	n := 0
	for n < len(lines) && lines[n].Op == op {
		n++
	}
	return lines[:n]
}

// half is the class of one side of a row.
func half(l DiffLine) string {
	if l.Op == 0 {
		return "none"
	}
	return l.class()
}
