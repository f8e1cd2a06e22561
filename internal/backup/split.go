package backup

import (
	"errors"
	"hash/fnv"
	"io"
)

const (
	pieceLeast = 64 << 10
	pieceMost  = 4 << 20
)

// split cuts what is read into pieces. It cuts behind lines that their content
// chooses, so that rows which come or go change the pieces around them and no others.
// buf is room for the largest piece, which is used over and over.
func split(from io.Reader, buf []byte, piece func([]byte) error) error {
	buf = buf[:0]
	for {
		n, err := from.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return err
		}
		for {
			at := cut(buf)
			if at == 0 && (ended && len(buf) > 0 || len(buf) == cap(buf)) {
				at = len(buf)
			}
			if at == 0 {
				break
			}
			if err := piece(buf[:at]); err != nil {
				return err
			}
			buf = buf[:copy(buf, buf[at:])]
		}
		if ended {
			return nil
		}
	}
}

// cut is where the first piece ends, 0 when it is not known yet.
func cut(buf []byte) int {
	if len(buf) < pieceLeast {
		return 0
	}
	begin := 0
	for i, c := range buf {
		if c != '\n' {
			continue
		}
		if i >= pieceLeast {
			h := fnv.New32a()
			h.Write(buf[begin:i])
			if h.Sum32()%256 == 0 {
				return i + 1
			}
		}
		begin = i + 1
	}
	return 0
}
