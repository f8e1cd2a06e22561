package daemon

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"tandem/internal/fault"
	"tandem/internal/httpapi"
	"tandem/internal/op"
)

// maxConnections is how many connections a pool has at most. Where the process may open few files it has less: see shares.
const maxConnections = 4096

// answerPause is how long somebody may take to read the next 64 KiB of an answer.
const answerPause = time.Minute

// pool is the connections of listeners that share a limit, so that whoever opens many takes no file descriptor from the control
// socket, the database or the repositories. A newcomer that finds it full takes the place of a connection that has shown no
// credential: the oldest of the address that holds most of them. An honest request has shown who it is long before, also on an
// address that it shares with a hostile program. Where all have shown who they are, a connection on which nothing is asked goes,
// of the credential that holds most; and where something is asked on all of them, the newcomer is turned away.
type pool struct {
	max int

	mu      sync.Mutex
	open    int
	strange map[string]*list.List // by address: connections that have shown no credential, the oldest first
	known   map[string]*list.List // by credential
	ended   int64                 // closed or turned away, to keep the limits
}

// place is a connection of a pool.
type place struct {
	net.Conn
	pool *pool
	at   *list.List // in which list of the pool it stands, nil when it is in none
	in   *list.Element
	asks int // requests that run on it
	key  string
}

// shares are the pools of a server that may open so many files: half of them for the network, an eighth for what comes through a
// tunnel, an eighth for the sockets of sessions. The control socket, the database and the repositories have the rest.
func shares(files int) pools {
	share := func(part int) *pool { return newPool(min(maxConnections, files/part)) }
	return pools{network: share(2), tunnelled: share(8), sessions: share(8)}
}

type pools struct{ network, tunnelled, sessions *pool }

func newPool(most int) *pool {
	return &pool{max: max(most, 16), strange: map[string]*list.List{}, known: map[string]*list.List{}}
}

// listen is a listener whose connections belong to the pool. They count as of one address if it is given, else as of where they
// come from.
func (p *pool) listen(l net.Listener, from string) net.Listener { return &pooled{l, p, from} }

type pooled struct {
	net.Listener
	pool *pool
	from string
}

func (l *pooled) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	from := l.from
	if from == "" {
		from = source(c.RemoteAddr().String())
	}
	return l.pool.take(c, from), nil
}

// source is whose address it is: a network of 64 bits in IPv6, all of which one machine can have.
func source(a string) string {
	at, err := netip.ParseAddrPort(a)
	if err != nil {
		return a
	}
	ip := at.Addr().Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	wide, err := ip.Prefix(64)
	if err != nil {
		return ip.String()
	}
	return wide.String()
}

// take gives a connection a place. One that finds none is closed, which its server notices at its first read.
func (p *pool) take(c net.Conn, from string) net.Conn {
	in := &place{Conn: c, pool: p}
	p.mu.Lock()
	var out *place
	switch same := p.strange[from]; {
	case same != nil && same.Len() >= p.max/2:
		out = same.Front().Value.(*place)
	case p.open >= p.max:
		if out = p.worst(); out == nil {
			out = in
		}
	}
	if out != nil {
		p.ended++
		p.leave(out)
	}
	if out != in {
		p.stand(in, p.strange, from)
	}
	p.mu.Unlock()
	if out != nil {
		out.Conn.Close()
	}
	return in
}

// worst is who has to go, nil when nobody has. The caller holds p.mu.
func (p *pool) worst() *place {
	var most *list.List
	for _, l := range p.strange {
		if most == nil || l.Len() > most.Len() {
			most = l
		}
	}
	if most != nil {
		return most.Front().Value.(*place)
	}
	var out *place
	held := 0
	for _, l := range p.known {
		for e := l.Front(); e != nil && l.Len() > held; e = e.Next() {
			if c := e.Value.(*place); c.asks == 0 {
				out, held = c, l.Len()
			}
		}
	}
	return out
}

// stand puts a connection into a list, and leave takes it out. The caller holds p.mu.
func (p *pool) stand(c *place, lists map[string]*list.List, key string) {
	if lists[key] == nil {
		lists[key] = list.New()
	}
	c.at, c.key = lists[key], key
	c.in = c.at.PushBack(c)
	p.open++
}

func (p *pool) leave(c *place) {
	if c.at == nil {
		return
	}
	c.at.Remove(c.in)
	for _, lists := range []map[string]*list.List{p.strange, p.known} {
		if lists[c.key] == c.at && c.at.Len() == 0 {
			delete(lists, c.key)
		}
	}
	c.at = nil
	p.open--
}

// Close gives the place free.
func (c *place) Close() error {
	c.pool.mu.Lock()
	c.pool.leave(c)
	c.pool.mu.Unlock()
	return c.Conn.Close()
}

// Write sends in pieces, each of which has its time: somebody who reads slowly is served, and somebody who stopped is cut off.
func (c *place) Write(data []byte) (sent int, err error) {
	for {
		piece := data[sent:min(sent+64<<10, len(data))]
		if err := c.SetWriteDeadline(time.Now().Add(answerPause)); err != nil {
			return sent, err
		}
		n, err := c.Conn.Write(piece)
		if sent += n; err != nil || sent == len(data) {
			return sent, err
		}
	}
}

// keep remembers who asks on a connection, which then keeps its place. One credential holds at most a quarter of a pool.
func (c *place) keep(credential string) error {
	p := c.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	mine := p.known[credential]
	switch {
	case c.at == nil || mine == c.at:
		return nil // it had to go already, or is known
	case mine != nil && mine.Len() >= p.max/4:
		return fault.New(fault.Exhausted, "http", "%d connections are open with this credential", mine.Len()).
			WithNext("close some of them, then try again")
	}
	p.leave(c)
	p.stand(c, p.known, credential)
	return nil
}

func (c *place) asking(n int) {
	c.pool.mu.Lock()
	c.asks += n
	c.pool.mu.Unlock()
}

// each tells how many connections of each pool are open, and how many had to go.
func (all pools) each(tell func(name string, open int, ended int64)) {
	for _, p := range []struct {
		name string
		*pool
	}{{"network", all.network}, {"tunnel", all.tunnelled}, {"sessions", all.sessions}} {
		p.mu.Lock()
		open, ended := p.open, p.ended
		p.mu.Unlock()
		tell(p.name, open, ended)
	}
}

// keeping is an authenticator whose callers keep their places, and of strangers it is known where they come from.
func keeping(auth httpapi.Authenticator) httpapi.Authenticator {
	return func(r *http.Request) (op.Caller, error) {
		c, err := auth(r)
		if err != nil || !c.Known() {
			c.Source = source(r.RemoteAddr)
			return c, err
		}
		if err := keepPlace(r.Context(), c.Whence()); err != nil {
			return op.Caller{}, err
		}
		return c, nil
	}
}

// keepPlace is keep for the connection that a request came on, if it is of a pool.
func keepPlace(ctx context.Context, credential string) error {
	if c := placeOf(ctx); c != nil {
		return c.keep(credential)
	}
	return nil
}

// vouched passes on what members of spaces ask from afar: they have no token, and their signature was checked before this.
type vouched struct{ op.Invoker }

func (v vouched) Invoke(ctx context.Context, name string, in any) (any, error) {
	if err := keepPlace(ctx, op.CallerFrom(ctx).Actor); err != nil {
		return nil, err
	}
	return v.Invoker.Invoke(ctx, name, in)
}
