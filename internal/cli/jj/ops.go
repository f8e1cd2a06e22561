package jj

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"tandem/internal/repo"
)

// resolveOp finds an operation by "@", an id prefix, and trailing - and +.
// base is what "@" stands for; nil is the head.
func (w *wsEnv) resolveOp(ctx context.Context, text string, base *repo.Repo) (*repo.Operation, error) {
	stem := strings.TrimRight(text, "-+")
	steps := text[len(stem):]
	ops, err := w.opSymbol(ctx, stem, base)
	if err != nil {
		return nil, err
	}
	for _, s := range steps {
		if ops, err = w.opStep(ctx, ops, s == '-', base); err != nil {
			return nil, err
		}
	}
	switch len(ops) {
	case 1:
		return ops[0], nil
	case 0:
		return nil, userf("The %q expression resolved to no operations", text)
	}
	e := userf("The %q expression resolved to more than one operation", text)
	var ids []string
	for _, o := range ops {
		ids = append(ids, o.ID.Hex()[:12])
	}
	return nil, e.hinted("Try specifying one of the operations by ID: %s", strings.Join(ids, ", "))
}

func (w *wsEnv) opSymbol(ctx context.Context, s string, base *repo.Repo) ([]*repo.Operation, error) {
	if s == "@" {
		if base != nil {
			return []*repo.Operation{base.Operation}, nil
		}
		heads, err := w.store.Heads()
		if err != nil {
			return nil, err
		}
		if len(heads) > 1 {
			who, err := w.identity()
			if err != nil {
				return nil, err
			}
			r, _, err := w.store.Head(ctx, who, repo.MergeOptions{Workspace: w.name, Attributes: map[string]string{"args": w.commandLine()}})
			if err != nil {
				return nil, err
			}
			w.ui.statusf("Concurrent modification detected, resolving automatically.\n")
			return []*repo.Operation{r.Operation}, nil
		}
		o, err := w.store.Operation(ctx, heads[0])
		return []*repo.Operation{o}, err
	}
	low := strings.ToLower(s)
	if s == "" || strings.Trim(low, "0123456789abcdef") != "" {
		return nil, userf("Operation ID %q is not a valid hexadecimal prefix", s)
	}
	var found []*repo.Operation
	if strings.HasPrefix(repo.RootOperationID.Hex(), low) {
		found = append(found, repo.RootOperation())
	}
	ids, err := w.operationsWithPrefix(low)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		o, err := w.store.Operation(ctx, id)
		if err != nil {
			return nil, err
		}
		found = append(found, o)
	}
	switch len(found) {
	case 0:
		return nil, userf("No operation ID matching %q", s)
	case 1:
		return found, nil
	}
	return nil, userf("Operation ID prefix %q is ambiguous", s)
}

func (w *wsEnv) opStep(ctx context.Context, ops []*repo.Operation, down bool, base *repo.Repo) ([]*repo.Operation, error) {
	seen := map[repo.OperationID]bool{}
	var out []*repo.Operation
	if down {
		for _, o := range ops {
			for _, id := range o.Parents {
				if seen[id] {
					continue
				}
				seen[id] = true
				p, err := w.store.Operation(ctx, id)
				if err != nil {
					return nil, err
				}
				out = append(out, p)
			}
		}
		return out, nil
	}
	heads, err := w.opHeads(base)
	if err != nil {
		return nil, err
	}
	want := map[repo.OperationID]bool{}
	for _, o := range ops {
		want[o.ID] = true
	}
	err = repo.WalkOperations(ctx, w.store, heads, func(o *repo.Operation) (bool, error) {
		for _, p := range o.Parents {
			if want[p] && !seen[o.ID] {
				seen[o.ID] = true
				out = append(out, o)
			}
		}
		return true, nil
	})
	return out, err
}

func (w *wsEnv) opHeads(base *repo.Repo) ([]repo.OperationID, error) {
	if base != nil {
		return []repo.OperationID{base.Operation.ID}, nil
	}
	return w.store.Heads()
}

func shortOp(id repo.OperationID) string { return id.Hex()[:12] }

// operationsWithPrefix lists the stored operations whose id starts so.
func (w *wsEnv) operationsWithPrefix(hex string) ([]repo.OperationID, error) {
	entries, err := os.ReadDir(filepath.Join(w.store.Dir(), "op_store", "operations"))
	if err != nil {
		return nil, err
	}
	var out []repo.OperationID
	for _, en := range entries {
		if strings.HasPrefix(en.Name(), hex) {
			if id, ok := repo.ParseOperationID(en.Name()); ok {
				out = append(out, id)
			}
		}
	}
	return out, nil
}
