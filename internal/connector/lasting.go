package connector

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/internal/connector/wire"
	"tandem/internal/fault"
	"tandem/internal/tool"
)

// idle is how long a program waits for the next call of its session before it is ended.
const idle = 10 * time.Minute

// whose says for which session a program runs. A connector that was removed and added again is another one.
type whose struct {
	tenant, name, session string
	added                 time.Time
}

// lasting are the programs that run on between the calls of a session, one for each session and connector.
type lasting struct {
	mu   sync.Mutex
	runs map[whose]*run
}

// run is a program at work for a session. Its calls come one after the other.
type run struct {
	mu    sync.Mutex
	conv  *conversation
	way   *program
	s     *mcp.ClientSession
	end   func() // ends the program; may be called again
	over  bool
	timer *time.Timer
	scope *tool.Scope // what its sandbox shows
}

// lastingTalk lends the session's own program to fn, and starts it where it does not run. When something fails, the program ends: the
// next call begins with a new one.
func (r *Room) lastingTalk(ctx context.Context, c *wire.Connector, session string,
	fn func(ctx context.Context, conv *conversation, s *mcp.ClientSession) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	key := whose{c.Tenant, c.Name, session, c.CreatedAt}
	p := r.lasting.of(key)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := r.shows(ctx, c, p); err != nil && !fault.Is(err, fault.Denied) {
		return err
	}
	if p.s == nil || p.over {
		if err := r.start(ctx, c, p); err != nil {
			return err
		}
	}
	p.timer.Stop()
	p.conv.left.Store(maxConversation)
	stop := context.AfterFunc(ctx, p.end) // a call that hangs does not keep the next one waiting
	err := fn(ctx, p.conv, p.s)
	if !stop() || err != nil {
		if err == nil {
			err = ctx.Err()
		}
		err = explain(ctx, c, p.conv, p.way, err)
		p.end()
		p.over = true
		return err
	}
	p.timer.Reset(idle)
	return r.shows(ctx, c, p) // what it read meanwhile may be denied by now
}

// shows ends a program whose sandbox shows more than whoever calls may see: something was denied since it began. The caller holds p.mu.
func (r *Room) shows(ctx context.Context, c *wire.Connector, p *run) error {
	if p.s == nil || p.over || c.Given.Folder == "" {
		return nil
	}
	now, err := r.scope(ctx, c)
	if err != nil {
		return err
	}
	path, err := p.scope.Narrowed(now)
	if err != nil || path == "" {
		return err
	}
	p.timer.Stop()
	p.end()
	p.over = true
	return fault.New(fault.Denied, "connector.call", "%s was ended: %s was denied while it ran", c.Name, path)
}

func (l *lasting) of(key whose) *run {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.runs == nil {
		l.runs = map[whose]*run{}
	}
	if l.runs[key] == nil {
		l.runs[key] = &run{}
	}
	return l.runs[key]
}

// start begins a program. The caller holds p.mu.
func (r *Room) start(ctx context.Context, c *wire.Connector, p *run) error {
	scope, err := r.scope(ctx, c)
	if err != nil {
		return err
	}
	return r.withVariables(ctx, c, c.Given.Secrets, nil, func(env []string) error {
		alive, cancel := context.WithCancel(context.WithoutCancel(ctx))
		cmd, done, err := r.command(alive, c, scope, env)
		if err != nil {
			cancel()
			return err
		}
		p.conv, p.over, p.scope = newConversation(), false, scope
		for _, kv := range env {
			_, value, _ := strings.Cut(kv, "=")
			p.conv.lend(value)
		}
		p.way = &program{cmd: cmd, c: p.conv}
		late := context.AfterFunc(ctx, cancel)
		p.s, err = mcp.NewClient(&mcp.Implementation{Name: "tandem", Version: "1"}, nil).Connect(alive, p.way, nil)
		if late(); err != nil {
			err = explain(ctx, c, p.conv, p.way, err)
			cancel()
			done()
			p.s = nil
			return err
		}
		session := p.s
		p.end = sync.OnceFunc(func() {
			session.Close() //nolint:errcheck // it is over either way
			cancel()
			done()
		})
		p.timer = time.AfterFunc(idle, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.end()
			p.over = true
		})
		return nil
	})
}

// endAll ends the programs of a connector, or all of them where the name is empty.
func (l *lasting) endAll(tenant, name string) {
	l.mu.Lock()
	var gone []*run
	for key, p := range l.runs {
		if name == "" || key.tenant == tenant && key.name == name {
			gone = append(gone, p)
			delete(l.runs, key)
		}
	}
	l.mu.Unlock()
	for _, p := range gone {
		p.mu.Lock()
		if p.s != nil && !p.over {
			p.timer.Stop()
			p.end()
			p.over = true
		}
		p.mu.Unlock()
	}
}

// Close ends the programs that run for sessions.
func (r *Room) Close() error {
	r.lasting.endAll("", "")
	return nil
}
