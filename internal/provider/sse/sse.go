// Package sse reads server-sent events as the HTML standard defines them: any of the three line ends, fields in any
// order, comments skipped. It owns nothing but a buffer, and refuses an event that is larger than its limit instead
// of cutting it, because half of a JSON text is worse than an error.
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// ErrTooLarge says that one event passed the limit.
var ErrTooLarge = errors.New("server-sent event is larger than the limit")

// DefaultLimit bounds one event when NewReader is given no limit.
const DefaultLimit = 16 << 20

// Event is one dispatched event.
type Event struct {
	Name string // the event field, "" when there was none
	ID   string // the id field of this event, "" when there was none
	Data []byte // the data lines joined by a newline
}

// Reader decodes a stream.
type Reader struct {
	in    *bufio.Reader
	limit int
	first bool
	skip  bool // the last line ended with CR: a LF that follows belongs to it
}

// NewReader reads events from r. A limit of 0 means DefaultLimit.
func NewReader(r io.Reader, limit int) *Reader {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Reader{in: bufio.NewReader(r), limit: limit, first: true}
}

// Next returns the next event that carries data. At the end of the stream it returns io.EOF; an event that was not
// closed by an empty line is dropped, as the standard says, so a cut stream never yields half an event.
func (r *Reader) Next() (Event, error) {
	var ev Event
	var data bytes.Buffer
	has := false
	size := 0
	for {
		line, err := r.line(r.limit - size)
		if err != nil {
			return Event{}, err
		}
		size += len(line)
		if len(line) == 0 {
			if !has {
				ev, size = Event{}, 0
				continue
			}
			ev.Data = data.Bytes()
			return ev, nil
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			if has {
				data.WriteByte('\n')
			}
			data.Write(value)
			has = true
		case "event":
			ev.Name = string(value)
		case "id":
			if !bytes.ContainsRune(value, 0) {
				ev.ID = string(value)
			}
		}
	}
}

// line reads up to CR, LF or CRLF and returns the line without its end.
func (r *Reader) line(limit int) ([]byte, error) {
	var out []byte
	for {
		b, err := r.in.ReadByte()
		if err != nil {
			return nil, err
		}
		if r.skip {
			r.skip = false
			if b == '\n' {
				continue
			}
		}
		if b == '\r' || b == '\n' {
			r.skip = b == '\r'
			if r.first {
				r.first = false
				out = bytes.TrimPrefix(out, []byte("\ufeff"))
			}
			return out, nil
		}
		if len(out) >= limit {
			return nil, ErrTooLarge
		}
		out = append(out, b)
	}
}
