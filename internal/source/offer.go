package source

import (
	"context"
	"mime"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/source/boxed"
	"tandem/internal/source/wire"
)

// Connectors are outside MCP servers that give things to read, to a caller who may call them.
type Connectors struct {
	List func(ctx context.Context, name string) ([]Resource, error)
	Read func(ctx context.Context, name, uri string) ([]byte, error)
}

// Resource is something that a connector gives to read.
type Resource struct {
	URI, Name, Kind string
	Size            int64
}

func (r *Room) resolveOffer(ctx context.Context, f wire.From) (resolved, error) {
	if r.Connectors.List == nil || !op.May(ctx, "connector.list", connectorAt(f.Connector)) {
		return resolved{}, op.NoSuch("connector", f.Connector)
	}
	return resolved{From: wire.From{Connector: f.Connector}}, nil
}

func connectorAt(name string) op.Resource { return op.Resource{Kind: "connector", Path: "/" + name} }

// offer is what a connector gives to read.
type offer struct {
	Connectors
	name string
}

func (r *Room) openOffer(p resolved) (origin, error) {
	if r.Connectors.List == nil {
		return nil, fault.New(fault.NotFound, "source", "there is no connector %s", p.Connector)
	}
	return &offer{r.Connectors, p.Connector}, nil
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

func (o *offer) read(ctx context.Context, f found) ([]byte, error) {
	return o.Read(ctx, o.name, f.path)
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
