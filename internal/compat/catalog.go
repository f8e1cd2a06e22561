package compat

import (
	"fmt"
	"net/http"
	"strings"

	"tandem/internal/fault"
)

// signInRoutes are the clients' routes for signing in to connectors and for what is known of them.
var signInRoutes = map[string]handler{
	"POST /mcp/{name}/auth":              signIn,
	"POST /mcp/{name}/auth/authenticate": signIn,
	"DELETE /mcp/{name}/auth":            signOut,
	"GET /mcp/catalog":                   catalog,
	"GET /mcp/catalog/{slug}/toml":       catalogTOML,
}

// signIn begins a sign-in and says where a person goes for it.
func signIn(q *request) (any, error) {
	var out struct{ URL, State string }
	err := q.call("connector.login", obj{"name": q.PathValue("name")}, &out)
	return obj{"ok": err == nil, "pendingAuth": out.URL != "", "authorizationUrl": out.URL,
		"lastAuthChallenge": obj{"authorization_url": out.URL}, "state": out.State}, err
}

func signOut(q *request) (any, error) {
	err := q.call("connector.logout", obj{"name": q.PathValue("name")}, nil)
	return obj{"ok": err == nil}, err
}

// Callback is the browser's answer, brought by a client that caught it itself.
func (s *Server) Callback(finish func(name, code, state, iss, failure string) error) http.Handler {
	return s.handle(func(q *request) (any, error) {
		field := func(n string) string {
			if q.Method == http.MethodGet {
				return q.URL.Query().Get(n)
			}
			v, _ := q.text(n) // what is not a text is none
			return v
		}
		err := finish(q.PathValue("name"), field("code"), field("state"), field("iss"), field("error"))
		return obj{"ok": err == nil}, err
	})
}

// catalog lists the connectors that this server knows.
func catalog(q *request) (any, error) {
	all, err := q.connectors()
	out := []any{}
	for _, c := range all {
		out = append(out, obj{"slug": c.Name, "name": c.Name, "transport_url": c.URL, "tool_count": len(c.Tools), "tools": c.tools()})
	}
	return obj{"servers": out, "count": len(out)}, err
}

// catalogTOML is one of them as a configuration to keep or to hand on, without its secret.
func catalogTOML(q *request) (any, error) {
	all, err := q.connectors()
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		if c.Name != q.PathValue("slug") {
			continue
		}
		var b strings.Builder
		fmt.Fprintf(&b, "name = %q\nslug = %q\n", c.Name, c.Name)
		if c.URL != "" {
			fmt.Fprintf(&b, "transport = \"http\"\nurl = %q\n", c.URL)
		} else {
			fmt.Fprintf(&b, "transport = \"stdio\"\ncommand = [%s]\n", quoted(c.Command))
		}
		if len(c.Allow) > 0 {
			fmt.Fprintf(&b, "allowed_tools = [%s]\n", quoted(c.Allow))
		}
		var names []string
		for _, t := range c.Tools {
			names = append(names, t.Name)
		}
		fmt.Fprintf(&b, "tools = [%s]\n", quoted(names))
		q.w.Header().Set("Content-Type", "application/toml; charset=utf-8")
		_, _ = q.w.Write([]byte(b.String())) // the client may be gone
		return nil, nil
	}
	return nil, fault.New(fault.NotFound, "mcp.catalog", "there is no connector %.60s", q.PathValue("slug"))
}

// quoted writes a list of strings as TOML reads it; its basic strings are those of JSON and Go for what names hold.
func quoted(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = fmt.Sprintf("%q", s)
	}
	return strings.Join(out, ", ")
}
