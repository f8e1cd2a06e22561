package workcopy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"unicode/utf8"

	"tandem/internal/fault"
	"tandem/internal/repo"
)

// file compares a file with what is known of it and reads it if need be.
func (s *snapshot) file(ctx context.Context, path repo.Path, info fs.FileInfo, tracked *FileState) {
	now, ok := stateOf(path, info)
	if !ok {
		if tracked != nil {
			s.gone([]FileState{*tracked})
		}
		return // neither file nor symlink: as if it were not there
	}
	if now.Type != Symlink && now.Size > repo.LargestFile {
		s.tooLarge(path, info.Size(), tracked != nil)
		return
	}
	if tracked != nil && now.sameOnDisk(*tracked) && tracked.Mtime < s.state.mtime {
		return
	}
	markerLen := uint32(0)
	if tracked != nil {
		markerLen = tracked.MarkerLen
	}
	old, err := repo.ValueAt(ctx, s.store, s.state.tree, path)
	if err != nil {
		s.fail(err)
		return
	}
	value, err := s.read(ctx, path, now, old, markerLen)
	if err == errGone {
		if tracked != nil {
			s.gone([]FileState{*tracked})
		}
		return
	}
	if err != nil {
		s.fail(fmt.Errorf("%s: %w", path, err))
		return
	}
	changed := !value.Equal(old)
	if now.Type != Symlink && (!changed || !value.IsResolved()) {
		now.MarkerLen = markerLen
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if changed {
		s.edit.Set(path, value)
	}
	if tracked == nil || now != *tracked {
		s.changed = append(s.changed, now)
	}
}

// stateOf is what can be seen of a file without reading it.
func stateOf(path repo.Path, info fs.FileInfo) (FileState, bool) {
	f := FileState{Path: path, Mtime: info.ModTime().UnixMilli(), Size: uint64(info.Size())}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		f.Type = Symlink
	case !info.Mode().IsRegular():
		return f, false
	case info.Mode()&0o111 != 0 && !noExecBits:
		f.Type = Executable
	}
	return f, true
}

// errGone says that a file is not there any more since it was looked at. An object
// that the repository lacks is another matter.
var errGone = errors.New("the file has gone")

func unread(what string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errGone
	}
	return fmt.Errorf("read %s: %w", what, err)
}

// read makes a tree value of a file; errGone when there is none.
func (s *snapshot) read(ctx context.Context, path repo.Path, now FileState, old repo.Merge[repo.TreeValue],
	markerLen uint32) (repo.Merge[repo.TreeValue], error) {
	name := filepath.FromSlash(string(path))
	if now.Type == Symlink {
		target, err := s.root.Readlink(name)
		if err != nil {
			return nil, unread("symlink", err)
		}
		if !utf8.ValidString(target) {
			return nil, fmt.Errorf("symlink %s has a target that is not UTF-8", path)
		}
		id, err := s.store.PutFile(ctx, []byte(filepath.ToSlash(target)))
		return repo.Resolved(repo.TreeValue{Kind: repo.Symlink, ID: string(id)}), err
	}
	was, resolved := old.AsResolved()
	if now.Size > repo.LargeFile {
		whole, executable := resolved, was.Kind == repo.Executable
		if !resolved && markerLen == 0 { // nothing but a description was written
			var err error
			if whole, err = repo.HasLargeTerm(ctx, s.store, old); err != nil {
				return nil, err
			}
			executable = repo.ConflictIsExecutable(old)
		}
		if whole {
			id, ok, err := s.readLarge(ctx, name)
			if err != nil || ok {
				return repo.Resolved(s.fileValue(id, now, executable)), err
			}
		}
	}
	data, err := s.root.ReadFile(name)
	if err != nil {
		return nil, unread("file", err)
	}
	data = s.Ends.taken(data)
	if resolved {
		id, err := s.store.PutFile(ctx, data)
		return repo.Resolved(s.fileValue(id, now, was.Kind == repo.Executable)), err
	}
	ids, ok := repo.FileIDs(old)
	if !ok {
		return old, nil // a description of a conflict, not its content
	}
	if markerLen == 0 {
		markerLen = repo.MinMarkerLen
	}
	newIDs, err := repo.UpdateConflict(ctx, s.store, ids, data, int(markerLen))
	if err != nil {
		return nil, err
	}
	if id, ok := newIDs.AsResolved(); ok {
		return repo.Resolved(s.fileValue(id, now, repo.ConflictIsExecutable(old))), nil
	}
	return repo.WithFileIDs(old, newIDs), nil
}

// readLarge stores a large file without holding it. It is not ok when the file must
// be held to be changed on the way, or is not large any more. One that becomes
// shorter while it is read is read again, a few times.
func (s *snapshot) readLarge(ctx context.Context, name string) (id repo.FileID, ok bool, err error) {
	for range 3 {
		id, ok, err = s.tryLarge(ctx, name)
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			return id, ok, err
		}
	}
	return "", false, fault.New(fault.Conflict, "repo.file", "it is being written: it became shorter while it was read").
		WithNext("try again when nobody writes it, or name it in .gitignore")
}

func (s *snapshot) tryLarge(ctx context.Context, name string) (id repo.FileID, ok bool, err error) {
	f, err := s.root.Open(name)
	if err != nil {
		return "", false, unread("file", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", false, unread("file", err)
	}
	if info.Size() <= repo.LargeFile {
		return "", false, nil
	}
	if s.Ends != KeepEnds {
		start := make([]byte, probeSize)
		n, err := f.ReadAt(start, 0)
		if err != nil && err != io.EOF {
			return "", false, unread("file", err)
		}
		if !isBinary(start[:n]) {
			return "", false, nil
		}
	}
	id, err = s.store.PutLargeFile(ctx, f, info.Size())
	return id, err == nil, err
}

func (s *snapshot) fileValue(id repo.FileID, now FileState, wasExecutable bool) repo.TreeValue {
	v := repo.TreeValue{Kind: repo.File, ID: string(id)}
	executable := now.Type == Executable
	if s.IgnoreExec {
		executable = wasExecutable
	}
	if executable {
		v.Kind = repo.Executable
	}
	return v
}
