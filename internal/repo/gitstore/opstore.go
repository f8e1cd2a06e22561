package gitstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tandem/internal/repo"
)

func (s *Store) operationPath(id repo.OperationID) string {
	return filepath.Join(s.dir, "op_store", "operations", id.Hex())
}

func (s *Store) viewPath(id repo.ViewID) string {
	return filepath.Join(s.dir, "op_store", "views", id.Hex())
}

// HasOperation says whether an operation's file is there.
func (s *Store) HasOperation(id repo.OperationID) bool {
	if id == repo.RootOperationID {
		return true
	}
	_, err := os.Lstat(s.operationPath(id))
	return err == nil
}

// OperationBytes is an operation as stored, unknown fields and all.
func (s *Store) OperationBytes(id repo.OperationID) ([]byte, error) {
	return readNamed(s.operationPath(id), "operation", id.Hex())
}

// ViewBytes is a view as stored, unknown fields and all.
func (s *Store) ViewBytes(id repo.ViewID) ([]byte, error) {
	return readNamed(s.viewPath(id), "view", id.Hex())
}

func readNamed(path, typ, id string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &repo.MissingError{Type: typ, ID: id}
	}
	return data, err
}

// Operation reads an operation.
func (s *Store) Operation(id repo.OperationID) (*repo.Operation, error) {
	if id == repo.RootOperationID {
		return repo.RootOperation(), nil
	}
	data, err := s.OperationBytes(id)
	if err != nil {
		return nil, err
	}
	o, err := repo.DecodeOperation(data)
	if err != nil {
		return nil, fmt.Errorf("operation %s: %w", id.Hex(), err)
	}
	o.ID = id
	return o, nil
}

// View reads a view.
func (s *Store) View(id repo.ViewID) (*repo.View, error) {
	if id == repo.RootViewID {
		return repo.RootView(), nil
	}
	data, err := s.ViewBytes(id)
	if err != nil {
		return nil, err
	}
	v, err := repo.DecodeView(data)
	if err != nil {
		return nil, fmt.Errorf("view %s: %w", id.Hex(), err)
	}
	return v, nil
}

// PutView stores a view durably, after everything it may name.
func (s *Store) PutView(v *repo.View) (repo.ViewID, error) {
	id := v.ComputeID()
	if id == repo.RootViewID {
		return id, nil
	}
	return id, s.putNamed(s.viewPath(id), v.Encode())
}

// PutOperation stores an operation durably, after everything it may name, and
// sets its id. Nothing refers to it until PublishHead.
func (s *Store) PutOperation(o *repo.Operation) error {
	o.ID = o.ComputeID()
	return s.putNamed(s.operationPath(o.ID), o.Encode())
}

func (s *Store) putNamed(path string, data []byte) error {
	if err := s.Flush(); err != nil {
		return err
	}
	if err := s.writeNamed(path, data); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// writeNamed writes a content-addressed file unless it is there; its directory
// is the caller's to sync.
func (s *Store) writeNamed(path string, data []byte) error {
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	if err := writeFile(path, data, 0o666&^umask()); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(filepath.Dir(path)), err)
	}
	return nil
}
