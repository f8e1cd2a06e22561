package peer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"tandem/internal/fault"
	"tandem/internal/op"
)

// ShareIn shares a piece of a file.
type ShareIn struct {
	File    string `json:"file" jsonschema:"a path inside your project"`
	Start   int    `json:"start_line,omitempty" jsonschema:"first line, 1 when left out"`
	End     int    `json:"end_line,omitempty" jsonschema:"last line; 20 after the first when left out"`
	Message string `json:"message,omitempty" jsonschema:"what to say about it"`
	To      string `json:"to,omitempty" jsonschema:"a peer's username, or several with commas; all peers when left out"`
	Which
}

func (r *Room) opShare(ctx context.Context, in ShareIn) (Said, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Said{}, err
	}
	defer s.mu.Unlock()
	r.settle(ctx, s)
	if in, err = in.whole(); err != nil {
		return Said{}, err
	}
	ref, err := readPiece(ctx, s.folder, in)
	if err == nil {
		err = meant(ctx, piece(ref), ref.sum())
	}
	if err != nil {
		return Said{}, err
	}
	return r.say(ctx, s, Words{Type: "context", Text: in.Message, Ref: ref}, in.To, "Shared "+escape(ref.File)+":"+lines(ref))
}

// whole is the input with the lines that were left out.
func (in ShareIn) whole() (ShareIn, error) {
	if in.Start == 0 {
		in.Start = 1
	}
	if in.End == 0 {
		in.End = in.Start + 20
	}
	if in.Start < 1 || in.End < in.Start {
		return in, fault.New(fault.Invalid, "space.share", "lines %d to %d are no piece of a file", in.Start, in.End)
	}
	return in, nil
}

func lines(f *Ref) string { return fmt.Sprintf("%d-%d", f.Start, f.End) }

// readPiece reads lines of a file inside folder. The folder is opened as a root
// that neither .. nor a link can leave; a sibling whose name begins alike is
// outside.
func readPiece(ctx context.Context, folder string, in ShareIn) (*Ref, error) {
	if folder == "" {
		return nil, fault.New(fault.Denied, "space.share", "Access denied: this seat has no project folder").
			WithNext("share from a client that runs in the project: tandem mcp, or tandem space share FILE")
	}
	denied := fault.New(fault.Denied, "space.share", "Access denied: %s is outside your project", clip(in.File)).
		WithNext("name a file relative to %s", folder)
	rel := in.File
	if filepath.IsAbs(rel) {
		var err error
		if rel, err = filepath.Rel(folder, rel); err != nil {
			return nil, denied
		}
	}
	if !filepath.IsLocal(rel) {
		return nil, denied
	}
	gone := fault.New(fault.NotFound, "space.share", "File not found: %s", clip(in.File))
	named := filepath.Join(folder, rel)
	if !op.Sees(ctx, named) {
		return nil, gone
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fault.New(fault.NotFound, "space.share", "the project folder %s is gone", folder)
	}
	defer root.Close()
	f, err := root.Open(rel)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, gone
	}
	if err != nil {
		return nil, denied
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return nil, fault.New(fault.Invalid, "space.share", "%s is not a plain file", clip(in.File))
	}
	if !seesOpened(ctx, named, st) {
		return nil, gone
	}
	var b strings.Builder
	scan := bufio.NewScanner(f)
	scan.Buffer(make([]byte, 64<<10), 1<<20)
	n := 0
	for scan.Scan() {
		if n++; n < in.Start {
			continue
		}
		if n > in.End || b.Len() > 56<<10 {
			break
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(scan.Text())
	}
	switch {
	case scan.Err() != nil || !utf8.ValidString(b.String()):
		return nil, fault.New(fault.Invalid, "space.share", "%s is not a text file", clip(in.File))
	case b.Len() > 56<<10:
		return nil, fault.New(fault.Invalid, "space.share", "that piece is longer than a message may be (64 KB)").WithNext("share fewer lines")
	case n < in.Start:
		return nil, fault.New(fault.Invalid, "space.share", "%s has %d lines", clip(in.File), n)
	}
	return &Ref{File: filepath.ToSlash(rel), Start: in.Start, End: min(in.End, n), Snippet: b.String()}, nil
}

// seesOpened judges the file that was opened, not the name that was looked at: a link can be swapped in between.
func seesOpened(ctx context.Context, named string, opened fs.FileInfo) bool {
	at, err := filepath.EvalSymlinks(named)
	if err != nil || !op.Sees(ctx, at) {
		return false
	}
	is, err := os.Lstat(at)
	return err == nil && os.SameFile(is, opened)
}
