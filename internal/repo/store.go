package repo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"sync"
)

// Store gives and takes the objects of a repository. Everything it returns is
// shared: callers do not change it. The disk's implementation is
// internal/repo/gitstore; Overlay is one in memory.
type Store interface {
	Commit(ctx context.Context, id CommitID) (*Commit, error)
	Tree(ctx context.Context, id TreeID) (Tree, error)
	File(ctx context.Context, id FileID) ([]byte, error)
	// PutCommit stores c and returns it as it can be read back, with its id.
	PutCommit(ctx context.Context, c *Commit) (*Commit, error)
	PutTree(ctx context.Context, t Tree) (TreeID, error)
	PutFile(ctx context.Context, data []byte) (FileID, error)
	// OpenFile gives a file's bytes as they are read, and how many they are.
	OpenFile(ctx context.Context, id FileID) (io.ReadCloser, int64, error)
	// PutLargeFile is PutFile for more than LargeFile bytes, which are read twice.
	PutLargeFile(ctx context.Context, r io.ReaderAt, size int64) (FileID, error)

	Operation(ctx context.Context, id OperationID) (*Operation, error)
	View(ctx context.Context, id ViewID) (*View, error)
	PutView(ctx context.Context, v *View) (ViewID, error)
	// PutOperation stores o and sets its id. It becomes a head by other means.
	PutOperation(ctx context.Context, o *Operation) error
}

// MissingError says that an object is named but not there.
type MissingError struct {
	Type string // "commit", "tree", "file", "operation", "view"
	ID   string // hexadecimal
}

// Error is jj's sentence for it.
func (e *MissingError) Error() string {
	return fmt.Sprintf("Object %s of type %s not found", e.ID, e.Type)
}

// Overlay is a Store in memory, over another that it only reads; with no Base
// it stands alone. It computes what a change would write without writing it.
// It is safe for concurrent use, as any Store.
type Overlay struct {
	Base Store

	mu         sync.RWMutex
	objects    map[string]Object // by raw id
	operations map[OperationID]*Operation
	views      map[ViewID]*View
}

// Object is a git object: what it is and its bytes.
type Object struct {
	Type ObjectType
	Data []byte
}

// NewOverlay is an empty layer over base, which may be nil.
func NewOverlay(base Store) *Overlay {
	return &Overlay{
		Base: base, objects: map[string]Object{},
		operations: map[OperationID]*Operation{}, views: map[ViewID]*View{},
	}
}

// Commit reads a commit of the layer or of the base.
func (o *Overlay) Commit(ctx context.Context, id CommitID) (*Commit, error) {
	if id == RootCommitID {
		return RootCommit(), nil
	}
	if obj, ok := o.object(string(id)); ok {
		return DecodeCommit(id, obj.Data)
	}
	if o.Base == nil {
		return nil, &MissingError{"commit", id.Hex()}
	}
	return o.Base.Commit(ctx, id)
}

// Tree reads a tree of the layer or of the base.
func (o *Overlay) Tree(ctx context.Context, id TreeID) (Tree, error) {
	if id == EmptyTreeID {
		return nil, nil
	}
	if obj, ok := o.object(string(id)); ok {
		return DecodeTree(obj.Data)
	}
	if o.Base == nil {
		return nil, &MissingError{"tree", id.Hex()}
	}
	return o.Base.Tree(ctx, id)
}

// File reads a blob of the layer or of the base.
func (o *Overlay) File(ctx context.Context, id FileID) ([]byte, error) {
	if obj, ok := o.object(string(id)); ok {
		return obj.Data, nil
	}
	if o.Base == nil {
		return nil, &MissingError{"file", id.Hex()}
	}
	return o.Base.File(ctx, id)
}

// OpenFile reads a blob of the layer or of the base.
func (o *Overlay) OpenFile(ctx context.Context, id FileID) (io.ReadCloser, int64, error) {
	if _, ok := o.object(string(id)); !ok && o.Base != nil {
		return o.Base.OpenFile(ctx, id)
	}
	data, err := o.File(ctx, id)
	return io.NopCloser(bytes.NewReader(data)), int64(len(data)), err
}

// PutCommit keeps a commit in the layer.
func (o *Overlay) PutCommit(ctx context.Context, c *Commit) (*Commit, error) {
	data, err := EncodeCommit(ctx, o, c)
	if err != nil {
		return nil, err
	}
	return DecodeCommit(CommitID(o.put(CommitObject, data)), data)
}

// PutTree keeps a tree in the layer.
func (o *Overlay) PutTree(_ context.Context, t Tree) (TreeID, error) {
	return TreeID(o.put(TreeObject, EncodeTree(t))), nil
}

// PutFile keeps a blob in the layer.
func (o *Overlay) PutFile(_ context.Context, data []byte) (FileID, error) {
	return FileID(o.put(BlobObject, data)), nil
}

// PutLargeFile keeps a blob in the layer.
func (o *Overlay) PutLargeFile(ctx context.Context, r io.ReaderAt, size int64) (FileID, error) {
	if err := CheckFileSize(size); err != nil {
		return "", err
	}
	data := make([]byte, size)
	if n, err := r.ReadAt(data, 0); n < len(data) {
		return "", fmt.Errorf("read %d of %d bytes: %w", n, size, err)
	}
	return o.PutFile(ctx, data)
}

func (o *Overlay) put(t ObjectType, data []byte) string {
	id := HashObject(t, data)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.objects[id] = Object{t, data}
	return id
}

func (o *Overlay) object(id string) (Object, bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	obj, ok := o.objects[id]
	return obj, ok
}

// Objects lists what was put, by raw id.
func (o *Overlay) Objects() map[string]Object {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return maps.Clone(o.objects)
}

// Operation reads an operation of the layer or of the base.
func (o *Overlay) Operation(ctx context.Context, id OperationID) (*Operation, error) {
	if id == RootOperationID {
		return RootOperation(), nil
	}
	o.mu.RLock()
	op, ok := o.operations[id]
	o.mu.RUnlock()
	if ok {
		return op, nil
	}
	if o.Base == nil {
		return nil, &MissingError{"operation", id.Hex()}
	}
	return o.Base.Operation(ctx, id)
}

// View reads a view of the layer or of the base.
func (o *Overlay) View(ctx context.Context, id ViewID) (*View, error) {
	if id == RootViewID {
		return RootView(), nil
	}
	o.mu.RLock()
	v, ok := o.views[id]
	o.mu.RUnlock()
	if ok {
		return v, nil
	}
	if o.Base == nil {
		return nil, &MissingError{"view", id.Hex()}
	}
	return o.Base.View(ctx, id)
}

// PutView keeps a view in the layer.
func (o *Overlay) PutView(_ context.Context, v *View) (ViewID, error) {
	id := v.ComputeID()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.views[id] = v.Clone()
	return id, nil
}

// PutOperation keeps an operation in the layer.
func (o *Overlay) PutOperation(_ context.Context, op *Operation) error {
	op.ID = op.ComputeID()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.operations[op.ID] = op
	return nil
}
