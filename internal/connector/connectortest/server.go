// Package connectortest is an outside MCP server for tests that wants a sign-in, with the authorization server that gives it, on one
// origin of loopback: discovery, registration, PKCE, codes that work once, tokens that run out, refresh tokens that rotate.
package connectortest

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Server is the pair of them.
type Server struct {
	URL string // of the MCP server

	mu        sync.Mutex
	base      string
	clients   map[string]string // id → redirect
	codes     map[string]string // code → challenge
	access    string            // the token that is taken
	refresh   string            // the one that renews
	renewals  int
	short     bool // tokens run out at once
	revoked   bool // nothing renews any more
	resources []string
	calls     int
}

type sayIn struct {
	Text string `json:"text"`
}

// Start serves until close is called.
func Start() (g *Server, close func()) {
	g = &Server{clients: map[string]string{}, codes: map[string]string{}}
	tools := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		s := mcp.NewServer(&mcp.Implementation{Name: "outside", Version: "1"}, nil)
		mcp.AddTool(s, &mcp.Tool{Name: "say", Description: "says a text"},
			func(_ context.Context, _ *mcp.CallToolRequest, in sayIn) (*mcp.CallToolResult, any, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "said " + in.Text}}}, nil, nil
			})
		return s
	}, &mcp.StreamableHTTPOptions{Stateless: true})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		say(w, 200, map[string]any{"resource": g.URL, "authorization_servers": []string{g.base}, "scopes_supported": []string{"mail.send"}})
	})
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		say(w, 200, map[string]any{"issuer": g.base, "authorization_endpoint": g.base + "/authorize", "token_endpoint": g.base + "/token",
			"registration_endpoint":    g.base + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
			"scopes_supported": []string{"mail.send", "offline_access"}})
	})
	mux.HandleFunc("POST /register", g.register)
	mux.HandleFunc("GET /authorize", g.authorize)
	mux.HandleFunc("POST /token", g.token)
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		ok := g.access != "" && r.Header.Get("Authorization") == "Bearer "+g.access
		g.mu.Unlock()
		if !ok {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+g.base+`/.well-known/oauth-protected-resource/mcp"`)
			http.Error(w, "sign in first; you sent "+r.Header.Get("Authorization"), http.StatusUnauthorized)
			return
		}
		tools.ServeHTTP(w, r)
	})
	srv := httptest.NewServer(mux)
	g.base, g.URL = srv.URL, srv.URL+"/mcp"
	return g, srv.Close
}

func say(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the test will miss it
}

func refuse(w http.ResponseWriter, why string) {
	say(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant", "error_description": why})
}

func (g *Server) register(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Redirects []string `json:"redirect_uris"`
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil || len(in.Redirects) == 0 {
		refuse(w, "no redirect")
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	id := fmt.Sprintf("client-%d", len(g.clients)+1)
	g.clients[id] = in.Redirects[0]
	say(w, http.StatusCreated, map[string]any{"client_id": id, "redirect_uris": in.Redirects, "token_endpoint_auth_method": "none"})
}

// authorize is where the person agrees: the browser is sent back with a code. What is not as the standards want it is refused.
func (g *Server) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	g.mu.Lock()
	defer g.mu.Unlock()
	if q.Get("code_challenge_method") != "S256" || q.Get("state") == "" || g.clients[q.Get("client_id")] != q.Get("redirect_uri") ||
		!slices.Contains(strings.Fields(q.Get("scope")), "mail.send") || !slices.Contains(strings.Fields(q.Get("scope")), "offline_access") {
		refuse(w, "this is no proper request: "+r.URL.RawQuery)
		return
	}
	code := fmt.Sprintf("code-%d", len(g.resources)+len(g.codes)+1)
	g.codes[code] = q.Get("code_challenge")
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
}

func (g *Server) token(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch r.FormValue("grant_type") {
	case "authorization_code":
		challenge, ok := g.codes[r.FormValue("code")]
		delete(g.codes, r.FormValue("code"))
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		if !ok || base64.RawURLEncoding.EncodeToString(sum[:]) != challenge || g.clients[r.FormValue("client_id")] == "" {
			refuse(w, "the code or its proof is wrong")
			return
		}
		g.resources = append(g.resources, r.FormValue("resource"))
	case "refresh_token":
		if g.revoked || r.FormValue("refresh_token") != g.refresh {
			refuse(w, "the refresh token is not taken")
			return
		}
		g.renewals++
	default:
		refuse(w, "what for?")
		return
	}
	g.calls++
	g.access, g.refresh = fmt.Sprintf("access-token-%d", g.calls), fmt.Sprintf("refresh-token-%d", g.calls)
	life := 3600
	if g.short {
		life = 1
	}
	say(w, 200, map[string]any{"access_token": g.access, "token_type": "Bearer", "refresh_token": g.refresh, "expires_in": life})
}

// Agree is the person in a browser that does not follow: it answers where the authorization server would send it.
func Agree(address string) (*url.URL, error) {
	stay := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := stay.Get(address)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return resp.Location()
}

// Forget makes the server refuse the token it gave; short says that the next ones run out at once.
func (g *Server) Forget(short bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.access, g.short = "", short
}

// Revoke says whether refresh tokens are refused.
func (g *Server) Revoke(on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.revoked = on
}

// Renewals counts how often a token was renewed, and Resources lists what tokens were asked for.
func (g *Server) Renewals() (n int, resources []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.renewals, append([]string(nil), g.resources...)
}
