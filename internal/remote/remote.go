package remote

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"tandem/internal/client"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/gate"
	"tandem/internal/identity"
	"tandem/internal/login"
	"tandem/internal/op"
	"tandem/internal/remote/wire"
	"tandem/internal/repo/replica"
	"tandem/internal/secret"
)

// Config is what workspaces on this machine need of their daemon.
type Config struct {
	Secrets *secret.Room
	Logins  *login.Room
	Known   string // the file of the servers that were met, with their keys
	Socket  string // the daemon's own
	Gate    func() *gate.Gate
	Fail    func(http.ResponseWriter, *http.Request, error)
	Listens func() []string // where this daemon listens
	Key     func() string   // by which it is known; "" where it has none
}

// Remotes are the servers that workspaces on this machine belong to: the daemon
// alone holds connections and credentials, and passes requests on.
type Remotes struct {
	at    Config
	inner http.Handler // our own routes, for a workspace of a repository served here

	mu      sync.Mutex
	met     map[string]*met
	watched map[string]*watched
	running sync.WaitGroup
	ended   context.Context
	end     context.CancelFunc
}

// New knows no server yet. What it watches ends with ctx, or when it is stopped.
func New(ctx context.Context, at Config) *Remotes {
	m := &Remotes{at: at, met: map[string]*met{}, watched: map[string]*watched{}}
	m.ended, m.end = context.WithCancel(ctx)
	m.Inner(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.at.Fail(w, r, fault.New(fault.Unavailable, string(wire.Forward), "tandem is still starting").WithNext("try again in a moment"))
	}))
	return m
}

// Inner says what answers for a workspace of a repository that is served here. Until then nothing does.
func (m *Remotes) Inner(routes http.Handler) { m.inner = routes }

// watched is a repository elsewhere that copies on this machine follow, with
// one stream for all of them.
type watched struct {
	watcher *replica.Watcher
	cancel  context.CancelFunc
	used    map[string]time.Time // copies, by .jj/repo
}

func remoteAt(server string) op.Resource { return op.Resource{Kind: "workspace", Path: "/" + server} }

func (m *Remotes) Ops() []op.Op {
	return []op.Op{
		wire.Reach.Read(op.Spec{Right: "workspace.use", Socket: true, MCP: "-",
			Doc: "Say whether this machine has joined a server."},
			func(in wire.ReachIn) op.Resource { return remoteAt(in.Server) }, m.reach),
		wire.Trust.State(op.Spec{Right: "workspace.create", Socket: true, MCP: "-", Secret: []string{"token"},
			Doc: "Remember the token that lets this machine in at a server."},
			func(in wire.TrustIn) op.Resource { return remoteAt(in.Server) }, m.trust),
		wire.Rekey.Effect(op.Spec{Right: "workspace.create", Socket: true, MCP: "-", Present: true, People: true,
			Doc: "Accept another key of a server, which its old key did not announce. Needs a person present, who compared it with what " +
				"the server's owner says."},
			func(in wire.RekeyIn) op.Resource { return remoteAt(in.Server) }, m.rekey, nil),
		wire.Forward.Stream(op.Spec{Right: "workspace.use", Socket: true,
			Doc: "Pass a workspace's request on to its server."},
			func(in wire.ReachIn) op.Resource { return remoteAt(in.Server) }, nil),
	}
}

// reach also meets the server: under a name that is new here it may be one that
// this machine has joined by another, or this daemon itself.
func (m *Remotes) reach(ctx context.Context, in wire.ReachIn) (wire.ReachOut, error) {
	if m.Own(in.Server) {
		return wire.ReachOut{Own: true, Trusted: true}, nil
	}
	a, err := client.ParseAddress(in.Server)
	if err != nil {
		return wire.ReachOut{}, err
	}
	a.Fingerprint = in.Key
	// One that is away may still be known by its address; an invitation says which key it is for.
	if _, err := m.meet(ctx, a); err != nil && (in.Key != "" || !fault.Is(err, fault.Unavailable)) {
		return wire.ReachOut{}, err
	}
	if m.own(ctx, a) {
		return wire.ReachOut{Own: true, Trusted: true}, nil
	}
	token, err := m.token(ctx, a.Host)
	return wire.ReachOut{Trusted: token != ""}, err
}

func (m *Remotes) trust(ctx context.Context, tx *db.Tx, in wire.TrustIn) (struct{}, error) {
	c := op.CallerFrom(ctx)
	name, err := m.secretOf(in.Server)
	if err != nil {
		return struct{}{}, err
	}
	if c.Kind != op.Local && c.Kind != op.Person { // what others do there would then be told as somebody else's
		old, err := m.at.Secrets.Open(tx, c.Tenant, name)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return struct{}{}, err
		}
		defer clear(old)
		if err == nil && string(old) != in.Token {
			return struct{}{}, fault.New(fault.Denied, "workspace.trust", "this machine has joined %s, and %s may not change as whom", in.Server,
				c.Name).
				WithNext("a person joins it anew: tandem init --tandem-server %s", in.Server)
		}
	}
	if _, err = m.at.Secrets.Put(tx, c.Tenant, name, in.Token, c.Name); err == nil {
		err = m.trustKey(tx, c, name, in)
	}
	return struct{}{}, err
}

// trustKey keeps a token under the key that its giver named, where that one speaks in the clear: by another address it shows
// the key. What lets this machine in at a server of that key already stays, for nothing proves a key that is only named.
func (m *Remotes) trustKey(tx *db.Tx, c op.Caller, name string, in wire.TrustIn) error {
	if in.Key == "" || name != secretAt(in.Server) { // a server whose key was seen is known by that one alone
		return nil
	}
	if !client.IsFingerprint(in.Key) {
		return fault.New(fault.Invalid, "workspace.trust", "the key that %s names is no fingerprint", in.Server)
	}
	old, err := m.at.Secrets.Open(tx, c.Tenant, secretFor(in.Key))
	clear(old)
	if fault.Is(err, fault.NotFound) {
		_, err = m.at.Secrets.Put(tx, c.Tenant, secretFor(in.Key), in.Token, c.Name)
	}
	return err
}

// rekey accepts a key that nobody announced: a person says that it is right. The server must show that very key.
func (m *Remotes) rekey(ctx context.Context, in wire.RekeyIn) (wire.ReachOut, error) {
	a, err := client.ParseAddress(in.Server)
	if err != nil {
		return wire.ReachOut{}, err
	}
	if err := m.pins().Accept(ctx, a, in.Key); err != nil {
		return wire.ReachOut{}, err
	}
	m.forget(a.Host)
	return m.reach(ctx, wire.ReachIn{Server: in.Server})
}

// token is what lets this machine in at a server. It belongs to the server's key;
// one that was stored before keys were known is under the address.
func (m *Remotes) token(ctx context.Context, server string) (token string, err error) {
	name, err := m.secretOf(server)
	if err != nil {
		return "", err
	}
	names := []string{name}
	former, err := m.pins().Former(server)
	if err != nil {
		return "", err
	}
	for _, key := range former { // it was joined under a key that it announced another for
		names = append(names, secretFor(key))
	}
	for _, name := range append(names, secretAt(server)) {
		err = m.at.Secrets.Lend(ctx, identity.LocalTenant, name, func(v []byte) error { token = string(v); return nil })
		if !fault.Is(err, fault.NotFound) {
			return token, err
		}
	}
	return "", nil
}

// Tokens say as whom this machine is let in elsewhere.
var Tokens = secret.Owned{Prefix: "remote/"}

// secretOf is under which name a server's token is sealed: that of its key,
// whatever the server is called, or of its address where it has no key.
func (m *Remotes) secretOf(server string) (string, error) {
	key, err := m.pins().Known(server)
	if err != nil || key == "" {
		return secretAt(server), err
	}
	return secretFor(key), nil
}

func secretFor(key string) string {
	return "remote/" + strings.NewReplacer("SHA256:", "key_", "+", "-", "/", "_").Replace(key)
}

func secretAt(server string) string {
	return "remote/" + strings.NewReplacer(":", "_", "[", "", "]", "").Replace(server)
}

func (m *Remotes) pins() *client.Pins {
	return client.OpenPins(m.at.Known)
}

// met is a server that this daemon has spoken to: the way to it, and its key.
type met struct {
	client.Server
	transport *http.Transport
}

// meet finds the way to a server. One that was met before is known without asking
// it again; its key is checked with every connection.
func (m *Remotes) meet(ctx context.Context, a client.Address) (*met, error) {
	m.mu.Lock()
	known := m.met[a.Host]
	m.mu.Unlock()
	if known != nil && (a.Fingerprint == "" || a.Fingerprint == known.Key) {
		return known, nil
	}
	server, err := m.pins().Meet(ctx, a)
	if err != nil {
		return nil, err
	}
	t := &http.Transport{}
	if server.Key != "" {
		t = m.pins().Transport(a.Host, "")
	}
	t.DialContext = (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 5 * time.Second, Control: giveUp(6 * time.Second)}).DialContext
	t.IdleConnTimeout, t.MaxIdleConnsPerHost = 10*time.Minute, 32
	m.mu.Lock()
	defer m.mu.Unlock()
	known = &met{server, t}
	m.met[a.Host] = known
	return known, nil
}

// forget has a server met again: it speaks otherwise than it did.
func (m *Remotes) forget(host string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.met, host)
}

// own says whether a server is this daemon, by its address or by its key.
func (m *Remotes) own(ctx context.Context, a client.Address) bool {
	if m.Own(a.Host) {
		return true
	}
	if m.at.Key() == "" {
		return false
	}
	s, err := m.meet(ctx, a)
	return err == nil && s.Key == m.at.Key()
}

// Stop ends every watch.
func (m *Remotes) Stop() {
	m.end()
	m.running.Wait()
}

// Own says whether an address is one that this daemon itself listens on.
func (m *Remotes) Own(server string) bool {
	host, port, err := net.SplitHostPort(server)
	if err != nil {
		return false
	}
	for _, l := range m.at.Listens() {
		h, p, err := net.SplitHostPort(l)
		if err != nil || p != port {
			continue
		}
		ip := net.ParseIP(h)
		if h == host || client.Loopback(host) && (client.Loopback(h) || ip != nil && ip.IsUnspecified()) {
			return true
		}
	}
	return false
}
