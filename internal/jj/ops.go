// Names of operations, as jj 0.45.1 reads them: `@`, a prefix of an id, and trailing `-` and `+`.

package jj

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"tandem/internal/repo"
)

// opLog is the log of operations: which of them a text names, and what they did.
type opLog struct{ *state }

// resolve finds an operation by "@", an id prefix, and trailing - and +.
// base is what "@" stands for; nil is the head.
func (l *opLog) resolve(ctx context.Context, text string, base *repo.Repo) (*repo.Operation, error) {
	stem := strings.TrimRight(text, "-+")
	steps := text[len(stem):]
	ops, err := l.symbol(ctx, stem, base)
	if err != nil {
		return nil, err
	}
	for _, s := range steps {
		if ops, err = l.step(ctx, ops, s == '-', base); err != nil {
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

func (l *opLog) symbol(ctx context.Context, s string, base *repo.Repo) ([]*repo.Operation, error) {
	if s == "@" {
		if base != nil {
			return []*repo.Operation{base.Operation}, nil
		}
		heads, err := l.store.Heads()
		if err != nil {
			return nil, err
		}
		if len(heads) > 1 {
			who, err := l.identity()
			if err != nil {
				return nil, err
			}
			r, _, err := l.store.Head(ctx, who, repo.MergeOptions{Workspace: l.name, Attributes: map[string]string{"args": l.commandLine()}})
			if err != nil {
				return nil, err
			}
			l.ui.statusf("Concurrent modification detected, resolving automatically.\n")
			return []*repo.Operation{r.Operation}, nil
		}
		o, err := l.store.Operation(ctx, heads[0])
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
	ids, err := l.withPrefix(low)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		o, err := l.store.Operation(ctx, id)
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

func (l *opLog) step(ctx context.Context, ops []*repo.Operation, down bool, base *repo.Repo) ([]*repo.Operation, error) {
	seen := map[repo.OperationID]bool{}
	var out []*repo.Operation
	if down {
		for _, o := range ops {
			for _, id := range o.Parents {
				if seen[id] {
					continue
				}
				seen[id] = true
				p, err := l.store.Operation(ctx, id)
				if err != nil {
					return nil, err
				}
				out = append(out, p)
			}
		}
		return out, nil
	}
	heads, err := l.heads(base)
	if err != nil {
		return nil, err
	}
	want := map[repo.OperationID]bool{}
	for _, o := range ops {
		want[o.ID] = true
	}
	err = repo.WalkOperations(ctx, l.store, heads, func(o *repo.Operation) (bool, error) {
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

func (l *opLog) heads(base *repo.Repo) ([]repo.OperationID, error) {
	if base != nil {
		return []repo.OperationID{base.Operation.ID}, nil
	}
	return l.store.Heads()
}

func shortOp(id repo.OperationID) string { return id.Hex()[:12] }

// withPrefix lists the stored operations whose id starts so.
func (l *opLog) withPrefix(hex string) ([]repo.OperationID, error) {
	entries, err := os.ReadDir(filepath.Join(l.store.Dir(), "op_store", "operations"))
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
