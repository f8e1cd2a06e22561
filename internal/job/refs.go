package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/job/wire"
	"tandem/internal/wholefile"
)

// An agent's own git can write the refs of the repository. Where they stood before a turn lies in a file beside the database, since there
// can be many; what moved until the turn's end is named in the job, whoever moved it.

// How many refs are named: of a turn, and of a job.
const (
	maxMoved      = 50
	maxMovedInAll = 500
)

// ours says whether a ref is tandem's own for a job: what is checked, looked at and merged is known from the job's row.
func ours(ref string) bool {
	return strings.HasPrefix(ref, "refs/heads/tandem/job-") || strings.HasPrefix(ref, "refs/tandem/job/")
}

// picture is the file of a job's turn. A job has one turn at a time: the next one waits until the one before was looked at.
func (r *Room) picture(j *Job) string { return filepath.Join(r.Folder, j.ID+".refs") }

// before writes down where the refs stand, once a turn.
func (r *Room) before(ctx context.Context, j *Job) error {
	if _, err := os.Stat(r.picture(j)); err == nil {
		return nil // a step that a crash cut off: the turn may be under way
	}
	refs, err := r.Tools.Refs(ctx, j.Repo)
	if err != nil {
		return err
	}
	data, err := json.Marshal(refs)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(r.Folder, 0o700); err != nil {
		return err
	}
	return wholefile.Write(r.picture(j), data)
}

// moved are the refs that moved since the turn began.
func (r *Room) moved(ctx context.Context, j *Job) (out []wire.Moved) {
	data, err := os.ReadFile(r.picture(j))
	if err != nil {
		return nil // its turn did not begin
	}
	var was map[string]string
	now, err := r.Tools.Refs(ctx, j.Repo)
	if wrong := json.Unmarshal(data, &was); err != nil || wrong != nil {
		r.Log.Error("compare a job's refs", "job", j.ID, "err", err, "file", wrong)
		return []wire.Moved{{Ref: "(not known: the repository could not be read)"}}
	}
	for ref, at := range was {
		if now[ref] != at && !ours(ref) {
			out = append(out, wire.Moved{Ref: ref, From: at, To: now[ref]})
		}
	}
	for ref, at := range now {
		if was[ref] == "" && !ours(ref) {
			out = append(out, wire.Moved{Ref: ref, To: at})
		}
	}
	slices.SortFunc(out, func(a, b wire.Moved) int { return strings.Compare(a.Ref, b.Ref) })
	if more := len(out) - maxMoved; more > 0 {
		out = append(out[:maxMoved], wire.Moved{Ref: fmt.Sprintf("(and %d more)", more)})
	}
	return out
}

// after has what happened at a turn's end settled, with the refs that moved in it. Where the job moved on meanwhile, whoever ends its turn
// looks at them.
func (r *Room) after(ctx context.Context, j *Job, e Event) error {
	e.Moved = r.moved(ctx, j)
	if err := r.settle(ctx, j, e); errors.Is(err, errStale) {
		return nil
	} else if err != nil {
		return err
	}
	os.Remove(r.picture(j)) //nolint:errcheck // nobody asks for it again
	return nil
}
