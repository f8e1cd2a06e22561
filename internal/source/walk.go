package source

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/source/boxed"
	"tandem/internal/source/decode"
	"tandem/internal/source/wire"
	"tandem/internal/tool"
	"tandem/internal/tool/box"
)

// Bounds of a folder.
const (
	maxFiles   = 20_000
	maxEntries = 200_000
	maxDepth   = 32
	maxPath    = 1024
)

// passed are folders that hold no documents: version control's own, and what package managers bring.
var passed = []string{".git", ".jj", ".hg", ".svn", "node_modules", ".venv", "__pycache__"}

// found is a file of a folder that would be read.
type found struct {
	path     string // below the folder, with slashes
	size     int64
	modified int64 // in nanoseconds
}

// listing is what a folder holds.
type listing struct {
	files []found
	left  []wire.BadFile
}

func (l *listing) leave(file, reason string) {
	l.left = append(l.left, wire.BadFile{File: file, Reason: reason})
}

// list walks a folder as the caller sees it. What policy keeps from the caller is not named.
func list(ctx context.Context, root *os.Root, folder string, hidden []string) (*listing, error) {
	out, entries := &listing{}, 0
	if within(folder, hidden) {
		return nil, fault.New(fault.Denied, "source", "%s belongs to tandem itself", folder)
	}
	err := fs.WalkDir(root.FS(), ".", func(rel string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if entries++; entries > maxEntries {
			return fault.New(fault.Exhausted, "source", "%s holds more than %d files and folders", folder, maxEntries).
				WithNext("bind a folder inside it")
		}
		if rel == "." {
			return err
		}
		full := filepath.Join(folder, filepath.FromSlash(rel))
		if !utf8.ValidString(rel) || len(rel) > maxPath || tool.Sensitive("/"+rel) || within(full, hidden) || !op.Sees(ctx, full) {
			return skip(d)
		}
		if err != nil {
			out.leave(rel, "it cannot be read: "+plainly(err))
			return skip(d)
		}
		switch {
		case d.IsDir() && slices.Contains(passed, d.Name()):
			return fs.SkipDir
		case d.IsDir() && strings.Count(rel, "/") >= maxDepth:
			out.leave(rel, "it lies too deep")
			return fs.SkipDir
		case d.IsDir():
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			out.leave(rel, "it is a link, and links are not followed")
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		switch {
		case err != nil:
			out.leave(rel, "it cannot be read: "+plainly(err))
		case info.Size() > boxed.MaxInput:
			out.leave(rel, "it is larger than 64 MB")
		case len(out.files) >= maxFiles:
			return fault.New(fault.Exhausted, "source", "%s holds more than %d files", folder, maxFiles).WithNext("bind a folder inside it")
		default:
			out.files = append(out.files, found{rel, info.Size(), info.ModTime().UnixNano()})
		}
		return nil
	})
	return out, err
}

// within says whether a path lies in a folder of tandem's own.
func within(path string, hidden []string) bool {
	return slices.ContainsFunc(hidden, func(h string) bool { return box.Below(h, path) })
}

func skip(d fs.DirEntry) error {
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// plainly is why a file cannot be read, without its path.
func plainly(err error) string {
	if p, ok := err.(*fs.PathError); ok {
		err = p.Err
	}
	return err.Error()
}

// preview says what an import of a folder would bring. Nothing is read but names and sizes.
func (r *Room) preview(ctx context.Context, in wire.PreviewIn) (wire.PreviewOut, error) {
	out := wire.PreviewOut{Formats: map[string]int{}, Sample: []string{}, Left: []wire.BadFile{}}
	if err := checkFolder(in.Folder); err != nil {
		return out, err
	}
	out.Folder = filepath.FromSlash(place(in.Folder).Path)
	if !op.Sees(ctx, out.Folder) {
		return out, fault.New(fault.NotFound, "source", "there is no folder %s for you", in.Folder)
	}
	root, err := open(out.Folder)
	if err != nil {
		return out, err
	}
	defer root.Close()
	all, err := list(ctx, root, out.Folder, r.Hidden)
	if err != nil {
		return out, err
	}
	for _, f := range all.files {
		format := decode.Format(path.Base(f.path), head(root, f.path))
		if format == "" {
			all.leave(f.path, "nobody here reads this format")
			continue
		}
		out.Files++
		out.Bytes += f.size
		out.Formats[format]++
		if len(out.Sample) < 20 {
			out.Sample = append(out.Sample, f.path)
		}
	}
	out.LeftOut = len(all.left)
	out.Left = append(out.Left, all.left[:min(len(all.left), 20)]...)
	return out, nil
}

// head is how a file begins, for formats that its name does not say.
func head(root *os.Root, rel string) []byte {
	f, err := tool.OpenBelow(root, rel)
	if err != nil {
		return nil
	}
	defer f.Close()
	b := make([]byte, 512)
	n, _ := f.Read(b)
	return b[:n]
}
