package gitstore

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"

	"tandem/internal/repo"
)

// refKind is what a git ref is in jj's eyes.
type refKind uint8

const (
	bookmarkRef refKind = iota
	tagRef
)

// refSymbol is jj's name for a git ref: a bookmark or tag of a remote, the
// repository's own refs being those of the remote "git".
type refSymbol struct {
	kind         refKind
	remote, name string
}

// parseGitRef says what a full ref name means to jj, if anything.
func parseGitRef(full string) (refSymbol, bool) {
	if name, ok := strings.CutPrefix(full, "refs/heads/"); ok {
		return refSymbol{bookmarkRef, repo.GitRemote, name}, name != "HEAD" && name != ""
	}
	if rest, ok := strings.CutPrefix(full, "refs/remotes/"); ok {
		remote, name, ok := strings.Cut(rest, "/")
		return refSymbol{bookmarkRef, remote, name}, ok && remote != repo.GitRemote && name != "HEAD"
	}
	if name, ok := strings.CutPrefix(full, "refs/tags/"); ok {
		return refSymbol{tagRef, repo.GitRemote, name}, name != ""
	}
	return refSymbol{}, false
}

// fullName is git's name, or "" when git has no place for it.
func (r refSymbol) fullName() string {
	switch {
	case r.name == "" || r.remote == "":
		return ""
	case r.kind == tagRef && r.remote == repo.GitRemote:
		return "refs/tags/" + r.name
	case r.kind == tagRef || r.name == "HEAD":
		return ""
	case r.remote == repo.GitRemote:
		return "refs/heads/" + r.name
	}
	return "refs/remotes/" + r.remote + "/" + r.name
}

// LockGit takes jj's lock on imports from and exports to git.
func (s *Store) LockGit(ctx context.Context) (unlock func(), err error) {
	l, err := lockFile(ctx, filepath.Join(s.dir, "git_import_export.lock"))
	if err != nil {
		return nil, err
	}
	return l.unlock, nil
}

// commitOf follows a ref to a commit: through other refs, through annotated
// tags. It is "" when there is none.
func (s *Store) commitOf(ctx context.Context, r Ref) (repo.CommitID, error) {
	for range 8 {
		if r.Symbolic == "" {
			break
		}
		next, ok, err := s.ReadRef(r.Symbolic)
		if err != nil || !ok {
			return "", err
		}
		r = next
	}
	id := r.ID
	if r.Peeled != "" {
		id = r.Peeled
	}
	for range 8 {
		t, err := s.objects.typeOf(ctx, id)
		if err != nil {
			return "", err
		}
		switch t {
		case repo.CommitObject:
			return repo.CommitID(id), nil
		case repo.TagObject:
			o, err := s.objects.read(ctx, id)
			if err != nil {
				return "", err
			}
			line, _, _ := bytes.Cut(o.Data, []byte{'\n'})
			text, _ := bytes.CutPrefix(line, []byte("object "))
			target, ok := repo.ParseCommitID(string(text))
			if !ok {
				return "", nil
			}
			id = string(target)
		default:
			return "", nil
		}
	}
	return "", nil
}

// CommitAt follows a ref, named in full, to the commit it stands for.
func (s *Store) CommitAt(ctx context.Context, name string) (id repo.CommitID, ok bool, err error) {
	r, ok, err := s.ReadRef(name)
	if err != nil || !ok {
		return "", false, err
	}
	id, err = s.commitOf(ctx, r)
	return id, id != "", err
}

// gitRefs reads the refs of git that jj knows of, as the commits they name.
func (s *Store) gitRefs(ctx context.Context) (map[string]repo.CommitID, error) {
	out := map[string]repo.CommitID{}
	for _, prefix := range []string{"refs/heads/", "refs/remotes/", "refs/tags/"} {
		refs, err := s.Refs(prefix)
		if err != nil {
			return nil, err
		}
		for name, r := range refs {
			if _, ok := parseGitRef(name); !ok {
				continue
			}
			id, err := s.commitOf(ctx, r)
			if err != nil {
				return nil, err
			}
			if id != "" {
				out[name] = id
			}
		}
	}
	return out, nil
}

// remoteTagPrefix is where tags fetched from remotes are kept, by remote.
const remoteTagPrefix = "refs/jj/remote-tags/"

// RemoteTagRef is where git keeps a tag of a remote.
func RemoteTagRef(remote, name string) string { return remoteTagPrefix + remote + "/" + name }

// remoteTags reads the tags that were fetched from remotes.
func (s *Store) remoteTags(ctx context.Context) (map[refSymbol]repo.CommitID, error) {
	refs, err := s.Refs(remoteTagPrefix)
	if err != nil {
		return nil, err
	}
	out := map[refSymbol]repo.CommitID{}
	for full, r := range refs {
		remote, name, ok := strings.Cut(full[len(remoteTagPrefix):], "/")
		if !ok || remote == repo.GitRemote {
			continue
		}
		id, err := s.commitOf(ctx, r)
		if err != nil {
			return nil, err
		}
		if id != "" {
			out[refSymbol{tagRef, remote, name}] = id
		}
	}
	return out, nil
}
