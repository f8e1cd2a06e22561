package daemon

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"tandem/internal/backup"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/repo/host"
	"tandem/internal/wholefile"
)

// staged is a copy that was read to its end and found whole, before anything of what
// there is has changed.
type staged struct {
	out   BackupOut
	head  backupHead
	house *wholefile.File   // will be restore.pending
	repos map[string]string // where a repository will be, and where it is until then
	to    string            // the folder for repositories; "" for where they were
	aside string            // a folder that goes again, for repositories that are only looked at
}

func (s *staged) drop() {
	if s.house != nil {
		s.house.Drop()
	}
	for _, part := range s.repos {
		os.RemoveAll(part)
	}
}

// stage reads a copy. Repositories that are not there any more are made beside where
// they were, or in aside when they are only looked at; those that are there stay: they are newer, or a person's to replace.
func stage(ctx context.Context, data, aside string, in RestoreIn) (s *staged, err error) {
	path, err := backup.Newest(in.Path)
	if err != nil {
		return nil, notRead(err)
	}
	s = &staged{out: BackupOut{Path: path}, repos: map[string]string{}, to: in.ReposTo, aside: aside}
	defer func(begun *staged) {
		if err != nil {
			begun.drop()
		}
	}(s)
	if s.house, err = wholefile.Create(filepath.Join(data, "restore.pending")); err != nil {
		return nil, err
	}
	if backup.IsCopy(path) {
		err = s.read(ctx, path, backup.Secret{Passphrase: in.Passphrase, Identity: in.Identity})
	} else {
		err = s.readOld(path)
	}
	if err == nil {
		_, err = s.house.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, err
	}
	head, tables, err := openHouse(s.house)
	if err != nil {
		return nil, err
	}
	s.head = head
	s.out.Made, s.out.Keeper, s.out.Repos = head.Made, head.Keeper, head.Repos
	if s.out.Rows, err = db.CheckDump(tables, migrations...); err != nil {
		return nil, err
	}
	s.out.Bytes, err = s.house.Seek(0, io.SeekEnd)
	return s, err
}

func notRead(err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return err
	}
	return fault.New(fault.Invalid, "server.restore", "the copy cannot be read: %w", err).WithNext("check the path, and that you may read it")
}

// readOld takes a copy of the form that holds the house alone.
func (s *staged) readOld(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return notRead(err)
	}
	defer f.Close()
	_, err = io.Copy(s.house, f)
	return err
}

func (s *staged) read(ctx context.Context, path string, secret backup.Secret) error {
	r, err := backup.Open(path, secret)
	if err != nil {
		return err
	}
	defer r.Close()
	zip := gzip.NewWriter(s.house)
	var roots map[string]*os.Root
	defer func() {
		for _, root := range roots {
			root.Close()
		}
	}()
	for n := 0; ; n++ {
		e, content, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch {
		case n == 0 && e.Name == "house":
			if err := s.readHead(content); err != nil {
				return err
			}
			if roots, err = s.begin(); err != nil {
				return err
			}
			if err := json.NewEncoder(zip).Encode(s.head); err != nil {
				return err
			}
		case n == 1 && e.Name == "tables":
			if _, err := io.Copy(zip, content); err != nil {
				return err
			}
		default:
			if err := put(roots, e, content); err != nil {
				return err
			}
		}
	}
	if err := zip.Close(); err != nil {
		return err
	}
	return s.check(ctx)
}

// put writes a file of a repository, inside its folder whatever its name says.
func put(roots map[string]*os.Root, e backup.Entry, content io.Reader) error {
	id, name, ok := local(e.Name)
	if !ok {
		return fault.New(fault.Invalid, "server.restore", "the copy has an entry %q, which this program does not know", e.Name)
	}
	root := roots[id]
	if root == nil {
		return nil // it is there already; the rest of the copy is still checked
	}
	if at := strings.LastIndexByte(name, '/'); at > 0 {
		if err := root.MkdirAll(name[:at], 0o755); err != nil {
			return err
		}
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, e.Mode.Perm()|0o200)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Sync(), f.Close())
}

// check verifies the repositories as they came out of the copy.
func (s *staged) check(ctx context.Context) error {
	for path, part := range s.repos {
		out, err := host.CheckCopy(ctx, part)
		if err == nil && len(out.Problems) > 0 {
			err = fmt.Errorf("%s", out.Problems[0])
		}
		if err != nil {
			return fault.New(fault.Invalid, "server.restore", "the repository %s in the copy is not whole: %w", path, err).
				WithNext("use another copy; nothing was changed")
		}
	}
	return nil
}

// keep puts everything in its place.
func (s *staged) keep() error {
	for path, part := range s.repos {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) { // an empty folder
			return err
		}
		if err := errors.Join(os.Chmod(part, 0o755), os.Rename(part, path), wholefile.SyncFolder(filepath.Dir(path))); err != nil {
			return err
		}
		delete(s.repos, path)
	}
	return s.house.Keep()
}
