package decode

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Limits bound what reading one document may take. A zero is the default.
type Limits struct {
	Input    int // bytes of the file
	Unpacked int // bytes of all that is packed inside it, together
	Ratio    int // how many bytes one packed byte may become, beyond the first megabyte
	Text     int // bytes of text that come out
	Parts    int
	Depth    int // of elements, values or messages inside each other
	// Skip are files of an archive that nobody reads, by their names, and that are not named either.
	Skip func(name string) bool
}

func (l Limits) filled() Limits {
	for _, f := range []struct {
		at *int
		is int
	}{{&l.Input, 64 << 20}, {&l.Unpacked, 256 << 20}, {&l.Ratio, 200}, {&l.Text, 16 << 20}, {&l.Parts, 50_000}, {&l.Depth, 256}} {
		if *f.at <= 0 {
			*f.at = f.is
		}
	}
	return l
}

// Refused is why a document gives no text, in words for the person who brought it.
type Refused struct{ Reason string }

func (r *Refused) Error() string { return r.Reason }

func refused(format string, args ...any) error { return &Refused{fmt.Sprintf(format, args...)} }

// writer collects the parts of one document, and ends with an error at the first limit.
type writer struct {
	ctx      context.Context
	limits   Limits
	nested   int // how many documents this one is inside of
	name     string
	doc      *Document
	written  int
	unpacked int
}

// part adds a stretch of text. Blank ones are no parts.
func (w *writer) part(place, text string) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	place, text = legible(place), tidy(legible(text))
	if text == "" {
		return nil
	}
	if w.written += len(text) + len(place); w.written > w.limits.Text {
		return refused("it has more than %d bytes of text", w.limits.Text)
	}
	if len(w.doc.Parts) == w.limits.Parts {
		return refused("it has more than %d parts", w.limits.Parts)
	}
	w.doc.Parts = append(w.doc.Parts, Part{Place: place, Text: text})
	return nil
}

// left says once what was left out.
func (w *writer) left(format string, args ...any) {
	const most = 200
	if s := fmt.Sprintf(format, args...); len(w.doc.Left) < most && !slices.Contains(w.doc.Left, s) {
		w.doc.Left = append(w.doc.Left, s)
	}
}

func (w *writer) deep(n int) error {
	if n > w.limits.Depth {
		return refused("it is nested more than %d deep", w.limits.Depth)
	}
	return nil
}

// legible is text that every database keeps: what is no UTF-8, and a zero byte, is shown as such.
func legible(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
}

// tidy takes blanks off the ends of lines, and all but one of several empty lines.
func tidy(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	var b strings.Builder
	empty := 0
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimRight(line, " \t\r\u00a0")
		if line == "" {
			empty++
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n")
			if empty > 0 {
				b.WriteString("\n")
			}
		}
		empty = 0
		b.WriteString(line)
	}
	return b.String()
}
