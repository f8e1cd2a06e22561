package scripted

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Server plays a script. Its zero value echoes and obeys directives. It is an http.Handler; Start puts it on a
// loopback port of its own.
type Server struct {
	Script Script
	// Log, when set, gets one JSON line per request, after its end.
	Log io.Writer

	mu       sync.Mutex
	seen     []*Request
	errs     map[string]int
	ids      int
	listener net.Listener
	http     *http.Server
}

// Start listens on addr (a loopback address; port 0 picks one) and serves until Close.
func (s *Server) Start(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	if !l.Addr().(*net.TCPAddr).IP.IsLoopback() {
		l.Close()
		return fmt.Errorf("%s is not a loopback address", addr)
	}
	s.listener = l
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go s.http.Serve(l) //nolint:errcheck // it always ends with an error, at Close
	return nil
}

// URL is the server's address, without a slash at the end.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Close ends the server and every open stream.
func (s *Server) Close() error { return s.http.Close() }

// Requests returns copies of what was asked of the models so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Request, len(s.seen))
	for i, q := range s.seen {
		out[i] = *q
	}
	return out
}

// ServeHTTP answers the endpoints that clients of the three wires use.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/v1")
	switch {
	case r.Method == http.MethodPost && path == "/messages":
		s.play(w, r, Anthropic)
	case r.Method == http.MethodPost && path == "/responses":
		s.play(w, r, Responses)
	case r.Method == http.MethodPost && path == "/chat/completions":
		s.play(w, r, Chat)
	case r.Method == http.MethodPost && path == "/messages/count_tokens":
		body, _ := io.ReadAll(r.Body)
		reply(w, obj{"input_tokens": len(body)/4 + 1})
	case path == "/models":
		reply(w, obj{"object": "list", "has_more": false, "data": []any{
			obj{"id": "scripted-1", "type": "model", "object": "model", "display_name": "Scripted", "owned_by": "tests"}}})
	case r.Method == http.MethodHead || path == "/":
		w.WriteHeader(http.StatusOK)
	default:
		http.Error(w, `{"error":{"type":"not_found_error","message":"no such endpoint"}}`, http.StatusNotFound)
	}
}

type obj = map[string]any

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

// play answers one model call.
func (s *Server) play(w http.ResponseWriter, r *http.Request, wire string) {
	start := time.Now()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	q, err := parse(wire, r, body)
	if err != nil {
		fail(w, wire, http.StatusBadRequest, "the body is not the JSON of this wire: "+err.Error(), 0)
		return
	}
	s.mu.Lock()
	s.seen = append(s.seen, q)
	s.ids += 100
	base := s.ids
	s.mu.Unlock()
	p := &player{w: w, ctx: r.Context(), q: q, id: fmt.Sprintf("%x%d", start.UnixMilli()&0xffffff, base)}
	p.voice = voices[wire](p)
	outcome := p.run(s, s.Script.turn(q))
	if outcome == "done" && r.Context().Err() != nil {
		outcome = "aborted"
	}
	s.mu.Lock()
	q.Outcome, q.Seconds = outcome, time.Since(start).Seconds()
	line, _ := json.Marshal(q)
	if s.Log != nil {
		fmt.Fprintf(s.Log, "%s\n", line)
	}
	s.mu.Unlock()
	if outcome == "cut" {
		panic(http.ErrAbortHandler) // closes the connection in the middle of the answer
	}
}

// again tells whether an error that happens only a few times happens now.
func (s *Server) again(q *Request, st Step) bool {
	if st.Times == 0 {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.errs == nil {
		s.errs = map[string]int{}
	}
	key := q.Wire + "\x00" + q.Prompt + "\x00" + strconv.Itoa(q.Call)
	s.errs[key]++
	return s.errs[key] <= st.Times
}

var errorTypes = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error",
	413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error",
}

// fail answers with an error as the wire's provider would.
func fail(w http.ResponseWriter, wire string, status int, msg string, retryAfter float64) {
	if retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.FormatFloat(retryAfter, 'f', -1, 64))
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", "req_scripted")
	w.WriteHeader(status)
	typ := errorTypes[status]
	switch {
	case typ != "":
	case status < 500:
		typ = "invalid_request_error"
	default:
		typ = "api_error"
	}
	e := obj{"type": typ, "message": msg}
	if wire == Anthropic {
		_ = json.NewEncoder(w).Encode(obj{"type": "error", "error": e})
		return
	}
	switch {
	case status == 400 && strings.Contains(msg, "context length"):
		e["code"] = "context_length_exceeded"
	case status == 401:
		e["code"] = "invalid_api_key"
	}
	_ = json.NewEncoder(w).Encode(obj{"error": e})
}

// pause waits, or ends early when the client goes.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
