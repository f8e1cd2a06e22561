package gitstore

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tandem/internal/repo"
	"tandem/internal/wholefile"
)

// Piece is a good copy of something that is damaged elsewhere. Its id says what it
// must be, so that it does not matter whom it comes from.
type Piece struct {
	Kind string `json:"kind" jsonschema:"operation, view or object"`
	ID   string `json:"id"`
	Type string `json:"type,omitempty" jsonschema:"of an object: commit, tree, blob or tag"`
	Data []byte `json:"data"`
}

// Good is the copy that this repository has of what is damaged in another; ok is
// false when it has none, or a damaged one, too.
func (s *Store) Good(ctx context.Context, f Fault) (p Piece, ok bool) {
	raw, err := hex.DecodeString(f.ID)
	if err != nil {
		return p, false
	}
	p = Piece{Kind: f.Kind, ID: f.ID}
	switch f.Kind {
	case "operation":
		p.Data, err = readNamed(s.operationPath(repo.OperationID(raw)), f.Kind, f.ID)
	case "view":
		p.Data, err = readNamed(s.viewPath(repo.ViewID(raw)), f.Kind, f.ID)
	default:
		var o repo.Object
		o, err = s.Object(ctx, string(raw))
		p.Type, p.Data = o.Type.String(), o.Data
	}
	return p, err == nil && p.check() == nil
}

// check says whether a piece is what its id says.
func (p Piece) check() error {
	raw, err := hex.DecodeString(p.ID)
	if err != nil {
		return err
	}
	switch {
	case p.Kind == "operation" && len(raw) == len(repo.RootOperationID):
		return sameOperation(repo.OperationID(raw), p.Data)
	case p.Kind == "view" && len(raw) == len(repo.RootViewID):
		return sameView(repo.ViewID(raw), p.Data)
	case p.Kind == "object" && typeNamed(p.Type) != 0 && repo.HashObject(typeNamed(p.Type), p.Data) == string(raw):
		return nil
	}
	return fmt.Errorf("%s %.12s is not what its id says", p.Kind, p.ID)
}

// Mend puts a good copy in the place of what is damaged or gone. What is good stays
// as it is.
func (s *Store) Mend(ctx context.Context, p Piece) error {
	if err := p.check(); err != nil {
		return err
	}
	raw, _ := hex.DecodeString(p.ID)
	var path string
	switch p.Kind {
	case "operation":
		path = s.operationPath(repo.OperationID(raw))
	case "view":
		path = s.viewPath(repo.ViewID(raw))
	default:
		return s.mendObject(ctx, string(raw), p)
	}
	if data, err := os.ReadFile(path); err == nil && (Piece{Kind: p.Kind, ID: p.ID, Data: data}).check() == nil {
		return nil
	}
	return wholefile.Write(path, p.Data)
}

// mendObject stores an object as a loose file, which is read where a pack fails.
func (s *Store) mendObject(ctx context.Context, id string, p Piece) error {
	if o, err := s.Object(ctx, id); err == nil && repo.HashObject(o.Type, o.Data) == id {
		return nil
	}
	path := loosePath(filepath.Join(s.gitDir, "objects"), id)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return wholefile.Write(path, encodeLoose(repo.Object{Type: typeNamed(p.Type), Data: p.Data}))
}
