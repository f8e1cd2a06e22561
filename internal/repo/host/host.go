package host

import (
	"context"
	"embed"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/gate"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/op"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are the room's own tables.
var Migrations = db.Migrations{Room: "repo", FS: schema}

// Config is what the room is built of.
type Config struct {
	DB      *db.DB
	Journal *journal.Journal
	Log     *slog.Logger
	Paths   []string // of the repositories to serve
	// Gate is the door that streams and pushes pass; it is made after the room.
	Gate func() *gate.Gate
	// Fail answers a request with a fault.
	Fail func(w http.ResponseWriter, r *http.Request, err error)
}

// Host is the room: the repositories this server serves.
type Host struct {
	Config
	served []*served
}

// New opens, adopts or makes every repository.
func New(ctx context.Context, c Config) (*Host, error) {
	h := &Host{Config: c}
	for _, path := range c.Paths {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		s, err := h.open(abs)
		if err != nil {
			h.Close()
			return nil, fmt.Errorf("serve %s: %w", path, err)
		}
		for n, base := 2, s.name; h.byName(s.name) != nil; n++ {
			s.name = fmt.Sprintf("%s-%d", base, n)
		}
		h.served = append(h.served, s)
	}
	return h, nil
}

// Close lets the repositories go.
func (h *Host) Close() {
	for _, s := range h.served {
		s.store.Close()
	}
}

// Paths are the folders of the repositories, as they were named.
func (h *Host) Paths() []string {
	out := []string{}
	for _, s := range h.served {
		out = append(out, s.root)
	}
	return out
}

// Run notices what people do in the served folders with stock jj or git, until
// ctx ends.
func (h *Host) Run(ctx context.Context) {
	if len(h.served) == 0 {
		return
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, s := range h.served {
			if err := h.look(ctx, s); err != nil && ctx.Err() == nil {
				h.Log.Warn("look at a repository", "repo", s.name, "err", err)
			}
		}
	}
}

// lookEvery is how often a served folder is looked at; one look is a few stats.
const lookEvery = 100 * time.Millisecond

func (h *Host) byName(name string) *served {
	for _, s := range h.served {
		if s.name == name {
			return s
		}
	}
	return nil
}

// find is the repository of that name, as far as the caller may know of it.
// Repositories are the first tenant's: the one whose machine this is.
func (h *Host) find(ctx context.Context, name string) (*served, error) {
	s := h.byName(name)
	if s == nil || op.CallerFrom(ctx).Tenant != identity.LocalTenant {
		return nil, fault.New(fault.NotFound, "repo", "there is no repository %q here", clip(name)).WithNext("see: tandem repo list")
	}
	return s, nil
}

// repoAt is the resource of a repository, or of something in it.
func repoAt(name string, below ...string) op.Resource {
	return op.Resource{Kind: "repo", Path: pathOf(append([]string{name}, below...))}
}

// workspaceAt is the resource of a workspace.
func workspaceAt(repo, name string) op.Resource {
	return op.Resource{Kind: "workspace", Path: pathOf([]string{repo, name})}
}

// pathOf joins components. A bookmark may be called a/b or .., and a policy's
// path may not.
func pathOf(parts []string) string {
	var b strings.Builder
	for _, p := range parts {
		for _, c := range strings.Split(p, "/") {
			switch c {
			case "", ".", "..":
				c = "_" + c
			}
			b.WriteString("/" + c)
		}
	}
	return b.String()
}

func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}
