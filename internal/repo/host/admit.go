package host

import (
	"context"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// AdmitFile is a change to a file that commands agents or tools.
type AdmitFile struct {
	Path   string `json:"path"`
	Status string `json:"status" jsonschema:"added, modified or removed"`
	By     string `json:"by" jsonschema:"the author of the commit that brings it"`
	Diff   string `json:"diff"`
}

// AdmitIn asks that others' changes to files that command agents may come into
// a workspace.
type AdmitIn struct {
	Repo      string      `json:"repo" jsonschema:"the repository, by name or id"`
	Workspace string      `json:"workspace" jsonschema:"the workspace into which they would come"`
	Files     []AdmitFile `json:"files" jsonschema:"the files, each with its change"`
}

// AdmitOut says how many files were admitted.
type AdmitOut struct {
	Files int `json:"files"`
}

// Check refuses to ask for nothing.
func (in AdmitIn) Check() error {
	if len(in.Files) == 0 {
		return fault.New(fault.Invalid, "workspace.admit", "no file is named")
	}
	return nil
}

func (h *Host) admitAt(in AdmitIn) op.Resource { return h.at(in.Repo, "commands", in.Workspace) }

// admit is the answer to an ask: who may ask for nothing more is recorded, and
// the copy lets the files in.
func (h *Host) admit(ctx context.Context, _ *db.Tx, in AdmitIn) (AdmitOut, error) {
	if _, err := h.find(ctx, in.Repo); err != nil {
		return AdmitOut{}, err
	}
	return AdmitOut{Files: len(in.Files)}, nil
}
