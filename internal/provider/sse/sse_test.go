package sse

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func all(r *Reader) ([]Event, error) {
	var out []Event
	for {
		e, err := r.Next()
		if err != nil {
			return out, err
		}
		out = append(out, e)
	}
}

func TestReader(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []Event
	}{
		{"plain", "event: a\ndata: 1\n\n", []Event{{Name: "a", Data: []byte("1")}}},
		{"joined lines", "data: a\ndata:b\ndata\n\n", []Event{{Data: []byte("a\nb\n")}}},
		{"carriage returns", "data: a\r\rdata: b\r\n\r\n", []Event{{Data: []byte("a")}, {Data: []byte("b")}}},
		{"comment and unknown field", ": keep\nretry: 3\nfoo: x\ndata: y\n\n", []Event{{Data: []byte("y")}}},
		{"id", "id: 7.2\ndata: y\n\n", []Event{{ID: "7.2", Data: []byte("y")}}},
		{"byte order mark", "\ufeffdata: y\n\n", []Event{{Data: []byte("y")}}},
		{"name without data is not an event", "event: ping\n\ndata: y\n\n", []Event{{Data: []byte("y")}}},
		{"only one space goes", "data:  y\n\n", []Event{{Data: []byte(" y")}}},
		{"cut event is dropped", "data: y\n\ndata: half", []Event{{Data: []byte("y")}}},
		{"cut before the empty line", "data: y\n\ndata: whole line\n", []Event{{Data: []byte("y")}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := all(NewReader(strings.NewReader(c.in), 0))
			if !errors.Is(err, io.EOF) {
				t.Fatalf("end: %v", err)
			}
			same(t, got, c.want)
		})
	}
}

func TestReaderRefusesLargeEvents(t *testing.T) {
	in := "data: " + strings.Repeat("x", 100) + "\n\n"
	if _, err := NewReader(strings.NewReader(in), 50).Next(); !errors.Is(err, ErrTooLarge) {
		t.Fatalf("one long line: %v", err)
	}
	many := strings.Repeat("data: 0123456789\n", 10) + "\n"
	if _, err := NewReader(strings.NewReader(many), 50).Next(); !errors.Is(err, ErrTooLarge) {
		t.Fatalf("many lines: %v", err)
	}
}

func same(t *testing.T, got, want []Event) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d events %q, want %d", len(got), got, len(want))
	}
	for i := range got {
		if got[i].Name != want[i].Name || got[i].ID != want[i].ID || !bytes.Equal(got[i].Data, want[i].Data) {
			t.Fatalf("event %d: got %q, want %q", i, got[i], want[i])
		}
	}
}

// FuzzReader holds two laws: how the bytes are cut into reads does not matter, and what was decoded decodes to itself
// when it is written out again.
func FuzzReader(f *testing.F) {
	f.Add([]byte("event: a\ndata: 1\n\n"))
	f.Add([]byte("data: a\r\ndata\r\rid: 3\ndata:\n\n"))
	f.Add([]byte("\ufeff: c\ndata: {\"x\":\"\\n\"}\n\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := all(NewReader(bytes.NewReader(in), 1<<10))
		slow, errSlow := all(NewReader(iotest.OneByteReader(bytes.NewReader(in)), 1<<10))
		if !errors.Is(err, errSlow) {
			t.Fatalf("whole %v, byte by byte %v", err, errSlow)
		}
		same(t, slow, got)
		var out bytes.Buffer
		for _, e := range got {
			if e.Name != "" {
				out.WriteString("event: " + e.Name + "\n")
			}
			if e.ID != "" {
				out.WriteString("id: " + e.ID + "\n")
			}
			for l := range bytes.SplitSeq(e.Data, []byte("\n")) {
				out.WriteString("data: " + string(l) + "\n")
			}
			out.WriteByte('\n')
		}
		again, _ := all(NewReader(&out, 0))
		same(t, again, got)
	})
}
