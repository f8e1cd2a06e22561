package repo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"tandem/internal/repo/diff"
)

// MarkerStyle is how a conflict is written into a file.
type MarkerStyle uint8

// The styles, by jj's names "diff", "diff-experimental", "snapshot" and "git".
const (
	DiffMarkers MarkerStyle = iota
	DiffFirstSnapshotMarkers
	SnapshotMarkers
	GitMarkers
)

// MinMarkerLen is the length of conflict markers unless a file's own lines
// look like longer ones.
const MinMarkerLen = 7

// The characters conflict markers are made of.
const (
	markStart     = '<'
	markEnd       = '>'
	markAdd       = '+'
	markRemove    = '-'
	markDiff      = '%'
	markNote      = '\\'
	markGitBase   = '|'
	markGitSwitch = '='
)

// FileConflict is a file in conflict, ready to be shown: simplified, its terms
// read.
type FileConflict struct {
	IDs      Merge[FileID] // simplified; "" where the file is absent
	Contents [][]byte
	Labels   Labels
	// Executable is the mode of the file that shows the conflict.
	Executable bool
}

// FileIDs are the ids of a conflict of files and absence, or not ok when a term
// is something else.
func FileIDs(v Merge[TreeValue]) (ids Merge[FileID], ok bool) {
	for _, t := range v {
		if !t.IsFile() && !t.IsAbsent() {
			return nil, false
		}
	}
	return MapMerge(v, TreeValue.FileID), true
}

// ReadFileConflict reads the terms of a file in conflict; nil when one is not
// a file, or is large: nobody reads lines of those.
func ReadFileConflict(ctx context.Context, s Store, v Merge[TreeValue], labels Labels) (*FileConflict, error) {
	c := FileConflictOf(v, labels)
	if c == nil {
		return nil, nil
	}
	var ok bool
	var err error
	if c.Contents, ok, err = readTerms(ctx, s, c.IDs); err != nil || !ok {
		return nil, err
	}
	return c, nil
}

// FileConflictOf is a file in conflict whose terms are not read; nil when one is not
// a file.
func FileConflictOf(v Merge[TreeValue], labels Labels) *FileConflict {
	ids, ok := FileIDs(v)
	if !ok {
		return nil
	}
	places := ids.simplifiedFrom()
	c := &FileConflict{IDs: pick(ids, places)}
	if len(labels) == len(ids) {
		c.Labels = MakeLabels(pick(Merge[string](labels), places))
	}
	c.Executable, _ = resolveExecutable(v)
	return c
}

// readTerms reads the terms of a conflict; it is not ok when one is large.
func readTerms(ctx context.Context, s Store, ids Merge[FileID]) (out [][]byte, ok bool, err error) {
	out = make([][]byte, len(ids))
	for i, id := range ids {
		if id == "" {
			continue
		}
		if out[i], ok, err = readSmall(ctx, s, id); err != nil || !ok {
			return nil, false, err
		}
	}
	return out, true, nil
}

// readSmall reads a file unless it is large.
func readSmall(ctx context.Context, s Store, id FileID) (data []byte, ok bool, err error) {
	r, size, err := s.OpenFile(ctx, id)
	if err != nil {
		return nil, false, err
	}
	defer r.Close()
	if size > LargeFile {
		return nil, false, nil
	}
	data = make([]byte, size)
	_, err = io.ReadFull(r, data)
	return data, err == nil, err
}

// HasLargeTerm says whether a conflict is one of files of which one is large.
func HasLargeTerm(ctx context.Context, s Store, v Merge[TreeValue]) (bool, error) {
	ids, ok := FileIDs(v)
	if !ok {
		return false, nil
	}
	_, ok, err := readTerms(ctx, s, ids.Simplify())
	return !ok, err
}

// resolveExecutable merges the x bits. Where the file is gone on balance, the
// bases decide if they agree.
func resolveExecutable(v Merge[TreeValue]) (executable, ok bool) {
	kind, ok := MapMerge(v, func(t TreeValue) Kind { return t.Kind }).Trivial()
	if !ok {
		return false, false
	}
	if kind != Absent {
		return kind == Executable, true
	}
	for _, t := range v.Removes() {
		if t.IsAbsent() {
			continue
		}
		if kind != Absent && t.Kind != kind {
			return false, false
		}
		kind = t.Kind
	}
	return kind == Executable, kind != Absent
}

// description begins the text of DescribeConflict.
const description = "Conflict:\n"

// DescribeConflict is the text that stands for a conflict that is not between
// files, or between large ones.
func DescribeConflict(v Merge[TreeValue], labels Labels) string {
	var b strings.Builder
	b.WriteString(description)
	line := func(verb string, t TreeValue, label string) {
		if t.IsAbsent() {
			return
		}
		kind := map[Kind]string{
			File: "file with id", Executable: "executable file with id", Symlink: "symlink with id",
			Subtree: "tree with id", Submodule: "Git submodule with id",
		}[t.Kind]
		fmt.Fprintf(&b, "  %s %s %x", verb, kind, t.ID)
		if label != "" {
			fmt.Fprintf(&b, " (%s)", label)
		}
		b.WriteByte('\n')
	}
	for i, t := range v.Removes() {
		line("Removing", t, labels.Remove(i))
	}
	for i, t := range v.Adds() {
		line("Adding", t, labels.Add(i))
	}
	return b.String()
}

// MarkerLen is the marker length that no line of the terms reaches.
func MarkerLen(terms [][]byte) int {
	longest := 0
	for _, t := range terms {
		for line := range bytes.Lines(t) {
			if _, n := parseMarker(line); n > longest {
				longest = n
			}
		}
	}
	return max(longest+4, MinMarkerLen)
}

// Materialize is the file as people see it: merged where it can be, the rest
// between markers of a length.
func (c *FileConflict) Materialize(style MarkerStyle, markerLen int) []byte {
	merged := MergeFiles(c.Contents)
	if data, ok := merged.Resolved(); ok {
		return data
	}
	w := &markerWriter{style: style, length: markerLen, eol: eolOf(c.Contents)}
	for _, h := range merged {
		if !h.IsResolved() {
			w.conflicts++
		}
	}
	n := 0
	for _, h := range merged {
		if h.IsResolved() {
			w.out.Write(h[0])
			continue
		}
		n++
		w.hunk(h, c.Labels, n)
	}
	return w.out.Bytes()
}

// eolOf is the line end that all terms use on their first line.
func eolOf(terms [][]byte) string {
	seen, crlf := false, false
	for _, t := range terms {
		i := bytes.IndexByte(t, '\n')
		if i < 0 {
			continue
		}
		this := i > 0 && t[i-1] == '\r'
		if seen && this != crlf {
			return "\n"
		}
		seen, crlf = true, this
	}
	if crlf {
		return "\r\n"
	}
	return "\n"
}

type markerWriter struct {
	out       bytes.Buffer
	style     MarkerStyle
	length    int
	eol       string
	conflicts int
}

// term is one side or base of a stretch in conflict.
type term struct {
	text  []byte
	label string
}

func (w *markerWriter) hunk(h FileHunk, labels Labels, n int) {
	ended := true
	for _, t := range h {
		ended = ended && (len(t) == 0 || t[len(t)-1] == '\n')
	}
	terms := make([]term, len(h))
	for i, t := range h {
		terms[i] = term{t, termLabel(labels, i, len(h))}
		if len(t) > 0 && t[len(t)-1] != '\n' {
			terms[i].label += " (no terminating newline)"
		}
		if !ended {
			// The last line end separates text and marker; that the end
			// marker has none says so to the reader.
			terms[i].text = append(t[:len(t):len(t)], w.eol...)
		}
	}
	if w.style == GitMarkers && len(terms) == 3 {
		w.git(terms)
	} else {
		w.jj(terms, fmt.Sprintf("conflict %d of %d", n, w.conflicts))
	}
	if ended {
		w.out.WriteString(w.eol)
	}
}

func termLabel(labels Labels, i, terms int) string {
	if l := labels.at(i); l != "" {
		return l
	}
	switch {
	case i%2 == 0:
		return fmt.Sprintf("side #%d", i/2+1)
	case terms == 3:
		return "base"
	}
	return fmt.Sprintf("base #%d", i/2+1)
}

func (w *markerWriter) marker(kind byte, text string) {
	for range w.length {
		w.out.WriteByte(kind)
	}
	if text != "" {
		w.out.WriteString(" " + text)
	}
}

func (w *markerWriter) section(kind byte, label string, text []byte) {
	w.marker(kind, label)
	w.out.WriteString(w.eol)
	w.out.Write(text)
}

func (w *markerWriter) git(t []term) {
	w.section(markStart, t[0].label, t[0].text)
	w.section(markGitBase, t[1].label, t[1].text)
	w.section(markGitSwitch, "", t[2].text)
	w.marker(markEnd, t[2].label)
}

func (w *markerWriter) jj(t []term, info string) {
	w.section(markStart, info, nil)
	snapshot := w.style != DiffMarkers
	if snapshot {
		w.section(markAdd, t[0].label, t[0].text)
	}
	for i := 1; i < len(t); i += 2 {
		base, side := t[i], t[i-1]
		if snapshot {
			side = t[i+1]
		}
		if w.style == SnapshotMarkers || w.style == GitMarkers {
			w.section(markRemove, base.label, base.text)
			w.section(markAdd, side.label, side.text)
			continue
		}
		changes := diff.ByLine(base.text, side.text).Hunks()
		if !snapshot {
			// One side is shown whole. It is this one if the next is closer to
			// the base.
			next := t[i+1]
			if other := diff.ByLine(base.text, next.text).Hunks(); diffSize(other) < diffSize(changes) {
				w.section(markAdd, side.label, side.text)
				w.diff(base, next, other)
				snapshot = true
				continue
			}
		}
		w.diff(base, side, changes)
	}
	if !snapshot {
		last := t[len(t)-1]
		w.section(markAdd, last.label, last.text)
	}
	w.marker(markEnd, info+" ends")
}

func diffSize(hunks []diff.Hunk) int {
	n := 0
	for _, h := range hunks {
		if !h.Matching {
			n += len(h.Contents[0]) + len(h.Contents[1])
		}
	}
	return n
}

func (w *markerWriter) diff(base, side term, hunks []diff.Hunk) {
	w.section(markDiff, "diff from: "+base.label, nil)
	w.section(markNote, "       to: "+side.label, nil)
	lines := func(prefix byte, text []byte) {
		for line := range bytes.Lines(text) {
			w.out.WriteByte(prefix)
			w.out.Write(line)
		}
	}
	for _, h := range hunks {
		if h.Matching {
			lines(' ', h.Contents[0])
			continue
		}
		lines('-', h.Contents[0])
		lines('+', h.Contents[1])
	}
}

// ConflictIsExecutable is the mode of a file that shows a conflict.
func ConflictIsExecutable(v Merge[TreeValue]) bool {
	x, _ := resolveExecutable(v)
	return x
}

// WithFileIDs gives the terms of a conflict of files new contents; modes stay.
// A term that was absent and has content now is a plain file.
func WithFileIDs(v Merge[TreeValue], ids Merge[FileID]) Merge[TreeValue] {
	out := make(Merge[TreeValue], len(v))
	for i, id := range ids {
		if id == "" {
			continue
		}
		out[i] = TreeValue{File, string(id)}
		if v[i].Kind == Executable {
			out[i].Kind = Executable
		}
	}
	return out
}
