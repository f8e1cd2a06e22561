package daemon

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"

	"tandem/internal/gate"
	"tandem/internal/identity"
	"tandem/internal/remote"
	"tandem/internal/repo/host"
)

// makeRemotes makes the room of the servers that workspaces on this machine belong to.
func (d *Daemon) makeRemotes(ctx context.Context) {
	d.rooms.remotes = remote.New(ctx, remote.Config{Secrets: d.rooms.secret, Logins: d.rooms.login,
		Known: filepath.Join(d.data, "known_servers"), Socket: SocketPath(d.data, d.Settings.Get("control_socket")),
		Gate: func() *gate.Gate { return d.gate }, Fail: func(w http.ResponseWriter, r *http.Request, err error) { d.web.Fail(w, r, err) },
		Listens: func() []string { return d.listens }, Key: d.fingerprint})
}

// openRepos opens the repositories that this server serves.
func (d *Daemon) openRepos(ctx context.Context) (err error) {
	config := host.Config{DB: d.db, Journal: d.journal, Log: d.Log, Paths: d.repoPaths(),
		Opening: func(path string) { d.phase("opening the repository " + path) },
		Gate:    func() *gate.Gate { return d.gate },
		Actor: func(ctx context.Context, name string) (string, error) {
			a, err := d.identity.Actor(ctx, identity.LocalTenant, name)
			if err != nil {
				return "", err
			}
			return a.ID, nil
		},
		Fail: func(w http.ResponseWriter, r *http.Request, err error) { d.web.Fail(w, r, err) }}
	d.rooms.repo, err = host.New(ctx, config)
	if err != nil && d.OnDemand { // the command that started us may want something else
		d.Log.Error("repositories cannot be served", "err", err)
		config.Paths = nil
		d.rooms.repo, err = host.New(ctx, config)
	}
	return err
}

// repoPaths are the folders of the repositories to serve.
func (d *Daemon) repoPaths() (paths []string) {
	for _, p := range strings.Split(d.Settings.Get("repos"), ",") {
		if p = strings.TrimSpace(p); p != "" && p != noRepos {
			paths = append(paths, p)
		}
	}
	return paths
}

// repos are the repositories this server hosts.
func (d *Daemon) repos() []string { return d.rooms.repo.Paths() }
