package pdf

import (
	"bytes"
	"compress/lzw"
	"compress/zlib"
	"encoding/ascii85"
	"errors"
	"fmt"
	"io"
)

// ErrTooLarge is a file that unpacks to more than it may, or draws more.
var ErrTooLarge = errors.New("it unpacks to more than is allowed")

// unpack is what a stream holds. Filters of pictures are not read, and give nothing.
func (f *file) unpack(s stream) ([]byte, error) {
	filters, params := f.list(s.dict["Filter"]), f.list(s.dict["DecodeParms"])
	data := s.raw
	if len(filters) > 8 {
		return nil, errDamaged
	}
	for i, filter := range filters {
		r, ok := reader(f.name(filter), data)
		if !ok {
			return nil, nil
		}
		room := f.limits.Unpacked - f.unpacked
		out, err := io.ReadAll(io.LimitReader(r, int64(room)+1))
		if len(out) > room {
			return nil, ErrTooLarge
		}
		f.unpacked += len(out)
		if err != nil && len(out) == 0 {
			return nil, nil // broken off at once; whatever came before a fault is kept, as viewers do
		}
		if i < len(params) {
			out = f.predicted(out, f.dict(params[i]))
		}
		data = out
	}
	return data, nil
}

// list is one thing or several, as a list.
func (f *file) list(v any) array {
	switch v := f.at(v).(type) {
	case nil:
		return nil
	case array:
		return v
	default:
		return array{v}
	}
}

func reader(filter name, data []byte) (io.Reader, bool) {
	switch filter {
	case "FlateDecode", "Fl":
		r, err := zlib.NewReader(bytes.NewReader(data))
		return r, err == nil
	case "LZWDecode", "LZW":
		return lzw.NewReader(bytes.NewReader(data), lzw.MSB, 8), true
	case "ASCIIHexDecode", "AHx":
		l := lexer{data: append(bytes.Clone(data), '>')}
		return bytes.NewReader(l.hex()), true
	case "ASCII85Decode", "A85":
		data = bytes.TrimPrefix(bytes.TrimSpace(data), []byte("<~"))
		if i := bytes.IndexByte(data, '~'); i >= 0 {
			data = data[:i]
		}
		return ascii85.NewDecoder(bytes.NewReader(data)), true
	case "RunLengthDecode", "RL":
		return bytes.NewReader(runs(data)), true
	}
	return nil, false
}

func runs(data []byte) []byte {
	var out []byte
	for len(data) > 1 && data[0] != 128 && len(out) < 64<<20 {
		n := int(data[0])
		if n < 128 {
			end := min(n+2, len(data))
			out, data = append(out, data[1:end]...), data[end:]
			continue
		}
		out, data = append(out, bytes.Repeat(data[1:2], 257-n)...), data[2:]
	}
	return out
}

// predicted undoes that each row was written as its difference from the one above: tables of the file itself are.
func (f *file) predicted(data []byte, p dict) []byte {
	if f.number(p["Predictor"]) < 10 {
		return data
	}
	columns, colors, bits := f.number(p["Columns"]), max(1, f.number(p["Colors"])), f.number(p["BitsPerComponent"])
	if bits == 0 {
		bits = 8
	}
	size := int(columns*colors*bits+7) / 8
	step := max(1, int(colors*bits)/8)
	if size <= 0 || size > 1<<20 || step > size {
		return data
	}
	out := make([]byte, 0, len(data))
	above := make([]byte, size)
	for len(data) > size {
		row := bytes.Clone(data[1 : size+1])
		for i := range row {
			var left, corner byte
			if i >= step {
				left, corner = row[i-step], above[i-step]
			}
			row[i] += guess(data[0], left, above[i], corner)
		}
		out, above, data = append(out, row...), row, data[size+1:]
	}
	return out
}

func guess(kind, left, up, corner byte) byte {
	switch kind {
	case 1:
		return left
	case 2:
		return up
	case 3:
		return byte((int(left) + int(up)) / 2)
	case 4:
		p := int(left) + int(up) - int(corner)
		a, b, c := abs(p-int(left)), abs(p-int(up)), abs(p-int(corner))
		switch {
		case a <= b && a <= c:
			return left
		case b <= c:
			return up
		}
		return corner
	}
	return 0
}

func abs(n int) int { return max(n, -n) }

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errDamaged, fmt.Sprintf(format, args...))
}
