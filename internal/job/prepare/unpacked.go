package prepare

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"

	"tandem/internal/fault"
)

// Bounds of what becomes of what is fetched. A package of some kilobytes unpacks to as many gigabytes as whoever made it likes, and is
// unpacked on the disk of the server.
const (
	maxUnpacked = 16 << 30 // bytes of one part
	maxFiles    = 2 << 20
)

// unpacks counts what a dependency becomes, before it does.
func (m *maker) unpacks(what string, bytes, files int64) error {
	if m.unpacked.Add(bytes) > m.most.bytes || m.files.Add(files) > m.most.files {
		return fault.New(fault.Exhausted, "job.prepare", "the dependencies unpack to more than %d GiB or %d files, with %.200s", maxUnpacked>>30,
			maxFiles, what).
			WithNext("look at it: what is so large may be made to fill a disk")
	}
	return nil
}

// measureTar is how much an npm package is when it is unpacked, in each of its places; it reads no further than is too much.
func (m *maker) measureTar(what string, data []byte, places int64) error {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return bad("%.200s is no npm package: %.200s", what, err)
	}
	left := &io.LimitedReader{R: z, N: max(m.most.bytes-m.unpacked.Load(), 0) + 1}
	whole := left.N
	var files int64
	for t := tar.NewReader(left); err == nil; files++ {
		_, err = t.Next()
	}
	if _, err := io.Copy(io.Discard, left); err != nil { // what Go's reader of it does not understand, npm may
		return bad("%.200s is no npm package: %.200s", what, err)
	}
	return m.unpacks(what, (whole-left.N)*places, files*places)
}

// measureZip is how much a module is when it is unpacked, as it says itself: one that says too little is refused when it is.
func (m *maker) measureZip(what, file string) error {
	z, err := zip.OpenReader(file)
	if err != nil {
		return bad("%.200s is no module: %.200s", what, err)
	}
	defer z.Close()
	var n int64
	for _, f := range z.File {
		if n += int64(min(f.UncompressedSize64, maxUnpacked)); n > maxUnpacked {
			break
		}
	}
	return m.unpacks(what, n, int64(len(z.File)))
}
