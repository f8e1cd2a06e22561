package source

import (
	"context"
	"encoding/json"
	"path/filepath"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/source/wire"
)

// origin is where the documents of a source are, while they are looked at. It is opened by a caller, and shows what that one may see.
type origin interface {
	// list names the documents.
	list(ctx context.Context) (*listing, error)
	// read is what one of them holds. A connector's fault ends the import; what cannot be had this time (notNow) stays as it was known; of
	// others the reason is noted in place of what was known.
	read(ctx context.Context, f found) ([]byte, error)
	// head is how one of them begins, for formats that its name does not say.
	head(ctx context.Context, f found) []byte
	close()
}

// found is a document that would be read.
type found struct {
	path     string // in the source: with slashes, or an address
	name     string // by whose ending its format is known, "" is the path
	size     int64
	modified int64  // in nanoseconds
	version  string // names what it holds, "" where size and time have to do
}

func (f found) called() string {
	if f.name != "" {
		return f.name
	}
	return f.path
}

// listing is what there is.
type listing struct {
	files []found
	left  []wire.BadFile
	at    string // the commit, of a repository
	// unread are documents that could not be had this time. What was read of them before stays, and nothing is called gone: what they
	// led to was not seen either.
	unread []wire.BadFile
}

// notNow is why a document could not be read this time.
type notNow struct{ why string }

func (n notNow) Error() string { return n.why }

func (l *listing) unsure(file, reason string) {
	l.unread = append(l.unread, wire.BadFile{File: file, Reason: reason})
}

func (l *listing) leave(file, reason string) {
	l.left = append(l.left, wire.BadFile{File: file, Reason: reason})
}

// resolved is a place that is there, as it is stored: links are followed, names made whole.
type resolved struct {
	wire.From
	RepoID string `json:"repo_id,omitempty"` // it stays, whatever the repository is called
	// ConnectorID tells the connector that was bound from another one of that name.
	ConnectorID string `json:"connector_id,omitempty"`

	brief  bool // it is only looked at, and not all of it
	within time.Duration
}

// text is how it is stored beside a folder: nothing for a folder alone.
func (p resolved) text() (string, error) {
	if p.Folder != "" {
		return "", nil
	}
	b, err := json.Marshal(p)
	return string(b), err
}

func parseOrigin(text string) (p resolved, err error) { return p, json.Unmarshal([]byte(text), &p) }

// where is the resource that somebody reads who looks at a place.
func where(f wire.From) op.Resource {
	switch {
	case f.Repo != "":
		return op.Resource{Kind: "repo", Path: "/" + f.Repo}
	case f.URL != "":
		return at("")
	case f.Connector != "":
		return connectorAt(f.Connector)
	}
	return place(f.Folder)
}

// resolve says what a place is for the caller, and refuses what is not there for it.
func (r *Room) resolve(ctx context.Context, f wire.From) (resolved, error) {
	said := 0
	for _, word := range []string{f.Folder, f.Repo, f.URL, f.Connector} {
		if word != "" {
			said++
		}
	}
	switch {
	case said != 1:
		return resolved{}, bad("a source is one folder, one repository, one address or one connector")
	case f.Repo == "" && (f.At != "" || f.Under != ""):
		return resolved{}, bad("bookmarks, commits and folders inside are of repositories")
	case f.URL == "" && (f.Depth != 0 || f.Pages != 0 || f.Inside):
		return resolved{}, bad("depth, pages and inside are of addresses")
	case f.URL != "":
		return r.resolveSite(ctx, f)
	case f.Connector != "":
		return r.resolveOffer(ctx, f)
	case f.Repo != "":
		return r.resolveRepo(ctx, f)
	}
	if err := checkFolder(f.Folder); err != nil {
		return resolved{}, err
	}
	folder := filepath.FromSlash(place(f.Folder).Path)
	if !op.Sees(ctx, folder) || !op.May(ctx, "folder.read", place(folder)) {
		return resolved{}, fault.New(fault.NotFound, "source", "there is no folder %s for you", f.Folder)
	}
	return resolved{From: wire.From{Folder: folder}}, nil
}

// open looks at a place with the eyes of the caller.
func (r *Room) open(ctx context.Context, p resolved) (origin, error) {
	switch {
	case p.Repo != "":
		return r.openRepo(ctx, p)
	case p.URL != "":
		return openSite(p)
	case p.Connector != "":
		return r.openOffer(ctx, p)
	}
	root, err := open(p.Folder)
	if err != nil {
		return nil, err
	}
	return &folder{root: root, at: p.Folder, hidden: r.Hidden}, nil
}

// sight is which documents of a source the caller may see, of the connectors that were found; "" asks for the source itself.
func (r *Room) sight(ctx context.Context, b *binding, found map[string]string) func(path string) bool {
	switch {
	case b.Repo != "":
		return r.repoSight(ctx, b)
	case b.URL != "": // it is the source itself that somebody may read
		return func(string) bool { return true }
	case b.Connector != "":
		may, now := op.Allowed(ctx, "connector.call", connectorAt(b.Connector)), stillOffered(b, found) == nil
		return func(path string) bool { return may && (now || path == "") }
	}
	return func(path string) bool { return op.Sees(ctx, filepath.Join(b.Folder, filepath.FromSlash(path))) }
}

// connectors are those that may be read now, for a caller's sight.
func (r *Room) connectors(ctx context.Context) (map[string]string, error) {
	if r.Connectors.Found == nil {
		return nil, nil
	}
	return r.Connectors.Found(ctx)
}
