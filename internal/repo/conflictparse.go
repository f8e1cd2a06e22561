package repo

import (
	"bytes"
	"context"
)

// parseMarker reads a line as a conflict marker: its character and length, or
// length 0 when it is none.
func parseMarker(line []byte) (kind byte, length int) {
	if len(line) == 0 || bytes.IndexByte([]byte(`<>+-%\|=`), line[0]) < 0 {
		return 0, 0
	}
	for length < len(line) && line[length] == line[0] {
		length++
	}
	if length < len(line) {
		switch line[length] {
		case ' ', '\t', '\n', '\r', '\f':
		default:
			return 0, 0
		}
	}
	return line[0], length
}

func markerOf(line []byte, minLen int) byte {
	if kind, n := parseMarker(line); n >= minLen && n > 0 {
		return kind
	}
	return 0
}

// ParseConflict reads a file with conflict markers back into stretches. It is
// nil when there is no conflict with so many sides in it. Markers shorter than
// markerLen are text.
func ParseConflict(data []byte, sides, markerLen int) FileMerge {
	var out FileMerge
	at, resolvedFrom := 0, 0
	start, body, crlf := -1, 0, false
	for line := range bytes.Lines(data) {
		next := at + len(line)
		switch markerOf(line, markerLen) {
		case markStart:
			start, body, crlf = at, next, bytes.HasSuffix(line, []byte("\r\n"))
		case markEnd:
			if start < 0 {
				break
			}
			hunk := parseHunk(data[body:at], markerLen)
			if len(hunk) == 2*sides-1 {
				if resolvedFrom < start {
					out = append(out, FileHunk{data[resolvedFrom:start]})
				}
				if !bytes.HasSuffix(line, []byte("\n")) {
					unspread(hunk, crlf)
				}
				out = append(out, hunk)
				resolvedFrom = next
			}
			start = -1
		}
		at = next
	}
	if len(out) > 0 && resolvedFrom < len(data) {
		out = append(out, FileHunk{data[resolvedFrom:]})
	}
	return out
}

// unspread takes away the line end that only separated text and marker.
func unspread(h FileHunk, crlf bool) {
	for i, t := range h {
		t, ok := bytes.CutSuffix(t, []byte("\n"))
		if ok && crlf {
			t = bytes.TrimSuffix(t, []byte("\r"))
		}
		h[i] = t
	}
}

// parseHunk reads what stands between a start and an end marker, in either
// way of writing; nil when it is neither.
func parseHunk(body []byte, markerLen int) FileHunk {
	first, _, _ := bytes.Cut(body, []byte("\n"))
	switch markerOf(first, markerLen) {
	case markDiff, markRemove, markAdd:
		return parseJJHunk(body, markerLen)
	case 0, markGitBase:
		return parseGitHunk(body, markerLen)
	}
	return nil
}

func parseJJHunk(body []byte, markerLen int) FileHunk {
	var removes, adds [][]byte
	state := byte(0)
	for line := range bytes.Lines(body) {
		switch kind := markerOf(line, markerLen); kind {
		case markDiff:
			state = kind
			removes, adds = append(removes, []byte{}), append(adds, []byte{})
			continue
		case markRemove:
			state = kind
			removes = append(removes, []byte{})
			continue
		case markAdd:
			state = kind
			adds = append(adds, []byte{})
			continue
		case markNote:
			continue
		}
		r, a := len(removes)-1, len(adds)-1
		switch state {
		case markRemove:
			removes[r] = append(removes[r], line...)
		case markAdd:
			adds[a] = append(adds[a], line...)
		case markDiff:
			text := line[1:]
			switch line[0] {
			case '-':
				removes[r] = append(removes[r], text...)
			case '+':
				adds[a] = append(adds[a], text...)
			case ' ':
				removes[r], adds[a] = append(removes[r], text...), append(adds[a], text...)
			case '\n', '\r':
				// Some editors strip the space of an empty line.
				if s := string(line); s != "\n" && s != "\r\n" {
					return nil
				}
				removes[r], adds[a] = append(removes[r], line...), append(adds[a], line...)
			default:
				return nil
			}
		default:
			return nil
		}
	}
	if len(adds) != len(removes)+1 {
		return nil
	}
	out := FileHunk{adds[0]}
	for i, r := range removes {
		out = append(out, r, adds[i+1])
	}
	return out
}

func parseGitHunk(body []byte, markerLen int) FileHunk {
	out := FileHunk{{}, {}, {}}
	at := 0
	for line := range bytes.Lines(body) {
		switch markerOf(line, markerLen) {
		case markGitBase:
			if at != 0 {
				return nil
			}
			at = 1
			continue
		case markGitSwitch:
			if at != 1 {
				return nil
			}
			at = 2
			continue
		}
		out[at] = append(out[at], line...)
	}
	if at != 2 {
		return nil
	}
	return out
}

// UpdateConflict reads a file that showed a conflict back into one: markers
// that are left are still conflicts, and one without any is resolved. An
// untouched file gives back the very ids.
func UpdateConflict(ctx context.Context, s Store, ids Merge[FileID], data []byte, markerLen int) (Merge[FileID], error) {
	simple := ids.Simplify()
	terms, ok, err := readTerms(ctx, s, simple)
	if err != nil {
		return nil, err
	}
	if !ok {
		if bytes.HasPrefix(data, []byte(description)) || ParseConflict(data, simple.Sides(), markerLen) != nil {
			return ids, nil // what stands for large files, not what somebody put in their place
		}
		id, err := s.PutFile(ctx, data)
		return Merge[FileID]{id}, err
	}
	was := MergeFiles(terms)
	now := ParseConflict(data, simple.Sides(), markerLen)
	if whole, ok := was.Resolved(); ok && now == nil && bytes.Equal(whole, data) {
		return ids, nil
	} else if !ok && now != nil && sameHunks(was, now) {
		return ids, nil
	}
	if now == nil {
		id, err := s.PutFile(ctx, data)
		return Merge[FileID]{id}, err
	}
	contents := make([][]byte, len(simple))
	for _, h := range now {
		for i := range contents {
			if h.IsResolved() {
				contents[i] = append(contents[i], h[0]...)
			} else {
				contents[i] = append(contents[i], h[i]...)
			}
		}
	}
	out := make(Merge[FileID], len(simple))
	for i, text := range contents {
		if simple[i] == "" && len(text) == 0 {
			continue // the missing side is still missing
		}
		if out[i], err = s.PutFile(ctx, text); err != nil {
			return nil, err
		}
	}
	if len(out) == len(ids) {
		return out, nil
	}
	return ids.UpdateFromSimplified(out), nil
}

func sameHunks(a, b FileMerge) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if len(a[i]) != len(b[i]) {
			return false
		}
		for k := range a[i] {
			if !bytes.Equal(a[i][k], b[i][k]) {
				return false
			}
		}
	}
	return true
}
