package connector

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/internal/connector/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// Bounds of what a connector gives to read.
const (
	maxResources = 1000
	maxURI       = 1000
)

// Resource is something that a connector gives to read, by the address that the connector has for it.
type Resource struct {
	URI, Name, Kind string
	Size            int64 // as it says
}

// Resources are those that a connector offers now, for a caller who may call it.
func (r *Room) Resources(ctx context.Context, name string) (out []Resource, err error) {
	err = r.reading(ctx, name, func(ctx context.Context, conv *conversation, s *mcp.ClientSession) error {
		out = nil
		for params := (&mcp.ListResourcesParams{}); ; {
			page, err := s.ListResources(ctx, params)
			if err != nil {
				return err
			}
			for _, one := range page.Resources {
				if len(out) >= maxResources {
					return fault.New(fault.Exhausted, "connector", "%s offers more than %d resources", name, maxResources)
				}
				if one != nil && one.URI != "" && len(one.URI) <= maxURI {
					out = append(out, Resource{URI: conv.strike(one.URI), Name: conv.strike(one.Name), Kind: one.MIMEType, Size: one.Size})
				}
			}
			if page.NextCursor == "" {
				return nil
			}
			params.Cursor = page.NextCursor
		}
	})
	return out, err
}

// Refusal is what a connector says that answers and does not give one resource.
type Refusal struct {
	Gone bool // there is none
	Why  string
}

func (r *Refusal) Error() string { return r.Why }

// goneBefore is how servers of earlier editions of MCP say that there is no such resource.
const goneBefore = -32002

// ReadResource is what a connector says that a resource holds, without what was lent to it. What it answers instead is a Refusal; other
// errors are of the way there, or of the connector.
func (r *Room) ReadResource(ctx context.Context, name, uri string) (data []byte, err error) {
	var refused *Refusal
	err = r.reading(ctx, name, func(ctx context.Context, conv *conversation, s *mcp.ClientSession) error {
		data, refused = nil, nil
		res, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		if said := (*jsonrpc.Error)(nil); errors.As(err, &said) && ctx.Err() == nil {
			refused = &Refusal{Gone: said.Code == jsonrpc.CodeInvalidParams || said.Code == goneBefore,
				Why: fault.Clip(conv.strike(strings.ToValidUTF8(said.Message, "\uFFFD")), 200)}
			return nil
		}
		if err != nil {
			return err
		}
		for _, c := range res.Contents {
			if c == nil {
				continue
			}
			if len(data) > 0 {
				data = append(data, "\n\n"...)
			}
			data = append(data, conv.strike(c.Text)...)
			data = append(data, conv.strike(string(c.Blob))...)
		}
		return nil
	})
	if err == nil && refused != nil {
		err = refused
	}
	return data, err
}

// Found are the connectors of the caller's tenant by name, each with what tells it from another one that was added under that name. Not
// among them are those that are disabled, and those whose tools changed and nobody has looked.
func (r *Room) Found(ctx context.Context) (map[string]string, error) {
	rows, err := r.db.Query(ctx, "SELECT name, url, command, created_at FROM connector WHERE tenant = ? AND enabled <> 0 AND state <> ?",
		op.CallerFrom(ctx).Tenant, string(wire.Quarantined))
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (one [2]string, err error) {
		var url, command string
		var made int64
		err = rows.Scan(&one[0], &url, &command, &made)
		sum := sha256.Sum256([]byte(text([]any{made, url, command})))
		one[1] = hex.EncodeToString(sum[:16])
		return one, err
	})
	out := map[string]string{}
	for _, one := range all {
		out[one[0]] = one[1]
	}
	return out, err
}

// reading talks with a connector for a caller who may call it, as long as it offers the tools that a person accepted: one that changed
// is looked at first.
func (r *Room) reading(ctx context.Context, name string, fn func(context.Context, *conversation, *mcp.ClientSession) error) error {
	if !op.Allowed(ctx, "connector.call", at(name)) {
		return op.NoSuch("connector", name)
	}
	c, err := r.Load(ctx, op.CallerFrom(ctx).Tenant, name)
	if err != nil {
		return err
	}
	if err := ready(c); err != nil {
		return err
	}
	changed := false
	err = r.talk(ctx, c, func(ctx context.Context, conv *conversation, s *mcp.ClientSession) error {
		tools, err := offered(ctx, conv, s)
		if err != nil {
			return fmt.Errorf("it does not say what it offers: %w", err)
		}
		if changed = digest(tools) != c.Accepted; changed {
			return nil
		}
		return fn(ctx, conv, s)
	})
	if err != nil || !changed {
		return err
	}
	if _, err := r.look(ctx, c.Tenant, c.Name); err != nil {
		return err
	}
	c.State = wire.Quarantined
	return ready(c)
}
