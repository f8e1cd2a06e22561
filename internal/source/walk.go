package source

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
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

// folder is one of this machine.
type folder struct {
	root   *os.Root
	at     string
	hidden []string
}

func (o *folder) close() { o.root.Close() } //nolint:errcheck // it was only read

func (o *folder) read(_ context.Context, f found) ([]byte, error) { return readAll(o.root, f.path) }

// list walks a folder as the caller sees it. What policy keeps from the caller is not named.
func (o *folder) list(ctx context.Context) (*listing, error) {
	out, entries := &listing{}, 0
	if within(o.at, o.hidden) {
		return nil, fault.New(fault.Denied, "source", "%s belongs to tandem itself", o.at)
	}
	err := fs.WalkDir(o.root.FS(), ".", func(rel string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if entries++; entries > maxEntries {
			return fault.New(fault.Exhausted, "source", "%s holds more than %d files and folders", o.at, maxEntries).
				WithNext("bind a folder inside it")
		}
		if rel == "." {
			return err
		}
		full := filepath.Join(o.at, filepath.FromSlash(rel))
		if !utf8.ValidString(rel) || len(rel) > maxPath || tool.Sensitive("/"+rel) || within(full, o.hidden) || !op.Sees(ctx, full) {
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
			return fault.New(fault.Exhausted, "source", "%s holds more than %d files", o.at, maxFiles).WithNext("bind a folder inside it")
		default:
			out.files = append(out.files, found{path: rel, size: info.Size(), modified: info.ModTime().UnixNano()})
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

const previewTime = time.Minute

// preview says what an import would bring. Nothing is read but names and sizes, and of sites a few pages.
func (r *Room) preview(ctx context.Context, in wire.PreviewIn) (wire.PreviewOut, error) {
	out := wire.PreviewOut{Formats: map[string]int{}, Sample: []string{}, Left: []wire.BadFile{}}
	at, err := r.resolve(ctx, in.From)
	if err != nil {
		return out, err
	}
	ctx, cancel := context.WithTimeout(ctx, previewTime)
	defer cancel()
	from, err := r.open(ctx, at.briefly())
	if err != nil {
		return out, err
	}
	defer from.close()
	all, err := from.list(ctx)
	if err != nil {
		return out, err
	}
	out.From, out.Commit = at.From, all.at
	for _, f := range all.files {
		format := decode.Format(path.Base(f.called()), from.head(ctx, f))
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
	all.left = append(all.left, all.unread...)
	out.LeftOut = len(all.left)
	out.Left = append(out.Left, all.left[:min(len(all.left), 20)]...)
	return out, nil
}

func (o *folder) head(_ context.Context, f found) []byte {
	from, err := tool.OpenBelow(o.root, f.path)
	if err != nil {
		return nil
	}
	defer from.Close() //nolint:errcheck // it was only read
	b := make([]byte, 512)
	n, _ := from.Read(b)
	return b[:n]
}
