package host

import (
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/repo"
	"tandem/internal/repo/gitstore"
)

// StatusOut is a repository and its size.
type StatusOut struct {
	Repository
	Operations int   `json:"operations"`
	Objects    int   `json:"objects"` // of git, each copy counted
	Bytes      int64 `json:"bytes"`   // on disk, working copy not counted
}

func (h *Host) status(ctx context.Context, in RepoIn) (out StatusOut, err error) {
	s, err := h.find(ctx, in.Repo)
	if err != nil {
		return out, err
	}
	if out.Repository, err = s.describe(); err != nil {
		return out, err
	}
	size, err := s.size(ctx)
	out.Operations, out.Objects, out.Bytes = size.Operations, size.Objects, size.Bytes
	return out, err
}

// size counts what is on disk.
func (s *served) size(ctx context.Context) (out Size, err error) {
	names, err := os.ReadDir(filepath.Join(s.store.Dir(), "op_store", "operations"))
	if err != nil {
		return out, err
	}
	out.Operations = len(names)
	for _, dir := range []string{s.store.Dir(), s.store.GitDir()} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || ctx.Err() != nil || e.IsDir() {
				return ctx.Err() // files come and go meanwhile
			}
			if info, err := e.Info(); err == nil {
				out.Bytes += info.Size()
			}
			switch {
			case strings.HasSuffix(path, ".idx"):
				out.Objects += packCount(path)
			case isLoose(path):
				out.Objects++
			}
			return nil
		})
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// isLoose says whether a path is that of a loose object: objects/xx/38 digits.
func isLoose(path string) bool {
	dir, name := filepath.Split(path)
	return len(name) == 38 && len(filepath.Base(dir)) == 2 && filepath.Base(filepath.Dir(filepath.Clean(dir))) == "objects"
}

// packCount is the number of objects of a pack, from its index.
func packCount(path string) int {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	var last [4]byte
	if _, err := f.ReadAt(last[:], 8+255*4); err != nil {
		return 0
	}
	return int(binary.BigEndian.Uint32(last[:]))
}

// CheckOut is what was verified.
type CheckOut struct {
	Head       string   `json:"head"`
	Operations int      `json:"operations"`
	Views      int      `json:"views"`
	Objects    int      `json:"objects"`
	Problems   []string `json:"problems"`
}

func (h *Host) check(ctx context.Context, in RepoIn) (CheckOut, error) {
	s, err := h.find(ctx, in.Repo)
	if err != nil {
		return CheckOut{}, err
	}
	head, _, _ := s.now()
	return Check(ctx, s.store, head)
}

// maxProblems is how many are told; one that breaks much is told once.
const maxProblems = 100

// Check verifies a repository from an operation down to its root.
func Check(ctx context.Context, s *gitstore.Store, head repo.OperationID) (CheckOut, error) {
	out := CheckOut{Head: head.Hex(), Problems: []string{}}
	bad := func(format string, args ...any) {
		if len(out.Problems) < maxProblems {
			out.Problems = append(out.Problems, fmt.Sprintf(format, args...))
		}
	}
	delta, err := s.Delta(nil, []repo.OperationID{head})
	if err != nil {
		bad("%v", err)
		return out, nil
	}
	for _, id := range delta.Operations {
		data, err := s.OperationBytes(id)
		if err == nil {
			var o *repo.Operation
			if o, err = repo.DecodeOperation(data); err == nil && o.ComputeID() != id {
				err = fmt.Errorf("its content is that of %.12s", o.ComputeID().Hex())
			}
		}
		if err != nil {
			bad("operation %.12s: %v", id.Hex(), err)
		}
		out.Operations++
	}
	for _, id := range delta.Views {
		data, err := s.ViewBytes(id)
		if err == nil {
			var v *repo.View
			if v, err = repo.DecodeView(data); err == nil && v.ComputeID() != id {
				err = fmt.Errorf("its content is that of %.12s", v.ComputeID().Hex())
			}
		}
		if err != nil {
			bad("view %.12s: %v", id.Hex(), err)
		}
		out.Views++
	}
	for id, err := range delta.Objects() {
		if err != nil {
			bad("%v", err)
			break
		}
		if ctx.Err() != nil {
			return out, fault.New(fault.Unavailable, "repo.check", "the check was broken off")
		}
		out.Objects++
		if id == string(repo.EmptyTreeID) {
			continue
		}
		o, err := s.Object(id)
		if err == nil && repo.HashObject(o.Type, o.Data) != id {
			err = fmt.Errorf("its bytes are not what its id says")
		}
		if err != nil {
			bad("object %x: %v", id, err)
		}
	}
	return out, nil
}
