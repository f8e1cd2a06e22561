package workcopy

import (
	"bufio"
	"bytes"
	"io"
)

// LineEnds is how ends of lines are treated between files and the repository.
type LineEnds uint8

// The ways to treat ends of lines.
const (
	KeepEnds  LineEnds = iota // as they are
	UnixEnds                  // \r\n in a file becomes \n in the repository
	BothWays                  // and \n there becomes \r\n in a file
	probeSize = 8 << 10
)

// taken is a file's content as the repository keeps it.
func (l LineEnds) taken(data []byte) []byte {
	if l == KeepEnds || isBinary(data) {
		return data
	}
	return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
}

// written is a content as a file shows it.
func (l LineEnds) written(data []byte) []byte {
	if l != BothWays || isBinary(data) {
		return data
	}
	return bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
}

// writtenFrom is written for a content that is not held.
func (l LineEnds) writtenFrom(r io.Reader) (io.Reader, error) {
	if l != BothWays {
		return r, nil
	}
	b := bufio.NewReaderSize(r, 64<<10)
	start, err := b.Peek(probeSize)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if isBinary(start) {
		return b, nil
	}
	return &returns{r: b}, nil
}

// returns puts a \r before each \n that has none.
type returns struct {
	r    *bufio.Reader
	last byte
	line bool // a \n is to follow
}

// Read gives the next bytes.
func (e *returns) Read(p []byte) (n int, err error) {
	for n < len(p) {
		c := byte('\n')
		if e.line {
			e.line = false
		} else if c, err = e.r.ReadByte(); err != nil {
			return n, err
		} else if c == '\n' && e.last != '\r' {
			c, e.line = '\r', true
		}
		p[n], e.last = c, c
		n++
	}
	return n, nil
}

// isBinary guesses from the start: a zero byte, or a \r alone.
func isBinary(data []byte) bool {
	data = data[:min(len(data), probeSize)]
	if len(data) == probeSize && data[probeSize-1] == '\r' {
		data = data[:probeSize-1]
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return true
	}
	return bytes.Count(data, []byte("\r")) != bytes.Count(data, []byte("\r\n"))
}
