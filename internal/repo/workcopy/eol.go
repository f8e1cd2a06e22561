package workcopy

import "bytes"

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
