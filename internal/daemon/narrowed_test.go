package daemon

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/identity/assertion"
	"tandem/internal/op"
	"tandem/internal/session"
	"tandem/internal/settings"
)

// scoped is a resource_scope of those trees.
func scoped(trees ...string) map[string]any {
	house := func(kind, id string) map[string]any {
		return map[string]any{"organization_id": "acme", "workspace_id": "main", "resource_kind": kind, "resource_id": id}
	}
	var allowed []any
	for _, t := range trees {
		kind, path, _ := strings.Cut(t, ":")
		allowed = append(allowed, house(kind, path))
	}
	return map[string]any{"resource_scope": map[string]any{"root": house("organization", "acme"), "allowed_resources": allowed}}
}

// An assertion with a scope, grants or a data boundary was refused, because it would not have been kept to. It is, by every way: calls,
// lists, tools, and what a session may do that it opened, after a restart, too.
func TestANarrowedAssertionIsKeptTo(t *testing.T) {
	wards(t, func(w *ward) {
		p, ctx := newPlane(t), t.Context()
		w.present("actor.add", map[string]any{"name": "anna", "kind": "person"}, nil)
		w.present("assertion.key_add", map[string]any{"id": "web-1", "public_key": p.public()}, nil)
		w.must(settings.Change(filepath.Join(w.home, ".tandem"), "auth_mode", "hosted_single_tenant"))
		w.again()
		caller := func(changes map[string]any) op.Caller {
			t.Helper()
			c, err := w.identity.Assert(ctx, p.sign("web-1", "anna", changes), op.Caller{}, op.DoorHTTP)
			w.must(err)
			return c
		}
		as := func(c op.Caller) context.Context { return op.WithCaller(ctx, c) }
		put := func(c op.Caller, key string) error {
			_, err := w.gate.Invoke(as(c), "resource.put", map[string]any{"key": key, "value": 1})
			return err
		}
		list := func(c op.Caller) string {
			out, err := w.gate.Invoke(as(c), "resource.list", nil)
			w.must(err)
			return string(encode(t, out))
		}
		anna := caller(nil)
		w.must(put(anna, "team/a"))
		w.must(put(anna, "other/b"))
		grant := map[string]any{"grant_id": "g1", "principal": map[string]any{"kind": "human_user", "id": "anna"}, "effect": "allow",
			"permissions": []string{"read"}, "data_classes": []string{}, "tool_patterns": []string{}, "grant_source": "direct",
			"resource": map[string]any{"organization_id": "acme", "workspace_id": "*", "resource_kind": "tandem_resource", "resource_id": "/team"}}
		for _, c := range []struct {
			name                   string
			changes                map[string]any
			writesTeam, writesElse bool
			sees                   string
		}{
			{"nothing", nil, true, true, "team/a other/b"},
			{"a scope", scoped("tandem_resource:/team"), true, false, "team/a"},
			{"a scope of another kind", scoped("directory:/srv"), false, false, ""},
			{"grants", map[string]any{"grants": []any{grant}}, false, false, "team/a"},
			{"a boundary", map[string]any{"data_boundary": map[string]any{"denied_data_classes": []string{"internal"}}}, false, false, ""},
			{"another boundary", map[string]any{"data_boundary": map[string]any{"denied_data_classes": []string{"credential"}}}, true, true,
				"team/a other/b"},
		} {
			who := caller(c.changes)
			if err := put(who, "team/a"); (err == nil) != c.writesTeam {
				t.Errorf("%s: written within: %v", c.name, err)
			}
			if err := put(who, "other/b"); (err == nil) != c.writesElse {
				t.Errorf("%s: written outside: %v", c.name, err)
			}
			for _, key := range []string{"team/a", "other/b"} {
				if saw := strings.Contains(list(who), key); saw != strings.Contains(c.sees, key) {
					t.Errorf("%s: %s is in the list: %v", c.name, key, saw)
				}
				_, err := w.gate.Invoke(as(who), "resource.get", map[string]any{"key": key})
				if (err == nil) != strings.Contains(c.sees, key) {
					t.Errorf("%s: reads %s: %v", c.name, key, err)
				}
			}
		}

		// What the person may not, no scope gives.
		w.presentIn("grant.add", map[string]any{"principal": "person:anna", "effect": "deny", "resource": "resource:/team/kept",
			"permissions": []string{"view"}})
		if err := put(caller(scoped("tandem_resource:/team")), "team/kept"); err == nil {
			t.Error("a scope gave what the person is denied")
		}

		// A session that such a request opened has its narrowing, and so has one that it prompts while it does.
		all := scoped("tandem_session:/", "tandem_resource:/team")
		opened, err := w.gate.Invoke(as(caller(all)), "session.create", map[string]any{"title": "narrow"})
		w.must(err)
		id := opened.(*session.Session).ID
		reaches := func(when string, c op.Caller) {
			t.Helper()
			for key, may := range map[string]bool{"team/a": true, "other/b": false} {
				if _, err := w.gate.Invoke(as(c), "resource.get", map[string]any{"key": key}); (err == nil) != may {
					t.Errorf("%s: reads %s: %v", when, key, err)
				}
			}
		}
		its := func() op.Caller {
			s, err := w.rooms.session.Get(ctx, "local", id)
			w.must(err)
			return s.Caller()
		}
		reaches("the session", its())
		wide, err := w.gate.Invoke(as(anna), "session.create", map[string]any{"title": "wide"})
		w.must(err)
		reaches("a session that was prompted so", wide.(*session.Session).For(caller(all)))
		agent, err := w.identity.As(ctx, caller(all), "")
		w.must(err)
		reaches("an agent at work for it", agent)
		w.again()
		reaches("the session after a restart", its())
		w.sql("UPDATE assertion_narrowing SET text = replace(text, '/team', '/')")
		w.again()
		if _, err := w.gate.Invoke(as(its()), "resource.get", map[string]any{"key": "team/a"}); err == nil {
			t.Error("with a text that somebody changed, it reads on")
		}
		w.sql("DELETE FROM assertion_narrowing")
		if _, err := w.gate.Invoke(as(its()), "resource.get", map[string]any{"key": "team/a"}); !fault.Is(err, fault.Denied) {
			t.Errorf("without the text: %v", err)
		}

		// What cannot be kept is refused with its reason, and told with it.
		for part, said := range map[assertion.Reason]any{assertion.Scope: map[string]any{"root": "x"},
			assertion.Grants: []any{map[string]any{"effect": "deny"}}, assertion.Boundary: map[string]any{"masked": []string{"internal"}}} {
			_, err := w.identity.Assert(ctx, p.sign("web-1", "anna", map[string]any{string(part): said}), op.Caller{}, op.DoorHTTP)
			if why, ok := err.(*assertion.Rejected); !ok || why.Reason != part || !why.Signed {
				t.Errorf("%s: %v", part, err)
			}
		}
	})
}

// presentIn is present in the modes where the socket names nobody: the PIN does.
func (w *ward) presentIn(name string, in any) {
	w.t.Helper()
	w.must(w.WithPIN("246813").Call(w.t.Context(), name, in, nil))
}

// Whoever is narrowed to what is not there changes nothing, by any operation, as HTTP and MCP call it, and no list shows it anything.
func TestWhoIsNarrowedToNothingChangesNothing(t *testing.T) {
	pin, err := identity.HashPIN("246813579")
	if err != nil {
		t.Fatal(err)
	}
	p := newPlane(t)
	d, base := walkedWith(t, map[string]string{"auth_mode": string(hostedSingleTenant), "pin_hash": pin, "secret_keeper": "file",
		"assertion.public_keys": p.ring("ring-1")})
	nowhere := func() map[string]string {
		return map[string]string{"X-Tandem-Context-Assertion": p.sign("ring-1", identity.Owner, scoped("tandem_resource:/nowhere"))}
	}
	n := 0
	for _, o := range d.gate.Table().All() {
		if !o.Changes() || o.Public || o.Right == "" {
			continue
		}
		n++
		for _, r := range routes(o) {
			status, body := send(t, r[0], base+r[1], encode(t, filled(o, "x1")), nowhere())
			if status < 400 || status >= 500 {
				t.Errorf("%s: %s %s answers %d %.200s", o.Name, r[0], r[1], status, body)
			}
		}
	}
	if n < 100 {
		t.Fatalf("only %d operations change something", n)
	}
	if status, body := send(t, "GET", base+"/actor", nil, nowhere()); strings.Contains(body, identity.Owner) {
		t.Errorf("a list shows it: %d %s", status, body)
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "walker", Version: "1"}, nil)
	session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: base + "/mcp", MaxRetries: -1,
		HTTPClient: &http.Client{Transport: asserting(nowhere)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, tool := range []string{"resource_put", "tandem"} {
		in := map[string]any{"key": "other/x", "value": 1}
		if tool == "tandem" {
			in = map[string]any{"op": "resource.put", "input": in}
		}
		if res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: in}); err == nil && !res.IsError {
			t.Errorf("the tool %s writes: %s", tool, encode(t, res))
		}
	}
	t.Log(fmt.Sprint(n, " operations change something"))
}

type asserting func() map[string]string

func (a asserting) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for k, v := range a() {
		r.Header.Set(k, v)
	}
	return http.DefaultTransport.RoundTrip(r)
}
