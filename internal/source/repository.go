package source

import (
	"context"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"tandem/internal/fault"
	"tandem/internal/source/boxed"
	"tandem/internal/source/wire"
	"tandem/internal/tool"
)

// Repos are the repositories that this server serves, as the caller of a context may see them.
type Repos struct {
	// Files are those of a repository where a bookmark is, or at a commit.
	Files func(ctx context.Context, repo, at string) (*Files, error)
	// Shown is which paths of a repository the caller may see.
	Shown func(ctx context.Context, repo string) func(path string) bool
	// Tip is the commit at which a bookmark is now, "" where there is none any more, if that is known.
	Tip func(ctx context.Context, repo, bookmark string) (commit string, known bool)
}

// Files are the files of a repository at one commit.
type Files struct {
	Repo, Name, At, Commit string
	Walk                   func(ctx context.Context, under string, visit func(path, id, odd string) error) error
	Open                   func(ctx context.Context, id string) (io.ReadCloser, int64, error)
}

func (r *Room) resolveRepo(ctx context.Context, f wire.From) (resolved, error) {
	under := strings.Trim(path.Clean("/"+f.Under), "/")
	if len(f.Repo) > maxPath || len(f.At) > maxPath || len(f.Under) > maxPath || !utf8.ValidString(f.Repo+f.At+f.Under) {
		return resolved{}, bad("a repository, a bookmark and a folder in it have at most %d bytes each", maxPath)
	}
	if r.Repos.Files == nil {
		return resolved{}, fault.New(fault.NotFound, "source", "this server serves no repositories")
	}
	at, err := r.Repos.Files(ctx, f.Repo, f.At)
	if err != nil {
		return resolved{}, err
	}
	return resolved{From: wire.From{Repo: at.Name, At: at.At, Under: under}, RepoID: at.Repo}, nil
}

// openRepo is a repository as the caller may see it now, at the commit where its bookmark is.
func (r *Room) openRepo(ctx context.Context, p resolved) (origin, error) {
	if r.Repos.Files == nil {
		return nil, fault.New(fault.NotFound, "source", "the repository %s is not served here", p.Repo)
	}
	files, err := r.Repos.Files(ctx, p.RepoID, p.At)
	if err != nil {
		return nil, err
	}
	return &repository{Files: files, under: p.Under}, nil
}

// moved says whether the bookmark that a source follows is elsewhere now, or gone.
func (r *Room) moved(ctx context.Context, b *binding) bool {
	if b.Repo == "" || r.Repos.Tip == nil {
		return false
	}
	tip, known := r.Repos.Tip(ctx, b.repoID, b.At)
	return known && tip != b.Commit
}

func (r *Room) repoSight(ctx context.Context, b *binding) func(path string) bool {
	if r.Repos.Shown == nil {
		return func(string) bool { return false }
	}
	shown := r.Repos.Shown(ctx, b.repoID)
	return func(file string) bool { return shown(path.Join(b.Under, file)) }
}

// repository are the files of a repository at a commit. Their paths begin below the folder that was bound.
type repository struct {
	*Files
	under string
}

func (o *repository) list(ctx context.Context) (*listing, error) {
	out := &listing{at: o.Commit}
	err := o.Walk(ctx, o.under, func(full, id, odd string) error {
		rel := strings.TrimPrefix(strings.TrimPrefix(full, o.under), "/")
		switch {
		case rel == "" || !utf8.ValidString(rel) || strings.ContainsRune(rel, 0) || len(rel) > maxPath || tool.Sensitive("/"+full):
		case slices.ContainsFunc(strings.Split(full, "/"), func(part string) bool { return slices.Contains(passed, part) }):
		case odd != "":
			out.leave(rel, odd)
		case len(out.files) >= maxFiles:
			return fault.New(fault.Exhausted, "source", "%s holds more than %d files", o.Name, maxFiles).
				WithNext("bind a folder inside it: tandem source add --repo %s --under FOLDER", o.Name)
		default:
			out.files = append(out.files, found{path: rel, version: id})
		}
		return nil
	})
	return out, err
}

func (o *repository) read(ctx context.Context, f found) ([]byte, error) {
	from, size, err := o.Open(ctx, f.version)
	if err != nil {
		return nil, err
	}
	defer from.Close() //nolint:errcheck // it was read, or it was not
	if size > boxed.MaxInput {
		return nil, errTooLarge
	}
	return io.ReadAll(io.LimitReader(from, boxed.MaxInput))
}

func (o *repository) head(ctx context.Context, f found) []byte {
	from, _, err := o.Open(ctx, f.version)
	if err != nil {
		return nil
	}
	defer from.Close() //nolint:errcheck // it was read, or it was not
	b := make([]byte, 512)
	n, _ := io.ReadFull(from, b)
	return b[:n]
}

func (o *repository) close() {}
