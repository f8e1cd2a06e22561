package remote

import (
	"context"
	"net/http"
	"path"
	"path/filepath"
	"time"

	"tandem/internal/client"
	"tandem/internal/op"
	"tandem/internal/repo/host"
	"tandem/internal/repo/replica"
)

// leaseTime is how long a server may take to answer about a lease.
const leaseTime = 10 * time.Second

// Lease leases a path of a folder that is a workspace, at the server of its
// repository and for that workspace. In any other folder there is no server to
// hold anybody to it.
func (m *Remotes) Lease(ctx context.Context, folder, file string, minutes int64, shared bool) (bool, error) {
	w, err := m.workspaceOf(folder)
	if err != nil || w == nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, leaseTime)
	defer cancel()
	_, err = op.Do(ctx, w, host.RepoLease, host.LeaseIn{Repo: w.repo, Workspace: w.name, Path: path.Join(w.below, file), Minutes: minutes,
		Shared: shared})
	return true, err
}

// Release gives such a lease back.
func (m *Remotes) Release(ctx context.Context, folder, file string) error {
	w, err := m.workspaceOf(folder)
	if err != nil || w == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, leaseTime)
	defer cancel()
	_, err = op.Do(ctx, w, host.RepoRelease, host.ReleaseIn{Repo: w.repo, Workspace: w.name, Path: path.Join(w.below, file)})
	return err
}

// leasing is a workspace, with the way to its server that its own commands take.
type leasing struct {
	replica.Remote
	repo, name string
	below      string // where the folder lies in the workspace
}

// workspaceOf finds the workspace that a folder lies in; nil when there is none.
func (m *Remotes) workspaceOf(folder string) (*leasing, error) {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	r, err := replica.Find(folder)
	if err != nil || r == nil {
		return nil, err
	}
	defer r.Close()
	below, err := filepath.Rel(r.Root, folder)
	if err != nil {
		return nil, err
	}
	socket := client.Socket(m.at.Socket)
	remote := replica.Remote{Client: socket, Prefix: "/remote/" + r.Server, Header: http.Header{}}
	return &leasing{Remote: remote, repo: r.Ref(), name: r.Workspace, below: filepath.ToSlash(below)}, nil
}
