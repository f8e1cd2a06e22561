package gitstore

import "tandem/internal/repo"

// At is the repository as it is at an operation.
func (s *Store) At(id repo.OperationID) (*repo.Repo, error) {
	op, err := s.Operation(id)
	if err != nil {
		return nil, err
	}
	view, err := s.View(op.View)
	if err != nil {
		return nil, err
	}
	ix, err := s.Index(op)
	if err != nil {
		return nil, err
	}
	return &repo.Repo{Store: s, Operation: op, View: view, Index: ix}, nil
}
