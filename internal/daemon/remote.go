package daemon

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"tandem/internal/client"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/repo/replica"
	"tandem/internal/secret"
	"tandem/internal/space/peer"
)

// ReachIn names a server.
type ReachIn struct {
	Server string `json:"server" jsonschema:"HOST:PORT"`
}

// ReachOut says how this machine stands to a server.
type ReachOut struct {
	Own     bool `json:"own"`     // it is this daemon itself
	Trusted bool `json:"trusted"` // this machine has joined it
}

// TrustIn remembers what lets this machine in at a server.
type TrustIn struct {
	Server string `json:"server" jsonschema:"HOST:PORT"`
	Token  string `json:"token" jsonschema:"the token the server gave"`
}

// remotes are the servers that workspaces on this machine belong to: the daemon
// alone holds connections and credentials, and passes requests on.
type remotes struct {
	d     *Daemon
	inner http.Handler // our own routes, for a workspace of a repository served here

	mu         sync.Mutex
	transports map[string]http.RoundTripper
	watched    map[string]*watched
	running    sync.WaitGroup
	ended      context.Context
	end        context.CancelFunc
}

func newRemotes(d *Daemon) *remotes {
	m := &remotes{d: d, transports: map[string]http.RoundTripper{}, watched: map[string]*watched{}}
	m.ended, m.end = context.WithCancel(context.Background())
	return m
}

// watched is a repository elsewhere that copies on this machine follow, with
// one stream for all of them.
type watched struct {
	watcher *replica.Watcher
	cancel  context.CancelFunc
	used    map[string]time.Time // copies, by .jj/repo
}

func remoteAt(server string) op.Resource { return op.Resource{Kind: "workspace", Path: "/" + server} }

func (m *remotes) ops() []op.Op {
	return []op.Op{
		op.Read(op.Spec{Name: "workspace.reach", Right: "workspace.use", Socket: true, MCP: "-",
			Doc: "Say whether this machine has joined a server."},
			func(in ReachIn) op.Resource { return remoteAt(in.Server) }, m.reach),
		op.State(op.Spec{Name: "workspace.trust", Right: "workspace.create", Socket: true, MCP: "-", Secret: []string{"token"},
			Doc: "Remember the token that lets this machine in at a server."},
			func(in TrustIn) op.Resource { return remoteAt(in.Server) }, m.trust),
		op.Stream(op.Spec{Name: "workspace.forward", Right: "workspace.use", Socket: true,
			Doc: "Pass a workspace's request on to its server."},
			func(in ReachIn) op.Resource { return remoteAt(in.Server) }, nil),
	}
}

func (m *remotes) reach(ctx context.Context, in ReachIn) (ReachOut, error) {
	if m.d.own(in.Server) {
		return ReachOut{Own: true, Trusted: true}, nil
	}
	token, err := m.token(ctx, in.Server)
	return ReachOut{Trusted: token != ""}, err
}

func (m *remotes) trust(ctx context.Context, tx *db.Tx, in TrustIn) (struct{}, error) {
	c := op.CallerFrom(ctx)
	if c.Kind != op.Local && c.Kind != op.Person { // what others do there would then be told as somebody else's
		old, err := m.d.rooms.secret.Open(tx, c.Tenant, secretOf(in.Server))
		if err != nil && !fault.Is(err, fault.NotFound) {
			return struct{}{}, err
		}
		defer clear(old)
		if err == nil && string(old) != in.Token {
			return struct{}{}, fault.New(fault.Denied, "workspace.trust", "this machine has joined %s, and %s may not change as whom", in.Server, c.Name).
				WithNext("a person joins it anew: tandem init --tandem-server %s", in.Server)
		}
	}
	_, err := m.d.rooms.secret.Put(tx, c.Tenant, secretOf(in.Server), in.Token, c.Name)
	return struct{}{}, err
}

func (m *remotes) token(ctx context.Context, server string) (token string, err error) {
	err = m.d.rooms.secret.Lend(ctx, identity.LocalTenant, secretOf(server), func(v []byte) error { token = string(v); return nil })
	if fault.Is(err, fault.NotFound) {
		return "", nil
	}
	return token, err
}

// remoteTokens say as whom this machine is let in elsewhere.
var remoteTokens = secret.Owned{Prefix: "remote/"}

// secretOf is under which name a server's token is sealed.
func secretOf(server string) string {
	return "remote/" + strings.NewReplacer(":", "_", "[", "", "]", "").Replace(server)
}

// own says whether an address is one that this daemon listens on.
func (d *Daemon) own(server string) bool {
	host, port, err := net.SplitHostPort(server)
	if err != nil {
		return false
	}
	for _, l := range d.listens {
		h, p, err := net.SplitHostPort(l)
		if err != nil || p != port {
			continue
		}
		ip := net.ParseIP(h)
		if h == host || loopback(host) && (loopback(h) || ip != nil && ip.IsUnspecified()) {
			return true
		}
	}
	return false
}

// smallBody is what is kept in memory, so that a request that met a connection
// just closed can be sent again.
const smallBody = 1 << 20

// ServeHTTP passes a request on: /remote/{host}/{path...}.
func (m *remotes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host, path := r.PathValue("host"), "/"+r.PathValue("path")
	ctx, err := m.d.gate.Admit(r.Context(), "workspace.forward", ReachIn{Server: host})
	if err == nil && op.CallerFrom(ctx).Door != op.DoorSocket {
		err = fault.New(fault.Denied, "workspace.forward", "requests are passed on for programs of this machine only")
	}
	if err != nil {
		m.d.web.Fail(w, r, err)
		return
	}
	r = r.WithContext(ctx)
	if dir := r.Header.Get("Tandem-Replica"); dir != "" && op.CallerFrom(ctx).Kind == op.Local {
		m.watch(host, dir, r.Header.Get("Tandem-Remote-Token"))
	}
	if m.d.own(host) {
		to := r.Clone(r.Context())
		to.URL.Path, to.URL.RawPath, to.Host = path, "", host
		m.inner.ServeHTTP(w, to)
		return
	}
	resp, err := m.send(r, host, path)
	if err != nil {
		m.d.web.Fail(w, r, err)
		return
	}
	defer resp.Body.Close()
	for _, k := range []string{"Content-Type", "Content-Length"} {
		if v := resp.Header.Get(k); v != "" {
			w.Header().Set(k, v)
		}
	}
	w.WriteHeader(resp.StatusCode)
	relay(w, resp.Body)
}

// relay copies an answer as it comes.
func relay(w http.ResponseWriter, body io.Reader) {
	out := http.NewResponseController(w)
	buf := make([]byte, 64<<10)
	for {
		n, err := body.Read(buf)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return
			}
			if out.Flush() != nil {
				return
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				panic(http.ErrAbortHandler) // the reader must not take it for whole
			}
			return
		}
	}
}

func (m *remotes) send(r *http.Request, host, path string) (*http.Response, error) {
	a, err := client.ParseAddress(host)
	if err != nil {
		return nil, err
	}
	token := r.Header.Get("Tandem-Remote-Token")
	if token == "" {
		if token, err = m.token(r.Context(), host); err != nil {
			return nil, err
		}
	}
	if token == "" {
		return nil, fault.New(fault.Unauthenticated, "workspace.forward", "this machine has not joined %s", host).WithNext("join it: tandem init --tandem-server %s", host)
	}
	var body io.Reader
	if r.Method == http.MethodPost {
		start, err := io.ReadAll(io.LimitReader(r.Body, smallBody))
		if err != nil {
			return nil, err
		}
		if body = bytes.NewReader(start); len(start) == smallBody {
			body = io.MultiReader(body, r.Body)
		}
	}
	url := a.URL() + path
	if r.URL.RawQuery != "" {
		url += "?" + r.URL.RawQuery
	}
	req, err := http.NewRequestWithContext(r.Context(), r.Method, url, body)
	if err != nil {
		return nil, err
	}
	for _, k := range []string{"Content-Type", "Accept", "Last-Event-ID", "Idempotency-Key", "X-Idempotency-Key"} {
		if v := r.Header.Get(k); v != "" {
			req.Header.Set(k, v)
		}
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := m.transport(a).RoundTrip(req)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "workspace.forward", "cannot reach %s: %w", host, err).WithNext("go on: what you do waits here until the server is back")
	}
	return resp, nil
}

// transport is the pool of connections to a server.
func (m *remotes) transport(a client.Address) http.RoundTripper {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.transports[a.Host]; t != nil {
		return t
	}
	t := &http.Transport{}
	if !a.Plain {
		t = client.OpenPins(filepath.Join(m.d.data, "known_servers")).Transport(a.Host, "")
	}
	t.DialContext = (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 5 * time.Second, Control: giveUp(6 * time.Second)}).DialContext
	t.IdleConnTimeout, t.MaxIdleConnsPerHost = 10*time.Minute, 32
	m.transports[a.Host] = t
	return t
}

// A copy that no command used for this long is not followed any more.
const watchFor = 10 * time.Minute

// watch follows the server for a copy on this machine.
func (m *remotes) watch(host, dir, token string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for key, w := range m.watched {
		for d, used := range w.used {
			if now.Sub(used) > watchFor && !replica.Undelivered(d) {
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
		socket := client.Socket(SocketPath(m.d.data, m.d.Settings.Get("control_socket")))
		remote := replica.Remote{Client: socket, Prefix: "/remote/" + host, Header: http.Header{}}
		if token != "" {
			remote.Header.Set("Tandem-Remote-Token", token)
		}
		ctx, cancel := context.WithCancel(context.Background())
		w = &watched{watcher: &replica.Watcher{Repo: c.Ref(), Remote: remote, May: m.may(socket)}, cancel: cancel, used: map[string]time.Time{}}
		m.watched[key] = w
		stop := context.AfterFunc(m.ended, cancel)
		m.running.Go(func() {
			defer stop()
			w.watcher.Watch(ctx)
		})
	}
	w.used[dir] = now
	w.watcher.Add(dir)
}

// may asks whether what was edited in a workspace may go out, as its own command
// would: a file that a peer has leased is a person's to decide.
func (m *remotes) may(socket *client.Client) func(context.Context, replica.Changed) error {
	return func(ctx context.Context, c replica.Changed) error {
		return socket.Call(ctx, "space.changed", peer.ChangedIn{Folder: c.Folder, Paths: c.Files, By: c.Workspace}, nil)
	}
}

// Busy says whether something waits here for a server that is away.
func (m *remotes) Busy() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range m.watched {
		for dir := range w.used {
			if replica.Undelivered(dir) {
				return true
			}
		}
	}
	return false
}

// stop ends every watch.
func (m *remotes) stop() {
	m.end()
	m.running.Wait()
}
