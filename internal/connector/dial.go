package connector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/internal/fault"
	"tandem/internal/tool"
)

// timeout bounds one conversation with a connector.
const timeout = 60 * time.Second

// withHeader adds one header to every request.
type withHeader struct {
	base        http.RoundTripper
	name, value string
}

// RoundTrip sends the request with the header.
func (h withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if h.name != "" {
		r.Header.Set(h.name, h.value)
	}
	return h.base.RoundTrip(r)
}

// talk opens a connection, lends it to fn and closes it.
func (r *Room) talk(ctx context.Context, c *Connector, fn func(ctx context.Context, s *mcp.ClientSession) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return r.withSecret(ctx, c, func(value string) error {
		t, done, err := r.transport(ctx, c, value)
		if err != nil {
			return err
		}
		defer done()
		client := mcp.NewClient(&mcp.Implementation{Name: "tandem", Version: "1"}, nil)
		s, err := client.Connect(ctx, t, nil)
		if err != nil {
			return r.explain(ctx, c, value, err)
		}
		defer s.Close() //nolint:errcheck // the conversation is over either way
		if err := fn(ctx, s); err != nil {
			return r.explain(ctx, c, value, err)
		}
		return nil
	})
}

// secretName is under which name the secret of a connector's header is sealed.
func secretName(name string) string { return "connector/" + name }

// withSecret lends the connector's secret to fn. A connector that names a header and has no secret is an error, never a
// call without one.
func (r *Room) withSecret(ctx context.Context, c *Connector, fn func(value string) error) error {
	if c.Header == "" {
		return fn("")
	}
	err := r.keys.Lend(ctx, c.Tenant, secretName(c.Name), func(v []byte) error { return fn(string(v)) })
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.Conflict, "connector.call", "%s needs a secret for its header %s, and none is stored", c.Name, c.Header).
			WithNext("store it: tandem connector secret %s", c.Name)
	}
	return err
}

// transport is the way to a connector, and what to do when the conversation is over.
func (r *Room) transport(ctx context.Context, c *Connector, value string) (mcp.Transport, func(), error) {
	if c.URL != "" {
		return r.httpTransport(c, value, &signer{r: r, c: c}), func() {}, nil
	}
	line := make([]string, len(c.Command))
	for i, w := range c.Command {
		line[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	cmd, done, err := r.sandbox.Command(ctx, tool.NewScope(nil), "/", "exec "+strings.Join(line, " "), c.Network)
	if err != nil {
		return nil, nil, err
	}
	return &mcp.CommandTransport{Command: cmd, TerminateDuration: time.Second}, done, nil
}

// httpTransport speaks to a connector at an address: with its secret in its header, or, without one, signed in by handler.
func (r *Room) httpTransport(c *Connector, value string, handler auth.OAuthHandler) *mcp.StreamableClientTransport {
	t := &mcp.StreamableClientTransport{Endpoint: c.URL, MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: 4 << 20, HTTPClient: &http.Client{Transport: withHeader{r.guarded(c), c.Header, value},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if c.Header == "" {
		t.OAuthHandler = handler
	}
	return t
}

// explain makes a fault that names the connector and holds no secret.
func (r *Room) explain(ctx context.Context, c *Connector, value string, err error) error {
	var known *fault.Error
	if errors.As(err, &known) {
		return known
	}
	msg := err.Error()
	if value != "" {
		msg = strings.ReplaceAll(msg, value, "[secret]")
	}
	if ctx.Err() != nil {
		msg = "it did not answer in time"
	}
	if len(msg) > 300 {
		msg = msg[:300] + "…"
	}
	return fault.New(fault.Unavailable, "connector", "%s: %s", c.Name, strings.ToValidUTF8(msg, "�"))
}

// offered asks a connector for its tools.
func offered(ctx context.Context, s *mcp.ClientSession) ([]Tool, error) {
	var out []Tool
	params := &mcp.ListToolsParams{}
	for {
		page, err := s.ListTools(ctx, params)
		if err != nil {
			return nil, err
		}
		for _, t := range page.Tools {
			schema, err := json.Marshal(t.InputSchema)
			if err != nil || len(schema) > maxSchema || len(t.Description) > maxDoc || len(out) >= maxTools {
				return nil, fmt.Errorf("it offers more than can be taken in (%d tools, a schema of %d bytes)", len(out)+1, len(schema))
			}
			out = append(out, Tool{Name: t.Name, Doc: t.Description, Schema: schema})
		}
		if page.NextCursor == "" {
			return out, nil
		}
		params.Cursor = page.NextCursor
	}
}

// result is a tool's answer as text, bounded.
func result(res *mcp.CallToolResult) tool.Result {
	var b strings.Builder
	for _, c := range res.Content {
		switch v := c.(type) {
		case *mcp.TextContent:
			b.WriteString(v.Text)
		default:
			raw, err := json.Marshal(v)
			if err == nil {
				b.Write(raw)
			}
		}
		b.WriteByte('\n')
	}
	if b.Len() == 0 && res.StructuredContent != nil {
		if raw, err := json.Marshal(res.StructuredContent); err == nil {
			b.Write(raw)
		}
	}
	text := strings.ToValidUTF8(b.String(), "�")
	if len(text) > maxResult {
		text = strings.ToValidUTF8(text[:maxResult], "") + "\n… (cut)"
	}
	return tool.Result{Text: text, Error: res.IsError}
}
