package unified

// Row is a line of a diff that is shown side by side: what was, and what
// is. A side without a line has Op 0; a gap stands on the left alone.
type Row struct{ Was, Is Line }

// Beside puts the lines of a diff side by side: of what was replaced, the first
// line stands beside the first that came for it, and so on.
func Beside(lines []Line) []Row {
	var out []Row
	for i := 0; i < len(lines); {
		gone := run(lines[i:], '-')
		come := run(lines[i+len(gone):], '+')
		for k := range max(len(gone), len(come)) {
			var r Row
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
		r := Row{Was: lines[i]}
		if lines[i].Op == ' ' {
			r.Is = lines[i]
		}
		out = append(out, r)
		i++
	}
	return out
}

// run is the lines at the beginning that have an op.
func run(lines []Line, op byte) []Line {
	n := 0
	for n < len(lines) && lines[n].Op == op {
		n++
	}
	return lines[:n]
}
