package source

import (
	"context"
	"errors"
	"mime"
	"net/url"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/source/boxed"
	"tandem/internal/source/wire"
)

// Connectors are outside MCP servers that give things to read, to a caller who may call them.
type Connectors struct {
	// Found are those that may be read now, each with what tells it from another one of that name.
	Found func(ctx context.Context) (map[string]string, error)
	List  func(ctx context.Context, name string) ([]Resource, error)
	// Read is what one of its resources holds, or a Refusal.
	Read func(ctx context.Context, name, uri string) ([]byte, error)
}

// Refusal is what a connector says that answers and does not give one resource.
type Refusal struct {
	Gone bool // there is none
	Why  string
}

func (r *Refusal) Error() string { return r.Why }

// Bounds of reading what a connector gives.
const (
	offerTime  = 10 * time.Minute
	maxRefused = 20 // after each other: it gives nothing now
)

// Resource is something that a connector gives to read.
type Resource struct {
	URI, Name, Kind string
	Size            int64
}

func (r *Room) resolveOffer(ctx context.Context, f wire.From) (resolved, error) {
	if r.Connectors.List == nil || !op.Allowed(ctx, "connector.call", connectorAt(f.Connector)) {
		return resolved{}, op.NoSuch("connector", f.Connector)
	}
	found, err := r.Connectors.Found(ctx)
	if err == nil && found[f.Connector] == "" {
		err = fault.New(fault.NotFound, "source", "there is no connector %.60s that is enabled and accepted", f.Connector).
			WithNext("see which there are: tandem connector list")
	}
	return resolved{From: wire.From{Connector: f.Connector}, ConnectorID: found[f.Connector]}, err
}

func connectorAt(name string) op.Resource { return op.Resource{Kind: "connector", Path: "/" + name} }

// stillOffered says why nothing of a source is found that is a connector's: it is not there, disabled, has changed, or is another one.
func stillOffered(b *binding, found map[string]string) error {
	switch id := found[b.Connector]; {
	case id == "":
		return fault.New(fault.Conflict, "source", "the connector %s is not there, is disabled or was not accepted: nothing of it is found",
			b.Connector).WithNext("see: tandem connector list")
	case id != b.connectorID:
		return fault.New(fault.Conflict, "source", "%s is another connector now than the one that was bound: nothing of it is found",
			b.Connector).WithNext("revoke the source, and bind it anew: tandem source add --connector %s", b.Connector)
	}
	return nil
}

// offer is what a connector gives to read.
type offer struct {
	Connectors
	name    string
	until   time.Time
	refused int // after each other
}

func (r *Room) openOffer(ctx context.Context, p resolved) (origin, error) {
	if r.Connectors.List == nil {
		return nil, fault.New(fault.NotFound, "source", "there is no connector %s", p.Connector)
	}
	found, err := r.Connectors.Found(ctx)
	if err != nil {
		return nil, err
	}
	b := &binding{Source: wire.Source{From: p.From}, connectorID: p.ConnectorID}
	return &offer{Connectors: r.Connectors, name: p.Connector, until: time.Now().Add(offerTime)}, stillOffered(b, found)
}

func (o *offer) list(ctx context.Context) (*listing, error) {
	all, err := o.List(ctx, o.name)
	if err != nil {
		return nil, err
	}
	out, seen := &listing{}, map[string]bool{}
	for _, one := range all {
		switch {
		case seen[one.URI] || !utf8.ValidString(one.URI) || strings.ContainsRune(one.URI, 0):
		case one.Size > boxed.MaxInput:
			out.leave(one.URI, errTooLarge.Error())
		default:
			out.files = append(out.files, found{path: one.URI, name: formatName(one), size: max(0, one.Size)})
		}
		seen[one.URI] = true
	}
	return out, nil
}

// read has one resource. When the connector itself fails the import ends here: what was known of the others stays.
func (o *offer) read(ctx context.Context, f found) ([]byte, error) {
	ctx, cancel := context.WithDeadline(ctx, o.until)
	defer cancel()
	data, err := o.Read(ctx, o.name, f.path)
	var no *Refusal
	switch {
	case err == nil:
		o.refused = 0
	case ctx.Err() != nil:
		err = fault.New(fault.Unavailable, "source", "%s was not read within 10 minutes; it goes on with what is left the next time", o.name)
	case errors.As(err, &no):
		if o.refused++; o.refused >= maxRefused {
			return nil, fault.New(fault.Unavailable, "source", "%s gives nothing to read now: %s", o.name, no.Why)
		}
		if !no.Gone {
			err = notNow{no.Why}
		}
	}
	return data, err
}

// head is nothing: a preview does not read what the connector gives.
func (o *offer) head(context.Context, found) []byte { return nil }

func (o *offer) close() {}

// formatName is a name by which a resource's format is known: what the connector says, else how its address or its name ends.
func formatName(one Resource) string {
	media, _, _ := mime.ParseMediaType(one.Kind)
	end := endings[media]
	if end != "" && end != ".txt" {
		return "resource" + end
	}
	if u, err := url.Parse(one.URI); err == nil && path.Ext(u.Path) != "" {
		return path.Base(u.Path)
	}
	if end == "" && path.Ext(one.Name) != "" {
		return path.Base(one.Name)
	}
	return "resource" + end
}
