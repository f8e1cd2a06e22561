package host

import (
	"context"
	"embed"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/gate"
	"tandem/internal/id"
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
	// Opening is told which one is being opened: the first time that takes long.
	Opening func(path string)
	// Gate is the door that streams and pushes pass; it is made after the room.
	Gate func() *gate.Gate
	// Actor is the id of an actor, by name.
	Actor func(ctx context.Context, name string) (string, error)
	// Fail answers a request with a fault.
	Fail func(w http.ResponseWriter, r *http.Request, err error)
}

// Host is the room: the repositories this server serves.
type Host struct {
	Config
	served []*served
	known  []known // all that were ever served, also those that are not now
	odd    []odd   // that were named and could not be opened
	pushes turns   // of callers who bring something
	reads  turns   // of those who take a copy along, or what is new
	says   op.Vouch
}

// New opens, adopts or makes every repository.
func New(ctx context.Context, c Config) (*Host, error) {
	h := &Host{Config: c, pushes: turns{most: pushesAtOnce, op: "repo.push", does: "taken in"},
		reads: turns{most: readsAtOnce, op: "repo.pull", does: "answered"}}
	if c.Journal != nil {
		h.says = c.Journal.Vouch()
	}
	if err := h.loadKnown(ctx); err != nil {
		return nil, err
	}
	for _, path := range c.Paths {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		if c.Opening != nil {
			c.Opening(abs)
		}
		s, err := h.open(ctx, abs)
		if err != nil && len(c.Paths) > 1 {
			h.setAside(abs, err)
			continue
		}
		if err != nil {
			h.Close()
			return nil, fmt.Errorf("serve %s: %w", path, err)
		}
		h.served = append(h.served, s)
	}
	err := h.identify(ctx)
	if err == nil {
		err = h.loadEras(ctx)
	}
	if err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// setAside notes a repository that cannot be served: the others are all the same.
func (h *Host) setAside(path string, err error) {
	o := odd{name: filepath.Base(path), path: path, dir: filepath.Join(path, ".jj", "repo"), err: err}
	if k, ok := h.knownBy(func(k known) bool { return k.path == path }); ok {
		o.name, o.id = k.name, k.id
	}
	h.odd = append(h.odd, o)
	h.Log.Error("a repository is not served", "path", path, "err", err)
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

// Own are the folders inside the repositories where tandem keeps what it knows of them, by the repository's folder.
func (h *Host) Own() map[string]string {
	out := map[string]string{}
	for _, s := range h.served {
		out[s.root] = filepath.Dir(s.idFile())
	}
	return out
}

func (h *Host) byName(name string) *served {
	for _, s := range h.served {
		if s.name == name {
			return s
		}
	}
	return nil
}

// lookup is the repository that an id or a name means. People say names;
// replicas, which must not take one repository for another, say ids.
func (h *Host) lookup(ref string) *served {
	for _, s := range h.served {
		if s.id == ref {
			return s
		}
	}
	return h.byName(ref)
}

// called is the name of the repository that an id or a name means, also of one
// that is not served now: rights are given by name.
func (h *Host) called(ref string) string {
	if k, ok := h.knownBy(func(k known) bool { return k.id == ref }); ok {
		return k.name
	}
	return ref
}

// IsID says whether a word is the id of a repository, and not a name.
func IsID(ref string) bool { return id.Check(idPrefix, ref) == nil }

// at is the resource of a repository, or of something in it, by id or name.
func (h *Host) at(ref string, below ...string) op.Resource { return repoAt(h.called(ref), below...) }

// find is the repository of that id or name, as far as the caller may know of
// it. Repositories are the first tenant's: the one whose machine this is.
func (h *Host) find(ctx context.Context, ref string) (*served, error) {
	s := h.lookup(ref)
	if op.CallerFrom(ctx).Tenant != identity.LocalTenant {
		s = nil
	} else if s == nil && id.Check(idPrefix, ref) == nil {
		return nil, h.notServed(ctx, ref)
	}
	if s == nil {
		return nil, fault.New(fault.NotFound, "repo", "there is no repository %q here", clip(ref)).WithNext("see: tandem repo list")
	}
	return s, nil
}

// notServed says what became of the repository with an id, and what there is
// instead.
func (h *Host) notServed(ctx context.Context, ref string) error {
	k, known := h.knownBy(func(k known) bool { return k.id == ref })
	var there []string
	for _, s := range h.served {
		if op.May(ctx, "repo.list", repoAt(s.name)) {
			there = append(there, s.name+" ("+s.id+")")
		}
	}
	if len(there) == 0 {
		there = []string{"none"}
	}
	f := fault.New(fault.NotFound, "repo", "the repository %s is not served here; served are: %s", ref, strings.Join(there, ", "))
	if !known {
		return f.WithNext("serve it at this address again: tandem up --repo FOLDER; or make a workspace of one that is: tandem init")
	}
	return f.WithNext("serve it again beside the others: tandem up --repo %s; or make a workspace of one that is served: tandem init", k.path)
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

func clip(s string) string { return fault.Clip(s, 80) }
