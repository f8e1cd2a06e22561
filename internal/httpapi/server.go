package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"tandem/internal/fault"
	"tandem/internal/gate"
	"tandem/internal/id"
	"tandem/internal/journal"
	"tandem/internal/op"
)

// MaxBody is the largest request body that is read.
const MaxBody = 16 << 20

// Authenticator says who sends a request. A stranger is the zero Caller and no
// error; an error is a credential that was given and is wrong.
type Authenticator func(r *http.Request) (op.Caller, error)

// Server is the HTTP door.
type Server struct {
	Gate    *gate.Gate
	Journal *journal.Journal
	Log     *slog.Logger
	Version string
	Now     func() time.Time
	// Mounts are handlers of other doors on the same listener (the panel,
	// MCP), by pattern. They get the authenticated request.
	Mounts map[string]http.Handler
	// Described are those of them that are in the description of the API, by what they are for.
	Described []Routes
	// Refuse says why a request is not looked at at all, whatever it is for. Nil refuses none.
	Refuse func(r *http.Request) error
	// Stranger says why somebody whom nobody knows does not reach a pattern, before the pattern's own handler is asked. Nil lets them.
	Stranger func(pattern string) error
	// Failed hears of every request that was answered with a failure. Without it nobody is told.
	Failed func(kind fault.Kind)
	// Compat takes over /event when a published client asks for a session's events (sessionID).
	Compat http.Handler
	// Bodies are the patterns whose requests may be larger than MaxBody, and how
	// large.
	Bodies map[string]int64

	// The description is the same on every listener and few ask for it, while each session opens a listener: it is made when somebody asks.
	asked  sync.Once
	doc    []byte
	docErr error
}

// Handler serves one listener: auth says who its callers are, hosts which
// requests it answers by the name they were sent to (nil: all, for sockets that no
// browser reaches).
func (s *Server) Handler(auth Authenticator, hosts func(*http.Request) bool) http.Handler {
	mux := http.NewServeMux()
	for _, o := range s.Gate.Table().All() {
		if o.Path == "" || o.Class == op.ClassStream {
			continue
		}
		h := s.operation(o)
		mux.Handle(o.Method+" "+o.Path, h)
		for _, a := range o.Aliases {
			if a.Path != "" {
				mux.Handle(a.Method+" "+a.Path, h)
			}
		}
	}
	mux.HandleFunc("POST /op/{operation}", s.byName)
	mux.HandleFunc("GET /event", s.events)
	mux.HandleFunc("GET /tlog/{path...}", s.tile)
	mux.HandleFunc("GET /openapi.json", s.description)
	for pattern, h := range s.Mounts {
		mux.Handle(pattern, h)
	}
	return s.around(mux, auth, hosts)
}

func (s *Server) description(w http.ResponseWriter, r *http.Request) {
	if !op.CallerFrom(r.Context()).Known() {
		s.Fail(w, r, unknown("openapi"))
		return
	}
	s.asked.Do(func() { s.doc, s.docErr = s.openAPI() })
	if s.docErr != nil {
		s.Fail(w, r, s.docErr)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(s.doc)
}

// around is what every request of a listener goes through.
func (s *Server) around(mux *http.ServeMux, auth Authenticator, hosts func(*http.Request) bool) http.Handler {
	cross := http.NewCrossOriginProtection()
	alive := s.marked(func(o *op.Op) bool { return o.Alive }, true)
	public := s.marked(func(o *op.Op) bool { return o.Public }, false) // there a wrong credential does not matter
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request := id.New("req")
		h := w.Header()
		h.Set("Tandem-Request", request)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		defer func() {
			if p := recover(); p != nil && p != http.ErrAbortHandler {
				s.Log.Error("panic", "request", request, "path", r.Pattern, "panic", p, "stack", string(debug.Stack()))
				s.Fail(w, r, errors.New("panic"))
			}
		}()
		if hosts != nil && !hosts(r) {
			s.Fail(w, r, fault.New(fault.Denied, "http", "this server does not answer to the name %q", clip(r.Host)).With("reason", "name").
				WithNext("use http://tandem.localhost or 127.0.0.1 with the port that is shown by: tandem status; or add what stands before it: "+
					"--hosts NAME or NAME:PORT"))
			return
		}
		if err := cross.Check(r); err != nil {
			s.Fail(w, r, fault.New(fault.Denied, "http", "a page of another origin sent this request: %w", err))
			return
		}
		_, pattern := mux.Handler(r)
		r.Body = http.MaxBytesReader(w, r.Body, max(MaxBody, s.Bodies[pattern]))
		began := time.Now()
		if s.Refuse != nil {
			if err := s.Refuse(r); err != nil {
				s.refuseStranger(w, r, err)
				return
			}
		}
		caller, err := asks(auth, r, alive[pattern])
		if err != nil && !public[pattern] {
			if err = s.Gate.Explain(err); hosts != nil { // over a socket it is somebody of this machine
				err = untold(err)
			}
			s.refuseStranger(w, r, err)
			return
		}
		if caller.Known() {
			caller.Since = began
			if caller.Request == "" {
				caller.Request = request
			}
			if caller.Idempotency = r.Header.Get("Idempotency-Key"); len(caller.Idempotency) > op.MaxKey {
				s.Fail(w, r, fault.New(fault.Invalid, "http", "an idempotency key has at most %d characters", op.MaxKey))
				return
			}
		}
		if !caller.Known() && pattern != "" && s.Stranger != nil {
			if err := s.Stranger(pattern); err != nil {
				s.refuseStranger(w, r, err)
				return
			}
		}
		ctx := op.WithCaller(r.Context(), caller)
		if pattern == "" {
			if !caller.Known() {
				s.refuseStranger(w, r, unknown("http"))
				return
			}
			s.Fail(w, r, missing(mux, r))
			return
		}
		mux.ServeHTTP(w, r.WithContext(ctx))
	})
}

// asks says who sends a request. Where the answer does not wait for the database, finding that out does not either.
func asks(auth Authenticator, r *http.Request, alive bool) (op.Caller, error) {
	if !alive {
		return auth(r)
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Second)
	defer cancel()
	return auth(r.WithContext(ctx))
}

// marked are the routes of the operations that a mark is on.
func (s *Server) marked(mark func(*op.Op) bool, aliases bool) map[string]bool {
	out := map[string]bool{}
	for _, o := range s.Gate.Table().All() {
		if !mark(o) {
			continue
		}
		out[o.Method+" "+o.Path] = true
		for _, a := range o.Aliases {
			if aliases {
				out[a.Method+" "+a.Path] = true
			}
		}
	}
	return out
}

// missing tells a wrong method from a wrong path.
func missing(mux *http.ServeMux, r *http.Request) error {
	var other []string
	for _, m := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		probe := r.Clone(r.Context())
		probe.Method = m
		if _, p := mux.Handler(probe); p != "" {
			other = append(other, m)
		}
	}
	if len(other) > 0 {
		return fault.New(fault.Invalid, "http", "%s does not work on %s", r.Method, clip(r.URL.Path)).With("status", "405").WithNext("use %s",
			strings.Join(other, ", "))
	}
	return fault.New(fault.NotFound, "http", "there is nothing at %s", clip(r.URL.Path)).WithNext("see /openapi.json for what there is")
}

func (s *Server) refuseStranger(w http.ResponseWriter, r *http.Request, err error) {
	source, _, splitErr := net.SplitHostPort(r.RemoteAddr)
	if splitErr != nil {
		source = "local"
	}
	s.Gate.Strangers.Add(source, s.Now())
	s.Fail(w, r, err)
}

// untold keeps from somebody whom nobody knows yet where the database is that would tell.
func untold(err error) error {
	if !fault.Is(err, fault.Unavailable) {
		return err
	}
	return fault.New(fault.Unavailable, "http", "the server cannot find out who you are just now").
		WithNext("try again in a moment; on the server its log says why: tandem logs --level error")
}

func unknown(where string) error {
	return fault.New(fault.Unauthenticated, where, "tandem does not know you").
		WithNext("send a token: Authorization: Bearer …; show yours with: tandem token show api")
}

func clip(s string) string { return fault.Clip(s, 200) }
