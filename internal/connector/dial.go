package connector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/internal/connector/wire"
	"tandem/internal/fault"
	"tandem/internal/secret"
	"tandem/internal/tool"
)

// timeout bounds one conversation with a connector.
const timeout = 60 * time.Second

// talk opens a connection, lends it to fn and closes it.
func (r *Room) talk(ctx context.Context, c *wire.Connector,
	fn func(ctx context.Context, conv *conversation, s *mcp.ClientSession) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return r.withSecret(ctx, c, func(value string) error {
		conv := newConversation()
		conv.lend(value)
		t, done, err := r.transport(ctx, c, conv, value)
		if err != nil {
			return err
		}
		defer done()
		client := mcp.NewClient(&mcp.Implementation{Name: "tandem", Version: "1"}, nil)
		s, err := client.Connect(ctx, t, nil)
		if err != nil {
			return explain(ctx, c, conv, t, err)
		}
		defer s.Close() //nolint:errcheck // the conversation is over either way
		if err := fn(ctx, conv, s); err != nil {
			return explain(ctx, c, conv, t, err)
		}
		return nil
	})
}

// Secrets are the names that connectors' credentials have.
var Secrets = []secret.Owned{{Prefix: "connector/"}}

// secretName is under which name the secret of a connector's header is sealed.
func secretName(name string) string { return "connector/" + name }

// withSecret lends the connector's secret to fn. A connector that names a header and has no secret is an error, never a
// call without one.
func (r *Room) withSecret(ctx context.Context, c *wire.Connector, fn func(value string) error) error {
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
func (r *Room) transport(ctx context.Context, c *wire.Connector, conv *conversation, value string) (mcp.Transport, func(), error) {
	if c.URL != "" {
		return r.httpTransport(c, conv, value, &signer{r: r, c: c}), func() {}, nil
	}
	var cmd *exec.Cmd
	var done func()
	scope, err := r.scope(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	err = r.withVariables(ctx, c, c.Given.Secrets, nil, func(env []string) (err error) {
		for _, kv := range env {
			_, value, _ := strings.Cut(kv, "=")
			conv.lend(value)
		}
		cmd, done, err = r.command(ctx, c, scope, env)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return &program{cmd: cmd, c: conv}, done, nil
}

// httpTransport speaks to a connector at an address: with its secret in its header, or, without one, signed in by handler.
func (r *Room) httpTransport(c *wire.Connector, conv *conversation, value string,
	handler auth.OAuthHandler) *mcp.StreamableClientTransport {
	t := &mcp.StreamableClientTransport{Endpoint: c.URL, MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: 4 << 20,
		HTTPClient: &http.Client{
			Transport:     trip{r.guarded(c), conv, c.Header, value},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if c.Header == "" {
		t.OAuthHandler = handler
	}
	return t
}

// explain makes a fault that names the connector, holds no secret, and says what a program that died said last.
func explain(ctx context.Context, c *wire.Connector, conv *conversation, t mcp.Transport, err error) error {
	var known *fault.Error
	if errors.As(err, &known) {
		return known
	}
	msg := err.Error()
	switch p, isProgram := t.(*program); {
	case ctx.Err() != nil:
		msg = "it did not answer in time"
	case conv.left.Load() <= 0:
		msg = errTooMuch.Error()
	case isProgram && p.last.String() != "":
		msg += "; it said: " + p.last.String()
	}
	msg = conv.strike(strings.ToValidUTF8(msg, "\uFFFD"))
	if over := 600; len(msg) > over {
		msg = strings.ToValidUTF8(msg[:over], "") + "…"
	}
	return fault.New(fault.Unavailable, "connector", "%s: %s", c.Name, msg)
}

// offered asks a connector for its tools. What was lent to it stands in none of them.
func offered(ctx context.Context, conv *conversation, s *mcp.ClientSession) ([]wire.Tool, error) {
	var out []wire.Tool
	size := 0
	params := &mcp.ListToolsParams{}
	for {
		page, err := s.ListTools(ctx, params)
		if err != nil {
			return nil, err
		}
		for _, t := range page.Tools {
			if !toolName.MatchString(t.Name) {
				return nil, fmt.Errorf("it offers a tool named %.80q: names are 1 to 128 letters, digits, _, -, . and /", t.Name)
			}
			schema, err := json.Marshal(t.InputSchema)
			size += len(t.Name) + len(t.Description) + len(schema)
			if err != nil || len(schema) > maxSchema || len(t.Description) > maxDoc || len(out) >= maxTools || size > maxOffer {
				return nil, fmt.Errorf("it offers more than can be taken in (%d tools, %d bytes, a schema of %d bytes)", len(out)+1, size, len(schema))
			}
			out = append(out, wire.Tool{Name: t.Name, Doc: conv.strike(t.Description), Schema: conv.lent.JSON(schema)})
		}
		if page.NextCursor == "" {
			return out, nil
		}
		params.Cursor = page.NextCursor
	}
}

// result is a tool's answer as text, bounded, without what was lent to the connector.
func result(conv *conversation, res *mcp.CallToolResult) tool.Result {
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
	text := conv.strike(strings.ToValidUTF8(b.String(), "�"))
	if len(text) > maxResult {
		text = strings.ToValidUTF8(text[:maxResult], "") + "\n… (cut)"
	}
	return tool.Result{Text: text, Error: res.IsError}
}
