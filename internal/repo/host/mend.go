package host

import (
	"context"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/repo/gitstore"
)

// MendIn brings good copies of what is damaged in a repository.
type MendIn struct {
	Repo      string           `json:"repo" jsonschema:"the repository, by name or id"`
	Workspace string           `json:"workspace" jsonschema:"a workspace of one's own, whose copy they come from"`
	Pieces    []gitstore.Piece `json:"pieces" jsonschema:"operations, views and objects, each under its id"`
}

// MendOut says how many were taken.
type MendOut struct {
	Mended int `json:"mended"`
}

// maxPieces bounds one call.
const maxPieces = 1000

// Check refuses more than one call may bring.
func (in MendIn) Check() error {
	if len(in.Pieces) > maxPieces {
		return fault.New(fault.Invalid, "repo.mend", "%d pieces are too many for one call; %d are allowed", len(in.Pieces), maxPieces)
	}
	return nil
}

// mend takes good copies. Whoever brings one cannot bring anything else: what it
// must be is in its id, which the repository's own history names.
func (h *Host) mend(ctx context.Context, in MendIn) (MendOut, error) {
	dir, err := h.storeOf(ctx, in.Repo)
	if err != nil {
		return MendOut{}, err
	}
	store, err := gitstore.Open(dir)
	if err != nil {
		return MendOut{}, err
	}
	defer store.Close()
	checked, err := Check(ctx, dir)
	if err != nil {
		return MendOut{}, err
	}
	wanted := map[string]bool{}
	for _, f := range checked.Faults {
		wanted[f.Kind+" "+f.ID] = true
	}
	out := MendOut{}
	for _, p := range in.Pieces {
		if !wanted[p.Kind+" "+p.ID] {
			continue
		}
		if err := store.Mend(ctx, p); err != nil {
			return out, fault.New(fault.Invalid, "repo.mend", "%w", err)
		}
		out.Mended++
	}
	op.Note(ctx, "mended", out.Mended)
	return out, nil
}

// odd is a repository that could not be opened. It stops no other; looking at it
// and mending it work.
type odd struct {
	name, id  string
	path, dir string
	err       error
}
