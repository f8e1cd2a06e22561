package gitstore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"

	"tandem/internal/repo"
)

// quarantined reads the repository as it would be with what was received. It
// takes nothing: what is computed on it goes into an overlay.
type quarantined struct {
	*Store
	in *Incoming
}

func (q quarantined) typed(ctx context.Context, id string, want repo.ObjectType) ([]byte, bool, error) {
	o, err := q.in.received(ctx, id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err == nil && o.Type != want {
		err = refuse("object %x is a %s, not a %s", id, o.Type, want)
	}
	return o.Data, true, err
}

// Commit reads a commit.
func (q quarantined) Commit(ctx context.Context, id repo.CommitID) (*repo.Commit, error) {
	data, ok, err := q.typed(ctx, string(id), repo.CommitObject)
	if err != nil || !ok {
		if err != nil {
			return nil, err
		}
		return q.Store.Commit(ctx, id)
	}
	return repo.DecodeCommit(id, data)
}

// Tree reads a directory.
func (q quarantined) Tree(ctx context.Context, id repo.TreeID) (repo.Tree, error) {
	data, ok, err := q.typed(ctx, string(id), repo.TreeObject)
	if err != nil || !ok {
		if err != nil {
			return nil, err
		}
		return q.Store.Tree(ctx, id)
	}
	return repo.DecodeTree(data)
}

// File reads a file's bytes.
func (q quarantined) File(ctx context.Context, id repo.FileID) ([]byte, error) {
	data, ok, err := q.typed(ctx, string(id), repo.BlobObject)
	if err != nil || ok {
		return data, err
	}
	return q.Store.File(ctx, id)
}

// OpenFile reads a file's bytes.
func (q quarantined) OpenFile(ctx context.Context, id repo.FileID) (io.ReadCloser, int64, error) {
	if l, ok := q.in.openLarge(string(id)); ok {
		return l.until(ctx), int64(l.size), nil
	}
	data, ok, err := q.typed(ctx, string(id), repo.BlobObject)
	if err == nil && !ok {
		return q.Store.OpenFile(ctx, id)
	}
	return io.NopCloser(bytes.NewReader(data)), int64(len(data)), err
}

// openLarge opens a large file that has come whole.
func (in *Incoming) openLarge(id string) (*largeFile, bool) {
	for _, p := range in.packs {
		if at, ok := p.pack.lookup(id); ok {
			if e, err := parseEntry(p.pack.data, at); err != nil || e.typ != repo.BlobObject || e.size <= large {
				return nil, false
			}
			l, _ := p.pack.openLarge(at)
			return l, l != nil
		}
	}
	return nil, false
}

// Operation reads an operation.
func (q quarantined) Operation(ctx context.Context, id repo.OperationID) (*repo.Operation, error) {
	if o, ok := q.in.operations[id]; ok {
		return o.value, nil
	}
	return q.Store.Operation(ctx, id)
}

// View reads a view.
func (q quarantined) View(ctx context.Context, id repo.ViewID) (*repo.View, error) {
	v, ok := q.in.views[id]
	if !ok {
		return q.Store.View(ctx, id)
	}
	if v.value == nil {
		value, err := repo.DecodeView(v.data)
		if err != nil {
			return nil, err
		}
		v.value = value
	}
	return v.value, nil
}

// Store reads the repository with what was received, and keeps what is put into
// it in memory alone.
func (in *Incoming) Store() repo.Store { return repo.NewOverlay(quarantined{in.store, in}) }

// HasOperation says whether an operation was received or is known.
func (in *Incoming) HasOperation(id repo.OperationID) bool {
	_, ok := in.operations[id]
	return ok || in.store.HasOperation(id)
}

// At is the repository as it would be at a received operation. Its Store is that
// of the quarantine.
func (in *Incoming) At(ctx context.Context, id repo.OperationID) (*repo.Repo, error) {
	s := in.Store()
	op, err := s.Operation(ctx, id)
	if err != nil {
		return nil, err
	}
	view, err := s.View(ctx, op.View)
	if err != nil {
		return nil, err
	}
	ix, err := in.store.buildIndex(ctx, s, op)
	if err != nil {
		return nil, err
	}
	return &repo.Repo{Store: s, Operation: op, View: view, Index: ix}, nil
}

// IndexOver is the index at a received operation that brings everything made
// since another one, whose index is known: that and the commits that came.
func (in *Incoming) IndexOver(ctx context.Context, base repo.OperationID) (*repo.Index, error) {
	op, err := in.store.Operation(ctx, base)
	if err != nil {
		return nil, err
	}
	known, err := in.store.Index(ctx, op)
	if err != nil {
		return nil, err
	}
	ix := known.Extend()
	return ix, ix.AddAll(ctx, quarantined{in.store, in}, slices.Collect(maps.Keys(in.parents)))
}
