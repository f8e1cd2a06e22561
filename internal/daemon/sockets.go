package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"tandem/internal/httpapi"
	"tandem/internal/id"
	"tandem/internal/op"
)

// sockets are the sessions' own doors: whoever speaks on one is that session,
// with its rights and no more. No bearer token is in a session's environment,
// arguments or files; what it holds is a path, and where it is confined it
// sees no other.
type sockets struct {
	folder string
	web    *httpapi.Server
	log    *slog.Logger
	named  func(auth httpapi.Authenticator, asserts bool) httpapi.Authenticator
	pool   *pool // of all of them: a session that floods its own takes no place of another

	mu   sync.Mutex
	open map[string]*http.Server
}

// Open makes the socket of a session and returns its path. Opening it again
// replaces the old one.
func (s *sockets) Open(caller func(context.Context) (op.Caller, error), session string) (string, error) {
	// Each has a folder of its own, which a confined session sees and the others' it does not. The folder outlives the
	// daemon: a program that runs on finds the next one's socket in it.
	path := filepath.Join(s.folder, id.Short(session), "sock")
	if len(path) > maxSocket {
		path = filepath.Join(strings.TrimSuffix(SocketPath(s.folder, path), ".sock"), "sock")
	}
	s.Close(session) // first: ending the old one removes its file
	l, err := listenSocket(path)
	if err != nil {
		return "", fmt.Errorf("open the socket of %s: %w", session, err)
	}
	auth := func(r *http.Request) (op.Caller, error) {
		if err := sameUser(connOf(r.Context())); err != nil {
			return op.Caller{}, err
		}
		c, err := caller(r.Context())
		about := clientOf(r) // which program and model it is may be told; who it is, is known
		c.Client.Agent, c.Client.Model = about.Agent, about.Model
		return c, err
	}
	srv := &http.Server{Handler: paced(s.web.Handler(s.named(auth, false), nil)), ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, ConnContext: withConn}
	s.mu.Lock()
	s.open[session] = srv
	s.mu.Unlock()
	go func() {
		if err := srv.Serve(s.pool.listen(l, session)); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			s.log.Error("a session's socket failed", "session", session, "err", err)
		}
	}()
	return path, nil
}

// Close ends a session's socket; connections on it are cut.
func (s *sockets) Close(session string) {
	s.mu.Lock()
	srv := s.open[session]
	delete(s.open, session)
	s.mu.Unlock()
	if srv != nil {
		srv.Close()
	}
}

func (s *sockets) closeAll() {
	s.mu.Lock()
	all := s.open
	s.open = map[string]*http.Server{}
	s.mu.Unlock()
	for _, srv := range all {
		srv.Close()
	}
}
