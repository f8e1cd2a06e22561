package repo

import (
	"context"
	"errors"
	"io/fs"

	"tandem/internal/repo/replica"
)

// undoing turns undo and redo into what they mean where many write into one
// operation log: they act on what this workspace did last, whatever options stand
// around the word, and on another's operation only when it is named.
func undoing(ctx context.Context, args []string, r *replica.Replica) ([]string, error) {
	at := wordsAt(args)
	if len(at) == 0 || len(at) > 2 || args[at[0]] != "undo" && args[at[0]] != "redo" {
		return args, nil
	}
	out := append([]string(nil), args[:at[0]]...)
	out = append(out, "op", "revert")
	if len(at) == 2 { // op revert takes the name
		return append(out, args[at[0]+1:]...), nil
	}
	last := r.LastDone
	if args[at[0]] == "redo" {
		last = r.LastUndone
	}
	id, err := last(ctx)
	if err != nil {
		return nil, err
	}
	return append(append(out, id.Hex()), args[at[0]+1:]...), nil
}

// ownUndo is undoing in a folder whose repository is served from here: agents
// elsewhere write into its operation log, too. In a repository of one's own undo
// is jj's.
func ownUndo(ctx context.Context, args []string, dir string) ([]string, error) {
	if word := Subcommand(args); word != "undo" && word != "redo" {
		return args, nil
	}
	r, err := replica.Served(ctx, dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && r == nil {
		return args, nil
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return undoing(ctx, args, r)
}
