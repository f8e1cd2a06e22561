package replica

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"tandem/internal/repo"
	"tandem/internal/repo/exchange"
	"tandem/internal/repo/gitstore"
	"tandem/internal/repo/workcopy"
)

// Config says what a copy is a copy of.
type Config struct {
	Server string `json:"server"` // HOST:PORT
	Repo   string `json:"repo"`   // what the repository was called there
	ID     string `json:"id"`     // the repository's own; "" in a copy from before there were ids that has not synced since
	First  string `json:"first"`  // the workspace it was made for
}

// Ref is how the server is told which repository is meant.
func (c Config) Ref() string {
	if c.ID != "" {
		return c.ID
	}
	return c.Repo
}

// Known is the server's head as it was last seen, all of which is here.
type Known struct {
	Head       string `json:"head"`
	Version    int64  `json:"version"`
	Actor      string `json:"actor,omitempty"`      // who we are to the server
	Checkpoint string `json:"checkpoint,omitempty"` // the newest of its journal that it told of
	// Receipt is its signed word for the head. Should it be put back to an older state,
	// it takes back on the strength of that what is here.
	Receipt exchange.Receipt `json:"receipt,omitzero"`
}

// Replica is a workspace's folder and the copy behind it.
type Replica struct {
	Config
	Root      string // the workspace's folder
	Workspace string // its name
	Store     *gitstore.Store
	// Progress is told how many objects of how many have come when a copy is
	// made. It may be nil.
	Progress func(done, total int)
	seen     repo.OperationID // that the files were last brought up to date with
}

// Find looks for the workspace that a folder lies in. Without one, or when it
// is a plain jj repository, it gives nil.
func Find(dir string) (*Replica, error) {
	for {
		if _, err := os.Stat(filepath.Join(dir, ".jj")); err == nil {
			return Open(dir)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return nil, nil
		}
		dir = up
	}
}

// Open opens the workspace in a folder; nil when it belongs to no server.
func Open(root string) (*Replica, error) {
	dir, err := repoDir(root)
	if err != nil {
		return nil, err
	}
	r := &Replica{Root: root}
	if ok, err := readJSON(stateFile(dir, "replica.json"), &r.Config); err != nil || !ok {
		return nil, err
	}
	if r.Store, err = gitstore.Open(dir); err != nil {
		return nil, err
	}
	if r.Workspace, r.seen, err = workcopy.Where(root); err != nil {
		r.Store.Close()
		return nil, err
	}
	return r, nil
}

// ReadConfig says what the copy in a .jj/repo is a copy of.
func ReadConfig(dir string) (Config, error) {
	var c Config
	ok, err := readJSON(stateFile(dir, "replica.json"), &c)
	if err == nil && !ok {
		err = fmt.Errorf("%s is not a copy of a served repository", dir)
	}
	return c, err
}

// Move says that the server is at another address.
func (r *Replica) Move(server string) error {
	c := r.Config
	c.Server = server
	if err := writeJSON(r.path("replica.json"), c); err != nil {
		return err
	}
	r.Config = c
	return nil
}

// Close lets the copy go.
func (r *Replica) Close() { r.Store.Close() }

// repoDir follows the pointer of a secondary workspace.
func repoDir(root string) (string, error) {
	dir := filepath.Join(root, ".jj", "repo")
	st, err := os.Stat(dir)
	if err != nil || st.IsDir() {
		return dir, err
	}
	text, err := os.ReadFile(dir)
	if err != nil {
		return "", err
	}
	if filepath.IsAbs(string(text)) {
		return string(text), nil
	}
	return filepath.Join(root, ".jj", filepath.FromSlash(string(text))), nil
}

func (r *Replica) path(name string) string { return stateFile(r.Store.Dir(), name) }

// stateFile is a file of ours in a copy's .jj/repo.
func stateFile(dir, name string) string { return filepath.Join(dir, "tandem", name) }

// Known is where the server was when it was last heard of.
func (r *Replica) Known() (Known, error) { return readHint[Known](r.path("known.json")) }

// Waiting counts the operations that the server has not got yet.
func (r *Replica) Waiting(ctx context.Context) (int, error) {
	ops, err := r.waiting(ctx)
	return len(ops), err
}

// Head is the operation the copy is at; "" when several are left by commands
// that raced.
func (r *Replica) Head() (repo.OperationID, error) {
	heads, err := r.Store.Heads()
	if err != nil || len(heads) != 1 {
		return "", err
	}
	return heads[0], nil
}

// pointerAt is the workspace's commit at an operation, "" when it has none.
func (r *Replica) pointerAt(ctx context.Context, id repo.OperationID) (repo.CommitID, error) {
	o, err := r.Store.Operation(ctx, id)
	if err != nil {
		return "", err
	}
	v, err := r.Store.View(ctx, o.View)
	if err != nil {
		return "", err
	}
	return v.Workspaces[r.Workspace], nil
}

// Stale says whether the workspace's commit has moved under its files, as it
// does when somebody rebases it.
func (r *Replica) Stale(ctx context.Context) (bool, error) {
	head, err := r.Head()
	if err != nil || head == "" {
		return false, err
	}
	_, files, err := workcopy.Where(r.Root)
	if err != nil || files == head {
		return false, err
	}
	if was, err := r.pointerAt(ctx, files); err == nil {
		if now, err := r.pointerAt(ctx, head); err != nil || was == now {
			return false, err // the files and the index need not be asked
		}
	}
	w, err := workcopy.Open(r.Root, r.Store)
	if err != nil {
		return false, err
	}
	at, err := r.Store.At(ctx, head)
	if err != nil {
		return false, err
	}
	id, ok := at.View.Workspaces[r.Workspace]
	if !ok {
		return false, nil
	}
	c, err := r.Store.Commit(ctx, id)
	if err != nil {
		return false, err
	}
	state, err := w.Check(ctx, at, c)
	return state == workcopy.Stale, err
}
