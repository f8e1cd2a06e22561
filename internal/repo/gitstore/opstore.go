package gitstore

import (
	"context"
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

// named is an operation or a view with its bytes. Both never change under
// their id, so what was read once is kept.
type named[T any] struct {
	value T
	data  []byte
}

// HasOperation says whether an operation is there.
func (s *Store) HasOperation(id repo.OperationID) bool {
	if id == repo.RootOperationID {
		return true
	}
	if _, ok := s.operations.get(id); ok {
		return true
	}
	_, err := os.Lstat(s.operationPath(id))
	return err == nil
}

// OperationBytes is an operation as stored, unknown fields and all.
func (s *Store) OperationBytes(id repo.OperationID) ([]byte, error) {
	if o, ok := s.operations.get(id); ok {
		return o.data, nil
	}
	return readNamed(s.operationPath(id), "operation", id.Hex())
}

// ViewBytes is a view as stored, unknown fields and all.
func (s *Store) ViewBytes(id repo.ViewID) ([]byte, error) {
	if v, ok := s.knownView(id); ok {
		return v.data, nil
	}
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
func (s *Store) Operation(ctx context.Context, id repo.OperationID) (*repo.Operation, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if id == repo.RootOperationID {
		return repo.RootOperation(), nil
	}
	if o, ok := s.operations.get(id); ok {
		return o.value, nil
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
	s.keepOperation(o, data)
	return o, nil
}

// View reads a view.
func (s *Store) View(ctx context.Context, id repo.ViewID) (*repo.View, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if id == repo.RootViewID {
		return repo.RootView(), nil
	}
	if v, ok := s.knownView(id); ok {
		return v.value, nil
	}
	data, err := s.ViewBytes(id)
	if err != nil {
		return nil, err
	}
	v, err := repo.DecodeView(data)
	if err != nil {
		return nil, fmt.Errorf("view %s: %w", id.Hex(), err)
	}
	s.keepView(id, v, data)
	return v, nil
}

func (s *Store) keepOperation(o *repo.Operation, data []byte) {
	s.operations.put(o.ID, named[*repo.Operation]{o, data}, 500+3*len(data))
}

func (s *Store) keepView(id repo.ViewID, v *repo.View, data []byte) {
	s.views.put(id, named[*repo.View]{v, data}, 500+4*len(data))
}

// knownView is a view that was read or put before.
func (s *Store) knownView(id repo.ViewID) (named[*repo.View], bool) {
	if v, ok := s.views.get(id); ok {
		return v, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.held[id]
	return v, ok
}

// PutView stores a view; it is durable after Flush, and after PutOperation.
func (s *Store) PutView(ctx context.Context, v *repo.View) (repo.ViewID, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	id := v.ComputeID()
	if id == repo.RootViewID {
		return id, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[id] = named[*repo.View]{v.Clone(), v.Encode()}
	return id, nil
}

// PutOperation stores an operation durably, with everything put before and after
// whatever it may name, and sets its id. Nothing refers to it until PublishHead.
func (s *Store) PutOperation(ctx context.Context, o *repo.Operation) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	o.ID = o.ComputeID()
	data := o.Encode()
	var b batch
	defer b.drop()
	settle, err := s.stage(&b)
	if err != nil {
		return err
	}
	if err = b.add(s.operationPath(o.ID), data, 0o666); err == nil {
		err = b.commit()
	}
	if err != nil {
		return fmt.Errorf("write operation: %w", err)
	}
	if err := settle(); err != nil {
		return err
	}
	s.keepOperation(o, data)
	return nil
}
