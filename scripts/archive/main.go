// Command archive writes the files of a release, each platform's into an archive of its own, and their checksums beside them. The same
// files give the same bytes, whoever packs them and when: names are sorted, owners are nobody, and times are that of the commit.
package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	out := flag.String("out", "dist", "where the archives go")
	epoch := flag.Int64("time", 0, "the time of every file, in seconds since 1970")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr,
			"usage: archive -out FOLDER -time SECONDS FOLDER…\nEach FOLDER becomes an archive of its name: .zip for windows, else .tar.gz.")
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := pack(*out, time.Unix(*epoch, 0).UTC(), flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// pack makes an archive of each folder, and SHA256SUMS for all of them.
func pack(out string, at time.Time, folders []string) error {
	var sums strings.Builder
	for _, dir := range folders {
		name, write := filepath.Base(dir)+".tar.gz", tarred
		if strings.Contains(name, "-windows-") {
			name, write = filepath.Base(dir)+".zip", zipped
		}
		f, err := os.Create(filepath.Join(out, name))
		if err != nil {
			return err
		}
		sum := sha256.New()
		if err := errors.Join(write(io.MultiWriter(f, sum), dir, at), f.Close()); err != nil {
			return fmt.Errorf("pack %s: %w", dir, err)
		}
		fmt.Fprintf(&sums, "%x  %s\n", sum.Sum(nil), name)
	}
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

// each gives the files of a folder, sorted, with the name and mode that they have in the archive.
func each(dir string, do func(name string, mode fs.FileMode, content []byte) error) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(filepath.Dir(dir), path)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if info.Mode()&0o100 != 0 {
			mode = 0o755
		}
		return do(filepath.ToSlash(rel), mode, content)
	})
}

func tarred(w io.Writer, dir string, at time.Time) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	err = each(dir, func(name string, mode fs.FileMode, content []byte) error {
		if err := t.WriteHeader(&tar.Header{Name: name, Mode: int64(mode), Size: int64(len(content)), ModTime: at,
			Format: tar.FormatUSTAR}); err != nil {
			return err
		}
		_, err := t.Write(content)
		return err
	})
	return errors.Join(err, t.Close(), z.Close())
}

func zipped(w io.Writer, dir string, at time.Time) error {
	z := zip.NewWriter(w)
	err := each(dir, func(name string, mode fs.FileMode, content []byte) error {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: at}
		h.SetMode(mode)
		f, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		_, err = f.Write(content)
		return err
	})
	return errors.Join(err, z.Close())
}
