package gitstore

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"tandem/internal/repo"
)

// Fault is one thing of a repository that is not there, or is not what its id says.
type Fault struct {
	Kind string `json:"kind" jsonschema:"operation, view or object"`
	ID   string `json:"id"`
	Why  string `json:"why"`
}

func (f Fault) String() string { return fmt.Sprintf("%s %.12s: %s", f.Kind, f.ID, f.Why) }

// Verified is how much was read.
type Verified struct{ Operations, Views, Objects int }

// Verify reads a repository from its disk, as one that has just been opened: what
// somebody remembers of it proves nothing. It goes on after a fault and tells of
// each. Behind an operation that cannot be read nobody knows which others belong to
// the history; then all that are there do.
func Verify(ctx context.Context, dir string, tell func(Fault)) (Verified, error) {
	s, err := Open(dir)
	if err != nil {
		return Verified{}, err
	}
	defer s.Close()
	v := &verifier{s: s, tell: tell, ops: map[repo.OperationID]bool{}, views: map[repo.ViewID]bool{},
		names: map[repo.CommitID]struct{}{}, objects: map[objectID]bool{}}
	heads, err := s.Heads()
	if err != nil {
		return v.Verified, err
	}
	v.operations(ctx, heads)
	if v.broken {
		rest, err := v.stored()
		if err != nil {
			return v.Verified, err
		}
		v.operations(ctx, rest)
	}
	for id := range v.views {
		v.view(ctx, id)
	}
	for id := range v.names {
		v.commits(ctx, id)
	}
	return v.Verified, ctx.Err()
}

type verifier struct {
	Verified
	s       *Store
	tell    func(Fault)
	ops     map[repo.OperationID]bool
	views   map[repo.ViewID]bool
	names   map[repo.CommitID]struct{}
	objects map[objectID]bool
	broken  bool // an operation cannot be read
}

// stored are the operations on the disk.
func (v *verifier) stored() (out []repo.OperationID, err error) {
	all, err := os.ReadDir(filepath.Dir(v.s.operationPath(repo.RootOperationID)))
	for _, e := range all {
		if id, ok := repo.ParseOperationID(e.Name()); ok {
			out = append(out, id)
		}
	}
	return out, err
}

func (v *verifier) operations(ctx context.Context, stack []repo.OperationID) {
	for len(stack) > 0 && ctx.Err() == nil {
		id := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if id == repo.RootOperationID || v.ops[id] {
			continue
		}
		v.ops[id] = true
		v.Operations++
		data, err := readNamed(v.s.operationPath(id), "operation", id.Hex())
		if err == nil {
			err = sameOperation(id, data)
		}
		if err != nil {
			v.broken = true
			v.tell(Fault{"operation", id.Hex(), err.Error()})
			continue
		}
		o, _ := repo.DecodeOperation(data)
		o.AddCommitIDs(v.names)
		v.views[o.View] = true
		stack = append(stack, o.Parents...)
	}
}

func (v *verifier) view(ctx context.Context, id repo.ViewID) {
	if id == repo.RootViewID || ctx.Err() != nil {
		return
	}
	v.Views++
	data, err := readNamed(v.s.viewPath(id), "view", id.Hex())
	if err == nil {
		err = sameView(id, data)
	}
	if err != nil {
		v.tell(Fault{"view", id.Hex(), err.Error()})
		return
	}
	view, _ := repo.DecodeView(data)
	view.AddCommitIDs(v.names)
}

// commits reads a commit with all that it leads to.
func (v *verifier) commits(ctx context.Context, first repo.CommitID) {
	stack := []string{string(first)}
	for len(stack) > 0 && ctx.Err() == nil {
		id := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if len(id) != len(objectID{}) || id == string(repo.RootCommitID) || id == string(repo.EmptyTreeID) || v.objects[objectID([]byte(id))] {
			continue
		}
		v.objects[objectID([]byte(id))] = true
		v.Objects++
		o, held, err := v.read(ctx, id)
		if ctx.Err() != nil {
			return // which says nothing of the object
		}
		if err == nil && held && repo.HashObject(o.Type, o.Data) != id {
			err = errOther
		}
		if err == nil {
			var more []string
			more, err = v.leadsTo(id, o)
			stack = append(stack, more...)
		}
		if err != nil {
			v.tell(Fault{"object", hex.EncodeToString([]byte(id)), err.Error()})
		}
	}
}

// read reads an object. A large file is not held; it leads to nothing, and its bytes
// are looked at here.
func (v *verifier) read(ctx context.Context, id string) (o repo.Object, held bool, err error) {
	f, ok := v.s.objects.openLarge(id)
	if !ok {
		o, err = v.s.Object(ctx, id)
		return o, true, err
	}
	defer f.Close()
	h := repo.NewObjectHash(repo.BlobObject, f.size)
	if _, err = io.Copy(h, until{ctx, f}); err == nil && string(h.Sum(nil)) != id {
		err = errOther
	}
	return repo.Object{Type: repo.BlobObject}, false, err
}

var errOther = errors.New("its bytes are not what its id says")

// leadsTo are the objects that one names.
func (v *verifier) leadsTo(id string, o repo.Object) (out []string, err error) {
	switch o.Type {
	case repo.CommitObject:
		l, ok := parseLinks(o.Data)
		if !ok {
			return nil, errors.New("it is no commit")
		}
		out = append(out, string(l.tree))
		if _, cut := v.s.shallow[repo.CommitID(id)]; cut {
			return out, nil
		}
		for _, p := range l.parents {
			out = append(out, string(p))
		}
	case repo.TreeObject:
		for data := o.Data; len(data) > 0; {
			mode, rest, ok := bytes.Cut(data, []byte{' '})
			_, rest, named := bytes.Cut(rest, []byte{0})
			if !ok || !named || len(rest) < len(objectID{}) {
				return nil, errors.New("it is no tree")
			}
			if string(mode) != "160000" { // a submodule's commit is elsewhere
				out = append(out, string(rest[:len(objectID{})]))
			}
			data = rest[len(objectID{}):]
		}
	}
	return out, nil
}

func sameOperation(id repo.OperationID, data []byte) error {
	o, err := repo.DecodeOperation(data)
	if err == nil && o.ComputeID() != id {
		err = fmt.Errorf("its content is that of %.12s", o.ComputeID().Hex())
	}
	return err
}

func sameView(id repo.ViewID, data []byte) error {
	w, err := repo.DecodeView(data)
	if err == nil && w.ComputeID() != id {
		err = fmt.Errorf("its content is that of %.12s", w.ComputeID().Hex())
	}
	return err
}
