package host

import (
	"context"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/repo/exchange"
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
	if out.Repository, err = s.describe(ctx); err != nil {
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
	Head       string           `json:"head"`
	Operations int              `json:"operations"`
	Views      int              `json:"views"`
	Objects    int              `json:"objects"`
	Problems   []string         `json:"problems"`
	Faults     []gitstore.Fault `json:"faults" jsonschema:"the problems by what is damaged, for tandem repo mend"`
	More       int              `json:"more,omitempty" jsonschema:"problems beyond those that are listed"`
}

func (h *Host) check(ctx context.Context, in RepoIn) (CheckOut, error) {
	dir, err := h.storeOf(ctx, in.Repo)
	if err != nil {
		return CheckOut{}, err
	}
	return Check(ctx, dir)
}

// storeOf is where a repository lies, also of one that could not be opened: that
// is the one to look at.
func (h *Host) storeOf(ctx context.Context, ref string) (string, error) {
	for _, o := range h.odd {
		if (o.name == ref || o.id != "" && o.id == ref) && op.CallerFrom(ctx).Tenant == identity.LocalTenant {
			return o.dir, nil
		}
	}
	s, err := h.find(ctx, ref)
	if err != nil {
		return "", err
	}
	return s.store.Dir(), nil
}

// maxProblems is how many are told; of a disk that is gone the number is enough.
const maxProblems = 10_000

// Check verifies the repository in a .jj/repo, as its disk has it.
func Check(ctx context.Context, dir string) (CheckOut, error) {
	out := CheckOut{Problems: []string{}, Faults: []gitstore.Fault{}}
	heads, err := gitstore.HeadsAt(dir)
	if err != nil {
		return out, err
	}
	out.Head = strings.Join(exchange.Hex(heads), " ")
	did, err := gitstore.Verify(ctx, dir, func(f gitstore.Fault) {
		if len(out.Faults) == maxProblems {
			out.More++
			return
		}
		out.Faults = append(out.Faults, f)
		out.Problems = append(out.Problems, f.String())
	})
	out.Operations, out.Views, out.Objects = did.Operations, did.Views, did.Objects
	if ctx.Err() != nil {
		return out, fault.New(fault.Unavailable, "repo.check", "the check was broken off")
	}
	return out, err
}
