// Package since remembers what a folder held at a moment, and tells what changed in it since: as a patch that git apply takes, new and
// removed files too. It reads files and never writes any. Repositories are read, and nothing of their configuration is run.
//
// What it leaves out: the stores of version control, what ignore files name, and whatever its caller does not want to be looked at.
package since

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/internal/repo"
	"tandem/internal/repo/workcopy"
)

// Bounds of what is looked at: a folder beyond them is known in part, and says so.
const (
	maxFiles = 30_000
	maxFile  = 4 << 20 // larger ones are known by size and time alone
	maxRead  = 256 << 20
	maxKept  = 16 << 20
	// maxExclude bounds a repository's own list of ignored files, which is kept with what the folder held.
	maxExclude = 64 << 10
	patience   = 10 * time.Second
	linkMode   = "120000"
	plainMode  = "100644"
	execMode   = "100755"
)

// File is what is known of a file.
type File struct {
	Size int64  `json:"s"`
	At   int64  `json:"t"`           // when its content changed, in nanoseconds, as whoever changed it may have set it
	Kept int64  `json:"c,omitempty"` // when anything of it changed, which nobody can set back; 0 where the system does not tell
	Mode string `json:"m"`
	Hash string `json:"h,omitempty"` // git's name for its content; "" for one that is too large
}

// Base is what a folder held at a moment.
type Base struct {
	Folder string          `json:"folder"`
	Files  map[string]File `json:"files"`            // by path below the folder, with slashes
	Partly string          `json:"partly,omitempty"` // why not all of it is known
	Head   string          `json:"head,omitempty"`   // the commit of its repository, if it is in one
	// Exclude is what the repository's own list of ignored files said at the beginning. It counts for later looks, too: whoever writes
	// into it meanwhile hides nothing.
	Exclude string `json:"exclude,omitempty"`
	read    int64
}

// Skip says what is not looked at, by absolute path.
type Skip func(path string) bool

// Look reads a folder. known is what an earlier look found: files that have their size and time since are not read again.
func Look(ctx context.Context, folder string, known *Base, skip Skip) (*Base, error) {
	return look(ctx, folder, known, skip, false)
}

func look(ctx context.Context, folder string, known *Base, skip Skip, brief bool) (*Base, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	root, err := os.OpenRoot(folder) // an agent may exchange what stands there by a link to elsewhere
	if err != nil {
		return nil, err
	}
	defer root.Close()
	b := &Base{Folder: folder, Files: map[string]File{}, Head: head(ctx, folder)}
	top, below := Top(folder)
	var ignores *workcopy.Ignores
	if top != "" {
		if b.Exclude = excluded(top); known != nil {
			b.Exclude = known.Exclude
		}
		if ignores, err = outer(top, below, b.Exclude); err != nil {
			return nil, err
		}
	}
	l := looker{b: b, root: root, known: known, skip: skip, below: below, brief: brief}
	err = l.dir(ctx, ".", ignores)
	if ctx.Err() != nil && err != nil {
		b.Partly, err = "looking at it took too long", nil
	}
	return b, err
}

// excluded is a repository's own list of ignored files; "" for one that is too long to be a list that somebody wrote.
func excluded(top string) string {
	at := filepath.Join(top, ".git", "info", "exclude")
	if st, err := os.Stat(at); err != nil || !st.Mode().IsRegular() || st.Size() > maxExclude {
		return ""
	}
	text, err := os.ReadFile(at)
	if err != nil {
		return ""
	}
	return string(text)
}

// outer are the ignore files above a folder in its repository.
func outer(top, below, exclude string) (*workcopy.Ignores, error) {
	g := (*workcopy.Ignores)(nil).With("", []byte(exclude))
	if below == "" {
		return g, nil
	}
	at, err := "", error(nil)
	for _, part := range append([]string{""}, strings.Split(path.Dir(below), "/")...) {
		if part == "." {
			break
		}
		at = path.Join(at, part)
		if g, err = g.WithFile(repo.Path(at), filepath.Join(top, filepath.FromSlash(at), ".gitignore")); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// Top is the root of the repository that a folder lies in, and the folder's path below it; "" for a folder in none.
func Top(folder string) (top, below string) {
	for at := folder; ; at = filepath.Dir(at) {
		for _, store := range []string{".git", ".jj"} {
			if _, err := os.Lstat(filepath.Join(at, store)); err == nil {
				rel, err := filepath.Rel(at, folder)
				if err != nil || rel == "." {
					rel = ""
				}
				return at, filepath.ToSlash(rel)
			}
		}
		if filepath.Dir(at) == at {
			return "", ""
		}
	}
}

type looker struct {
	b     *Base
	root  *os.Root
	known *Base
	skip  Skip
	below string // the folder's path in its repository, as ignore files see it
	brief bool   // nothing is read
}

func (l *looker) dir(ctx context.Context, rel string, ignores *workcopy.Ignores) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, err := l.root.Open(rel)
	if err != nil {
		return nil // gone, or not ours to read
	}
	entries, err := f.ReadDir(-1)
	f.Close()
	if err != nil {
		return nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".gitignore" && e.Type().IsRegular() }) {
		if text, err := l.root.ReadFile(path.Join(rel, ".gitignore")); err == nil {
			ignores = ignores.With(l.inRepo(rel), text)
		}
	}
	for _, e := range entries {
		name := path.Join(rel, e.Name())
		// An ignore file is looked at even where one names it, itself perhaps: what it hides can be told from it.
		if e.Name() == ".git" || e.Name() == ".jj" || e.Name() != ".gitignore" && ignores.Match(l.inRepo(name), e.IsDir()) ||
			l.skip(filepath.Join(l.b.Folder, filepath.FromSlash(name))) {
			continue
		}
		if e.IsDir() {
			if err := l.dir(ctx, name, ignores); err != nil {
				return err
			}
			continue
		}
		if len(l.b.Files) >= maxFiles {
			l.b.Partly = fmt.Sprintf("it holds more than %d files", maxFiles)
			return nil
		}
		if one, ok := l.file(name); ok {
			l.b.Files[name] = one
		}
	}
	return nil
}

func (l *looker) inRepo(rel string) repo.Path {
	p := path.Join(l.below, rel)
	if p == "." {
		p = ""
	}
	return repo.Path(p)
}

func (l *looker) file(name string) (File, bool) {
	st, err := l.root.Lstat(name)
	if err != nil {
		return File{}, false
	}
	f := File{Size: st.Size(), At: st.ModTime().UnixNano(), Kept: changedAt(st), Mode: plainMode}
	switch {
	case st.Mode()&fs.ModeSymlink != 0:
		f.Mode = linkMode
	case !st.Mode().IsRegular():
		return File{}, false
	case st.Mode()&0o111 != 0:
		f.Mode = execMode
	}
	if l.known != nil {
		if was, ok := l.known.Files[name]; ok && was == (File{f.Size, f.At, f.Kept, f.Mode, was.Hash}) {
			return was, true
		}
	}
	if l.brief || f.Size > maxFile {
		return f, true
	}
	if l.b.read += f.Size; l.b.read > maxRead {
		l.b.Partly = fmt.Sprintf("its files hold more than %d MB", maxRead>>20)
		return f, true
	}
	data, err := content(l.root, name, f.Mode)
	if err != nil {
		return File{}, false
	}
	f.Hash = blobName(data)
	return f, true
}

// content is what a file holds; of a link, where it leads.
func content(root *os.Root, name, mode string) ([]byte, error) {
	if mode == linkMode {
		to, err := root.Readlink(name)
		return []byte(to), err
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// blobName is git's name for a content.
func blobName(data []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}
