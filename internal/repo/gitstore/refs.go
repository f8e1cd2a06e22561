package gitstore

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"tandem/internal/repo"
)

// Ref is a git ref as it stands: an object id, or the name of another ref.
type Ref struct {
	ID       string // raw object id, "" when symbolic
	Symbolic string // full name of the ref it stands for
	Peeled   string // raw id of what an annotated tag points at, when known
}

// Refs lists git's refs whose full names start with a prefix, loose ones over
// packed ones. Symbolic refs are listed as such.
func (s *Store) Refs(prefix string) (map[string]Ref, error) {
	out := map[string]Ref{}
	packed, err := s.packedRefs()
	if err != nil {
		return nil, err
	}
	for name, r := range packed {
		if strings.HasPrefix(name, prefix) {
			out[name] = r
		}
	}
	// Walk only the deepest directory that the prefix names whole.
	dir := "refs"
	if i := strings.LastIndexByte(prefix, '/'); i > len("refs") {
		dir = prefix[:i]
	}
	root := filepath.Join(s.gitDir, filepath.FromSlash(dir))
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		if d.IsDir() || strings.HasSuffix(path, ".lock") {
			return nil
		}
		rel, err := filepath.Rel(s.gitDir, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if !strings.HasPrefix(name, prefix) {
			return nil
		}
		r, err := readLooseRef(path)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return fmt.Errorf("ref %s: %w", name, err)
		}
		out[name] = r
		return nil
	})
	return out, err
}

// ReadRef reads one ref of the repository, or says it does not exist.
func (s *Store) ReadRef(name string) (Ref, bool, error) {
	if err := checkRefName(name); err != nil {
		return Ref{}, false, err
	}
	r, err := readLooseRef(filepath.Join(s.gitDir, filepath.FromSlash(name)))
	if err == nil {
		return r, true, nil
	}
	if !errors.Is(err, fs.ErrNotExist) && !isNotFile(err) {
		return Ref{}, false, err
	}
	packed, err := s.packedRefs()
	if err != nil {
		return Ref{}, false, err
	}
	r, ok := packed[name]
	return r, ok, nil
}

// isNotFile says that a path names a directory, or goes through a file.
func isNotFile(err error) bool {
	var pe *fs.PathError
	if !errors.As(err, &pe) {
		return false
	}
	st, statErr := os.Stat(pe.Path)
	return (statErr == nil && st.IsDir()) || errors.Is(err, syscall.ENOTDIR)
}

func readLooseRef(path string) (Ref, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Ref{}, err
	}
	return parseRef(string(text))
}

func parseRef(text string) (Ref, error) {
	text = strings.TrimRight(text, "\n\r\t ")
	if name, ok := strings.CutPrefix(text, "ref:"); ok {
		return Ref{Symbolic: strings.TrimSpace(name)}, nil
	}
	id, ok := repo.ParseCommitID(text)
	if !ok {
		return Ref{}, fmt.Errorf("holds %.60q", text)
	}
	return Ref{ID: string(id)}, nil
}

func (s *Store) packedRefs() (map[string]Ref, error) {
	data, err := os.ReadFile(filepath.Join(s.gitDir, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parsePackedRefs(data)
}

func parsePackedRefs(data []byte) (map[string]Ref, error) {
	out := map[string]Ref{}
	last := ""
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		if peeled, ok := strings.CutPrefix(line, "^"); ok {
			id, ok := repo.ParseCommitID(peeled)
			if r, known := out[last]; ok && known {
				r.Peeled = string(id)
				out[last] = r
			}
			continue
		}
		h, name, ok := strings.Cut(line, " ")
		id, ok2 := repo.ParseCommitID(h)
		if !ok || !ok2 {
			return nil, fmt.Errorf("packed-refs: bad line %.80q", line)
		}
		out[name] = Ref{ID: string(id)}
		last = name
	}
	return out, lines.Err()
}

// checkRefName keeps a name from the outside inside the repository.
func checkRefName(name string) error {
	bad := name == "" || strings.HasPrefix(name, "/") || strings.HasSuffix(name, "/") || strings.HasSuffix(name, ".")
	for _, part := range strings.Split(name, "/") {
		bad = bad || part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock")
	}
	for _, c := range []byte(name) {
		bad = bad || c <= ' ' || c == 0x7f || strings.IndexByte("~^:?*[\\", c) >= 0
	}
	bad = bad || strings.Contains(name, "..") || strings.Contains(name, "@{")
	if bad {
		return fmt.Errorf("%q cannot be the name of a git ref", name)
	}
	return nil
}

// RefMovedError says that a ref is not where the caller thought.
type RefMovedError struct{ Name string }

// Error says which.
func (e *RefMovedError) Error() string { return fmt.Sprintf("git ref %s has moved meanwhile", e.Name) }

// UpdateRef moves a ref from one object to another; "" means that it does not
// exist. When it is not where the caller thought, nothing changes and the
// error is a RefMovedError.
func (s *Store) UpdateRef(name, from, to string) error {
	if err := checkRefName(name); err != nil {
		return err
	}
	path := filepath.Join(s.gitDir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	lock, err := os.OpenFile(path+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("lock git ref %s: %w", name, err)
	}
	defer os.Remove(path + ".lock")
	defer lock.Close()
	now, _, err := s.ReadRef(name)
	if err != nil {
		return err
	}
	if now.ID != from || now.Symbolic != "" {
		return &RefMovedError{name}
	}
	if to == "" {
		if err := s.dropPackedRef(name); err != nil {
			return err
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if _, err := fmt.Fprintf(lock, "%x\n", to); err != nil {
		return err
	}
	if err := lock.Sync(); err != nil {
		return err
	}
	if err := lock.Close(); err != nil {
		return err
	}
	// An empty directory may be left where a ref of a deeper name was. A ref that is
	// there is replaced, so that nobody ever finds it missing.
	if st, err := os.Lstat(path); err == nil && st.IsDir() {
		os.Remove(path) // the rename says what is wrong when it is not empty
	}
	if err := os.Rename(path+".lock", path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// dropPackedRef rewrites packed-refs without a name.
func (s *Store) dropPackedRef(name string) error {
	path := filepath.Join(s.gitDir, "packed-refs")
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && !bytes.Contains(data, []byte(" "+name+"\n"))) {
		return nil
	}
	if err != nil {
		return err
	}
	lock, err := os.OpenFile(path+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("lock packed-refs: %w", err)
	}
	defer os.Remove(path + ".lock")
	defer lock.Close()
	if data, err = os.ReadFile(path); err != nil {
		return err
	}
	var out []byte
	dropping := false
	for line := range bytes.Lines(data) {
		if line[0] == '^' && dropping {
			continue
		}
		dropping = bytes.HasSuffix(line, []byte(" "+name+"\n"))
		if !dropping {
			out = append(out, line...)
		}
	}
	if _, err := lock.Write(out); err != nil {
		return err
	}
	if err := lock.Sync(); err != nil {
		return err
	}
	if err := lock.Close(); err != nil {
		return err
	}
	return os.Rename(path+".lock", path)
}

// stageKeep adds to a batch the ref that keeps a commit and its ancestors from
// git's garbage collection.
func (s *Store) stageKeep(b *batch, id repo.CommitID) error {
	path := filepath.Join(s.gitDir, "refs", "jj", "keep", id.Hex())
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return b.add(path, []byte(id.Hex()+"\n"), 0o666)
}

// keepCommit keeps a commit that is here already; the ref is written with what
// is flushed next.
func (s *Store) keepCommit(id repo.CommitID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep[id] = struct{}{}
}
