package compat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/gate"
	"tandem/internal/op"
)

// Server translates for the published clients.
type Server struct {
	Gate *gate.Gate
	// Fail answers with a fault.
	Fail func(w http.ResponseWriter, r *http.Request, err error)
	// Follow sends a session's events, as JSON, until ctx ends or send fails; beat is called when nothing happens.
	Follow func(ctx context.Context, tenant, session, from string, beat func() error, send func(json.RawMessage) error) error
	// Wait returns when the journal has grown beyond a place, or with ctx.
	Wait func(ctx context.Context, after int64) error
	// WaitAbout returns when it has an entry of a kind behind a place, and Head is how far it has grown.
	WaitAbout func(ctx context.Context, after int64, kind string) error
	Head      func(ctx context.Context) (int64, error)
}

type obj = map[string]any

// handler answers a request with a value, or a fault.
type handler func(r *request) (any, error)

// request is a call being translated.
type request struct {
	*http.Request
	s    *Server
	w    http.ResponseWriter
	body map[string]json.RawMessage
}

// Mounts are the routes of the published clients.
func (s *Server) Mounts() map[string]http.Handler {
	out := map[string]http.Handler{}
	for pattern, h := range map[string]handler{
		"POST /session":                                    createSession,
		"GET /session":                                     listSessions,
		"GET /session/{id}":                                getSession,
		"PATCH /session/{id}":                              updateSession,
		"DELETE /session/{id}":                             deleteSession,
		"GET /session/{id}/message":                        messages,
		"GET /session/{id}/todo":                           todos,
		"GET /session/{id}/run":                            activeRun,
		"GET /session/{id}/diff":                           diff,
		"GET /session/{id}/children":                       children,
		"POST /session/{id}/prompt_async":                  promptAsync,
		"POST /session/{id}/prompt_sync":                   promptSync,
		"POST /session/{id}/abort":                         cancel,
		"POST /session/{id}/cancel":                        cancel,
		"POST /session/{id}/run/{run}/cancel":              cancel,
		"POST /session/{id}/fork":                          fork,
		"POST /session/{id}/revert":                        revert,
		"POST /session/{id}/unrevert":                      unrevert,
		"POST /session/{id}/summarize":                     summarize,
		"POST /session/{id}/attach":                        attach,
		"GET /permission":                                  permissions,
		"GET /approvals/pending":                           pending,
		"POST /permission/{ask}/reply":                     reply,
		"POST /sessions/{sid}/tools/{ask}/approve":         approve,
		"POST /sessions/{sid}/tools/{ask}/deny":            deny,
		"GET /question":                                    questions,
		"POST /question/{question}/reply":                  answer,
		"POST /question/{question}/reject":                 reject,
		"POST /sessions/{sid}/questions/{question}/answer": answer,
		"GET /tool/ids":                                    toolIDs,
		"GET /tool":                                        tools,
		"POST /tool/execute":                               execute,
		"GET /provider":                                    providerCatalog,
		"GET /config/providers":                            providerConfig,
		"PATCH /config":                                    setDefaults,
		"PUT /auth/{provider}":                             setKey,
		"GET /provider/auth":                               authStatus,
	} {
		out[pattern] = s.handle(h)
	}
	for pattern, h := range connectorRoutes {
		out[pattern] = s.handle(h)
	}
	for pattern, h := range memoryRoutes {
		out[pattern] = s.handle(h)
	}
	for pattern, h := range signInRoutes {
		out[pattern] = s.handle(h)
	}
	for pattern, h := range coderRoutes {
		out[pattern] = s.handle(h)
	}
	for pattern, h := range missionRoutes {
		out[pattern] = s.handle(h)
	}
	for pattern, h := range contextRoutes {
		out[pattern] = s.handle(h)
	}
	out["GET /context/runs/events/stream"] = http.HandlerFunc(s.contextsEvents)
	out["GET /context/runs/{id}/events/stream"] = http.HandlerFunc(s.contextEvents)
	automationMounts(s, out)
	lackingMounts(s, out)
	out["GET /run/{run}/events"] = http.HandlerFunc(s.runEvents)
	out["GET /resource/events"] = http.HandlerFunc(s.resourceEvents)
	out["GET /global/event"] = http.HandlerFunc(s.GlobalEvents)
	return out
}

func (s *Server) handle(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !op.CallerFrom(r.Context()).Known() {
			s.Fail(w, r, fault.New(fault.Unauthenticated, "http", "tandem does not know you").
				WithNext("send a token: Authorization: Bearer …; show yours with: tandem token show api"))
			return
		}
		q := &request{Request: r, s: s, w: w}
		if err := q.read(); err != nil {
			s.Fail(w, r, err)
			return
		}
		out, err := h(q)
		if err != nil {
			s.Fail(w, r, err)
			return
		}
		write(w, http.StatusOK, out)
	})
}

func write(w http.ResponseWriter, status int, v any) {
	if w.Header().Get("Content-Type") != "" {
		return // the handler answered by itself
	}
	data, err := json.Marshal(v)
	if err != nil {
		status, data = 500, []byte(`{"error":"internal error","code":"internal","retryable":false}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // the client may be gone
}

// read takes the body in; the clients' extra fields are theirs to send.
func (q *request) read() error {
	q.body = map[string]json.RawMessage{}
	if q.Body == nil {
		return nil
	}
	b, err := io.ReadAll(q.Body)
	if err != nil {
		return fault.New(fault.Invalid, "http", "the request broke off: %w", err)
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return nil
	}
	if err := json.Unmarshal(b, &q.body); err != nil {
		return fault.New(fault.Invalid, "http", "the body is not a JSON object: %w", err)
	}
	return nil
}

// get reads a field of the body by any of its names; an absent one leaves into as it is.
func (q *request) get(into any, names ...string) error {
	for _, n := range names {
		if raw, ok := q.body[n]; ok && string(raw) != "null" {
			if err := json.Unmarshal(raw, into); err != nil {
				return fault.New(fault.Invalid, "http", "%q is not of the right type", n)
			}
			return nil
		}
	}
	return nil
}

func (q *request) text(names ...string) (string, error) {
	var s string
	err := q.get(&s, names...)
	return s, err
}

// call runs an operation and reads its output.
func (q *request) call(name string, in, out any) error { return q.s.call(q.Context(), name, in, out) }

func (s *Server) call(ctx context.Context, name string, in, out any) error {
	got, err := s.Gate.Invoke(ctx, name, in)
	if err != nil || out == nil {
		return err
	}
	b, err := json.Marshal(got)
	if err != nil {
		return fmt.Errorf("encode the answer of %s: %w", name, err)
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("read the answer of %s: %w", name, err)
	}
	return nil
}

func ms(t time.Time) int64 { return t.UnixMilli() }

func number(s string, def int) int {
	if n, err := strconv.Atoi(s); err == nil && n >= 0 {
		return n
	}
	return def
}

func kindOf(err error) fault.Kind { return fault.KindOf(err) }

func dataOf(err error, key string) string {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Data[key]
	}
	return ""
}

func words(s string) string { return strings.TrimSpace(s) }
