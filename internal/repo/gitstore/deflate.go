package gitstore

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/adler32"
	"io"
	"sync"
)

// plain is up to how many bytes an object is written as it is, in one block that
// says so: a small one fills a block of the disk either way, and most are ids,
// which nothing makes smaller. A compressor alone takes a megabyte of memory.
const plain = 1 << 10

var deflaters = sync.Pool{New: func() any {
	w, _ := zlib.NewWriterLevel(io.Discard, zlib.BestSpeed)
	return w
}}

// deflate writes one zlib stream that holds the parts in order.
func deflate(to *bytes.Buffer, parts ...[]byte) {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	if n > plain {
		w := deflaters.Get().(*zlib.Writer)
		defer deflaters.Put(w)
		w.Reset(to)
		for _, p := range parts {
			w.Write(p) // a buffer takes everything
		}
		w.Close()
		return
	}
	to.Write([]byte{0x78, 0x01, 1, byte(n), byte(n >> 8), ^byte(n), ^byte(n >> 8)})
	sum := adler32.New()
	for _, p := range parts {
		to.Write(p)
		sum.Write(p)
	}
	to.Write(binary.BigEndian.AppendUint32(nil, sum.Sum32()))
}
