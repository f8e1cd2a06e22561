package remote

import (
	"context"
	"net/http"
	"time"

	"tandem/internal/client"
	"tandem/internal/op"
	"tandem/internal/repo/replica"
	"tandem/internal/space/peer"
)

// A copy that no command used for this long is not followed any more.
const watchFor = 10 * time.Minute

// watch follows the server for a copy on this machine.
func (m *Remotes) watch(host, dir, token string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for key, w := range m.watched {
		for d, used := range w.used {
			if now.Sub(used) > watchFor && !replica.Undelivered(m.ended, d) {
				w.watcher.Remove(d)
				delete(w.used, d)
			}
		}
		if len(w.used) == 0 {
			w.cancel()
			delete(m.watched, key)
		}
	}
	c, err := replica.ReadConfig(dir)
	if err != nil || c.Server != host {
		return
	}
	key := host + "/" + c.Ref() + "#" + token
	w := m.watched[key]
	if w == nil {
		socket := client.Socket(m.at.Socket)
		remote := replica.Remote{Client: socket, Prefix: "/remote/" + host, Header: http.Header{}}
		if token != "" {
			remote.Header.Set("Tandem-Remote-Token", token)
		}
		ctx, cancel := context.WithCancel(m.ended)
		w = &watched{watcher: &replica.Watcher{Repo: c.Ref(), Remote: remote, May: m.may(socket)}, cancel: cancel, used: map[string]time.Time{}}
		m.watched[key] = w
		m.running.Go(func() {
			w.watcher.Watch(ctx)
		})
	}
	w.used[dir] = now
	w.watcher.Add(dir)
}

// may asks whether what was edited in a workspace may go out, as its own command
// would: a file that a peer has leased is a person's to decide.
func (m *Remotes) may(socket *client.Client) func(context.Context, replica.Changed) error {
	return func(ctx context.Context, c replica.Changed) error {
		_, err := op.Do(ctx, socket, peer.SpaceChanged, peer.ChangedIn{Folder: c.Folder, Paths: c.Files, By: c.Workspace})
		return err
	}
}

// Busy says whether something waits here for a server that is away.
func (m *Remotes) Busy() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range m.watched {
		for dir := range w.used {
			if replica.Undelivered(m.ended, dir) {
				return true
			}
		}
	}
	return false
}
