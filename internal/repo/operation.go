package repo

import (
	"maps"
	"slices"
)

// Operation is one step in the history of the repository as a whole.
type Operation struct {
	ID      OperationID // empty until stored
	View    ViewID
	Parents []OperationID
	Meta    OperationMeta
	// Predecessors maps every commit the operation made to those it replaces;
	// nil in operations of a jj too old to record it.
	Predecessors map[CommitID][]CommitID
	unknown      string
}

// OperationMeta says who did what, when and where.
type OperationMeta struct {
	Start, End  Timestamp
	Description string
	Hostname    string
	Username    string
	Snapshot    bool              // taken by itself before a command
	Workspace   string            // "" when the writer did not say
	Attributes  map[string]string // "args" holds the command line
	unknown     string
}

// RootOperation is the virtual ancestor of every operation.
func RootOperation() *Operation {
	return &Operation{ID: RootOperationID, View: RootViewID, Predecessors: map[CommitID][]CommitID{}}
}

// CommitIDs lists the commits the operation itself names.
func (o *Operation) CommitIDs() []CommitID {
	seen := map[CommitID]struct{}{}
	o.AddCommitIDs(seen)
	return slices.Sorted(maps.Keys(seen))
}

// AddCommitIDs adds them to a set.
func (o *Operation) AddCommitIDs(seen map[CommitID]struct{}) {
	for id, olds := range o.Predecessors {
		seen[id] = struct{}{}
		for _, old := range olds {
			seen[old] = struct{}{}
		}
	}
}
