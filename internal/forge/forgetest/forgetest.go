// Package forgetest is a stand-in of a forge for tests: the documented routes of Gitea's and of GitHub's REST API on loopback, as far as
// tandem uses them, and a real git repository behind it, served by git itself.
package forgetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"tandem/internal/forge/wire"
)

// Token is what the stand-in lets in.
const Token = "sesame-open-0123456789"

// Repo is the one repository that it has.
const Repo = "acme/app"

// Server is a forge.
type Server struct {
	Kind wire.Kind
	Git  string // the bare repository
	*httptest.Server

	mu       sync.Mutex
	issues   map[int64]*issue
	pulls    map[int64]*pull
	statuses map[string][]object
	last     int64
	clock    time.Time
	Asked    []string // what was asked for, in order
}

type object = map[string]any

type issue struct {
	number            int64
	title, body, by   string
	comments, reviews []object
	lines             map[int64][]object // of reviews
}

type pull struct {
	issue
	head, base string
	state      string
	merged     string
	mergedBy   string
}

// Start makes a forge with an empty repository in dir.
func Start(kind wire.Kind, dir string) (*Server, error) {
	s := &Server{Kind: kind, Git: filepath.Join(dir, Repo+".git"), issues: map[int64]*issue{}, pulls: map[int64]*pull{},
		statuses: map[string][]object{}, clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	if out, err := exec.Command("git", "init", "-q", "--bare", "-b", "main", s.Git).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w", out, err)
	}
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, err
	}
	backend := &cgi.Handler{Path: git, Args: []string{"http-backend"}, Dir: dir,
		Env: []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=tandem", "GIT_CONFIG_NOSYSTEM=1", "HOME=" + dir}}
	mux := http.NewServeMux()
	mux.HandleFunc("/"+Repo+".git/", func(w http.ResponseWriter, r *http.Request) {
		if _, pass, _ := r.BasicAuth(); pass != Token {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		s.note(r)
		body, err := io.ReadAll(r.Body) // git sends pieces, which a CGI program does not take
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
		backend.ServeHTTP(w, r)
	})
	s.routes(mux)
	s.Server = httptest.NewServer(mux)
	return s, nil
}

func (s *Server) note(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Asked = append(s.Asked, r.Method+" "+r.URL.Path)
}

// tick is the next moment: what is said later is newer.
func (s *Server) tick() string {
	s.clock = s.clock.Add(time.Second)
	return s.clock.Format(time.RFC3339)
}

func login(name string) object { return object{"login": name} }

// Issue opens an issue.
func (s *Server) Issue(by, title, body string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.issues[s.last] = &issue{number: s.last, title: title, body: body, by: by}
	return s.last
}

// Comment says something below a pull request.
func (s *Server) Comment(n int64, by, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pulls[n]
	p.comments = append(p.comments, object{"id": n*1000 + int64(len(p.comments)), "body": text, "user": login(by), "created_at": s.tick()})
}

// Review gives a verdict: APPROVED, REQUEST_CHANGES or COMMENT, with a comment on a line where a file is named.
func (s *Server) Review(n int64, by, verdict, text, file string, line int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pulls[n]
	if s.Kind == wire.GitHub {
		verdict = map[string]string{"APPROVED": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}[verdict]
	}
	id := n*1000 + 500 + int64(len(p.reviews))
	p.reviews = append(p.reviews, object{"id": id, "user": login(by), "state": verdict, "body": text, "commit_id": s.tip(p.head),
		"submitted_at": s.tick(), "comments_count": 0})
	if file == "" {
		return
	}
	p.reviews[len(p.reviews)-1]["comments_count"] = 1
	if p.lines == nil {
		p.lines = map[int64][]object{}
	}
	p.lines[id] = append(p.lines[id], object{"id": id + 100, "body": "about this line: " + text, "user": login(by), "path": file,
		"line": line, "position": line, "created_at": s.tick()})
}

// Status says what a service thinks of a pull request's commit: success, failure or pending.
func (s *Server) Status(n int64, name, state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.tip(s.pulls[n].head)
	word := map[wire.Kind]string{wire.Gitea: "status", wire.GitHub: "state"}[s.Kind]
	s.statuses[at] = append(s.statuses[at], object{"context": name, word: state, "target_url": s.URL + "/ci"})
}

// Merge merges a pull request as somebody there.
func (s *Server) Merge(n int64, by string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pulls[n]
	p.merged, p.state, p.mergedBy = s.tip(p.head), "closed", by
	return exec.Command("git", "-C", s.Git, "update-ref", "refs/heads/"+p.base, p.merged).Run()
}

// Title is what a pull request is called, and its text.
func (s *Server) Title(n int64) (string, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pulls[n].title, s.pulls[n].body
}

// Tip is where a branch of the repository stands.
func (s *Server) Tip(branch string) string { return s.tip(branch) }

func (s *Server) tip(branch string) string {
	out, err := exec.Command("git", "-C", s.Git, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) //nolint:errcheck // whoever asked is gone
}
