// Package mcpserver turns the table of operations into MCP tools over
// streamable HTTP (and, through a pipe, stdio). It serves the stateless
// revision and older clients alike: every request stands for itself.
//
// A caller sees the tools that the gate would let it call, and nothing else
// exists for it. An MCP caller is a model: a program of this user is an agent
// here, whatever it calls itself, and it can read asks and wait for them, never
// decide one, whatever credential it holds.
package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/internal/fault"
	"tandem/internal/gate"
	"tandem/internal/id"
	"tandem/internal/oauth"
	"tandem/internal/op"
)

// Server is the MCP door.
type Server struct {
	gate    *gate.Gate
	as      op.As
	info    *mcp.Implementation
	opts    *mcp.ServerOptions
	tools   []tool
	handler http.Handler
	log     *slog.Logger

	mu      sync.Mutex
	servers map[string]*mcp.Server // one per kind of caller
}

type tool struct {
	spec *mcp.Tool
	op   *op.Op
}

// keyName is where a call's _meta has its idempotency key: a call that is sent again with the same key happens once.
const keyName = "tandem/idempotencyKey"

// maxServers bounds how many callers' servers are kept at once.
const maxServers = 256

// New makes the door. instructions tell a connected model what tandem is for;
// icon is a data: URI, or empty.
func New(g *gate.Gate, as op.As, version, instructions, icon string, log *slog.Logger) (*Server, error) {
	s := &Server{gate: g, as: as, log: log, servers: map[string]*mcp.Server{},
		info: &mcp.Implementation{Name: "tandem", Title: "Tandem", Version: version},
		opts: &mcp.ServerOptions{Instructions: instructions, PageSize: 1000,
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}, SchemaCache: mcp.NewSchemaCache()}}
	if icon != "" {
		s.info.Icons = []mcp.Icon{{Source: icon, MIMEType: "image/png"}}
	}
	for _, name := range g.Table().Tools() {
		o := g.Table().Tool(name)
		in, err := o.InSchema()
		if err != nil {
			return nil, err
		}
		read := !o.Changes()
		s.tools = append(s.tools, tool{&mcp.Tool{Name: name, Description: o.Doc, InputSchema: in,
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: read, IdempotentHint: read}}, o})
	}
	s.handler = mcp.NewStreamableHTTPHandler(s.serverFor, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: false,
		DisableLocalhostProtection: true, // the listener's own host list is stricter
		MaxRequestBodyBytes:        maxBody})
	return s, nil
}

// ServeHTTP answers a request whose caller was authenticated by the listener.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := op.CallerFrom(r.Context())
	if !c.Known() {
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="tandem", resource_metadata=%q`, s.metadata(r)))
		refuse(w, fault.New(fault.Unauthenticated, "mcp", "tandem does not know you").
			WithNext("send the connector token: Authorization: Bearer …"))
		return
	}
	only, err := s.only(r.URL.Query().Get("only"))
	if err == nil && c.Kind == op.Local {
		c, err = s.as(r.Context(), c, "")
	}
	if err != nil {
		refuse(w, s.gate.Explain(err))
		return
	}
	if !readable(w, r) {
		return
	}
	s.handler.ServeHTTP(w, r.WithContext(context.WithValue(op.WithCaller(r.Context(), c), onlyKey{}, only)))
}

func refuse(w http.ResponseWriter, err error) {
	f := fault.Public(err)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.Kind.Status())
	_ = json.NewEncoder(w).Encode(map[string]string{"error": f.Msg, "code": f.Kind.String(), "next": f.Next}) // who hung up needs no answer
}

// metadata is where a client learns how to get a token.
func (s *Server) metadata(r *http.Request) string {
	return oauth.Base(r) + "/.well-known/oauth-protected-resource"
}

// serverFor is the server of a request's caller. Its tools are looked up in
// the gate at every list and every call, so a revoked right is gone at once.
func (s *Server) serverFor(r *http.Request) *mcp.Server {
	c := op.CallerFrom(r.Context()).Later(op.DoorMCP)
	only, _ := r.Context().Value(onlyKey{}).(selection)
	data, err := json.Marshal(c)
	if err != nil {
		return nil
	}
	key := string(data) + only.key()
	s.mu.Lock()
	defer s.mu.Unlock()
	if srv := s.servers[key]; srv != nil {
		return srv
	}
	if len(s.servers) >= maxServers {
		clear(s.servers)
	}
	srv := mcp.NewServer(s.info, s.opts)
	for _, t := range s.tools {
		if only.has(t) {
			srv.AddTool(t.spec, s.call(t.op, c))
		}
	}
	srv.AddReceivingMiddleware(s.mask(c, only))
	s.servers[key] = srv
	return srv
}

// mask leaves out of every list what the caller may not use, and second names for what is listed anyway.
func (s *Server) mask(c op.Caller, only selection) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			res, err := next(ctx, method, req)
			list, ok := res.(*mcp.ListToolsResult)
			if err != nil || !ok {
				return res, err
			}
			ctx = op.WithCaller(ctx, c)
			shown := *list
			shown.Tools = nil
			for _, t := range list.Tools {
				if o := s.gate.Table().Tool(t.Name); only.lists(t.Name, o) && s.gate.May(ctx, o) {
					shown.Tools = append(shown.Tools, t)
				}
			}
			return &shown, nil
		}
	}
}

// call runs one operation for one caller.
func (s *Server) call(o *op.Op, c op.Caller) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c := c
		c.Request = id.New("req")
		c.Idempotency, _ = req.Params.Meta[keyName].(string)
		ctx = op.WithCaller(ctx, c)
		if len(c.Idempotency) > op.MaxKey {
			return failed(fault.New(fault.Invalid, o.Name, "an idempotency key has at most %d characters", op.MaxKey)), nil
		}
		if !s.gate.May(ctx, o) {
			return failed(fault.New(fault.NotFound, o.Name, "there is no tool %s", req.Params.Name)), nil
		}
		in, err := o.Decode(req.Params.Arguments)
		if err != nil {
			return failed(err), nil
		}
		ctx = s.progress(ctx, req)
		out, err := s.gate.Do(ctx, o, in)
		if err != nil {
			if fault.KindOf(err) == fault.Internal {
				s.log.Error("tool failed", "tool", req.Params.Name, "request", c.Request, "err", err)
			}
			return failed(err), nil
		}
		return answer(out)
	}
}

// progress passes on how a call goes, when its client gave a token for that.
func (s *Server) progress(ctx context.Context, req *mcp.CallToolRequest) context.Context {
	token := req.Params.GetProgressToken()
	if token == nil {
		return ctx
	}
	told := 0.0
	return op.WithProgress(ctx, func(message string) {
		told++
		if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: told,
			Message: message}); err != nil {
			s.log.Debug("progress was not told", "tool", req.Params.Name, "err", err)
		}
	})
}

// Text is an output that is meant to be read by a model as it stands.
type Text interface{ ToolText() string }

func answer(out any) (*mcp.CallToolResult, error) {
	data, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("encode a tool's answer: %w", err)
	}
	res := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(data)}}}
	if len(data) > 0 && data[0] == '{' {
		res.StructuredContent = json.RawMessage(data)
	}
	if t, ok := out.(Text); ok {
		res.Content = []mcp.Content{&mcp.TextContent{Text: t.ToolText()}}
	}
	return res, nil
}

// failed is a fault as a model reads it: what happened and what to do next.
func failed(err error) *mcp.CallToolResult {
	f := fault.Public(err)
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", f.Kind, f.Msg)
	if f.Next != "" {
		fmt.Fprintf(&b, "\nNext: %s", f.Next)
	}
	for k, v := range f.Data {
		fmt.Fprintf(&b, "\n%s: %s", k, v)
	}
	return &mcp.CallToolResult{IsError: f.Kind != fault.Pending, Content: []mcp.Content{&mcp.TextContent{Text: b.String()}}}
}
