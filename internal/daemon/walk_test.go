package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/internal/client"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/policy"
	"tandem/internal/settings"
	"tandem/internal/testenv"
)

const (
	walkAPI       = "tdm_walk_api_token_0123456789"
	walkConnector = "tdm_walk_connector_0123456789"
)

// walked starts a daemon in this process, with its real doors.
func walked(t *testing.T) (*Daemon, string) { t.Helper(); return walkedWith(t, nil) }

// walkedWith is walked with further settings.
func walkedWith(t *testing.T, more map[string]string) (*Daemon, string) {
	t.Helper()
	flags := map[string]string{"data": testenv.Dir(t) + "/data", "listen": "127.0.0.1:0", "api_token": walkAPI,
		"connector_token": walkConnector}
	maps.Copy(flags, more)
	s, err := settings.Load(flags, nil)
	if err != nil {
		t.Fatal(err)
	}
	ready, ended := make(chan struct{}), make(chan error, 1)
	d := &Daemon{Settings: s, Version: "test", Ready: func(*Daemon) { close(ready) }}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { ended <- d.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the daemon ended: %v", err)
		}
	})
	select {
	case <-ready:
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
	}
	return d, "http://" + d.listens[0]
}

var wildcardForm = regexp.MustCompile(`\{[^}]*\}`)

// routes are all ways to call an operation over HTTP.
func routes(o *op.Op) [][2]string {
	var all [][2]string
	add := func(method, path string) {
		if path != "" {
			all = append(all, [2]string{method, wildcardForm.ReplaceAllString(path, "x1")})
		}
	}
	add(o.Method, o.Path)
	for _, a := range o.Aliases {
		add(a.Method, a.Path)
	}
	return append(all, [2]string{"POST", "/op/" + o.Name})
}

func send(t *testing.T, method, url string, body []byte, header map[string]string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for k, v := range header {
		req.Header.Set(k, v)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return resp.StatusCode, "(a stream)"
	}
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	return resp.StatusCode, string(data)
}

// filled is an input that fits an operation's types: s in every string.
func filled(o *op.Op, s string) map[string]any {
	in := map[string]any{}
	for _, f := range o.Fields() {
		typ := f.Type
		for typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		switch typ.Kind() {
		case reflect.String:
			in[f.Name] = s
		case reflect.Int, reflect.Int32, reflect.Int64, reflect.Float64:
			if f.Required {
				in[f.Name] = 1
			}
		case reflect.Slice:
			if f.Required && typ.Elem().Kind() == reflect.String {
				in[f.Name] = []string{s}
			} else if f.Required {
				in[f.Name] = []any{}
			}
			if typ == reflect.TypeFor[json.RawMessage]() {
				in[f.Name] = s
			}
		case reflect.Bool:
			if f.Required {
				in[f.Name] = true
			}
		case reflect.Map, reflect.Struct:
			if typ == reflect.TypeFor[time.Time]() {
				in[f.Name] = "2020-01-02T03:04:05Z"
			} else if f.Required {
				in[f.Name] = map[string]any{}
			}
		}
	}
	return in
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A stranger is refused everywhere: no credential, a wrong one, a PIN over the
// network, on every route of every operation.
func TestStrangerIsRefusedEverywhere(t *testing.T) {
	onDatabases(t, func(t *testing.T, at func() map[string]string, mine func(i int) bool) {
		d, base := walkedWith(t, at())
		strangers := map[string]map[string]string{
			"nothing":        {},
			"a wrong token":  {"Authorization": "Bearer tdm_nobody_has_this_token"},
			"a wrong cookie": {"Cookie": CookieName + "=tdc_nobody_has_this_cookie"},
			"a PIN":          {"Tandem-Pin": "123456"},
		}
		n := 0
		for i, o := range d.gate.Table().All() {
			if !mine(i) {
				continue
			}
			for _, r := range routes(o) {
				for who, header := range strangers {
					status, body := send(t, r[0], base+r[1], encode(t, filled(o, "x1")), header)
					n++
					switch {
					case o.Public && r[0] == "GET" && who == "nothing":
						if status != http.StatusOK {
							t.Errorf("%s is public, but %s %s answers %d", o.Name, r[0], r[1], status)
						}
					case o.Public: // its answer tells nothing
					case status != http.StatusUnauthorized && status != http.StatusForbidden:
						t.Errorf("%s %s (%s) answers a stranger with %s: %d %s", r[0], r[1], o.Name, who, status, body)
					}
				}
			}
		}
		for _, r := range []string{"GET /openapi.json", "POST /mcp", "GET /mcp", "GET /event", "GET /nothing/here", "POST /op/no.such"} {
			method, path, _ := strings.Cut(r, " ")
			if status, body := send(t, method, base+path, []byte("{}"), nil); status != http.StatusUnauthorized {
				t.Errorf("%s answers a stranger: %d %s", r, status, body)
			}
		}
		t.Logf("%d refusals on %d operations", n, len(d.gate.Table().All()))
	})
}

// authority reports whether only a present person may do it.
func authority(t *testing.T, o *op.Op) bool {
	t.Helper()
	if o.Public {
		return false
	}
	r, err := policy.ParseRight(o.Right)
	if err != nil {
		t.Fatal(err)
	}
	return o.Present || o.People || r.Presence
}

// Our own client knows what needs a person, and asks for the PIN before it calls.
func TestTheClientKnowsWhatNeedsAPerson(t *testing.T) {
	d, _ := walked(t)
	for _, o := range d.gate.Table().All() {
		if known := client.NeedsPresence(o.Name); known != authority(t, o) {
			t.Errorf("%s: the client thinks that it needs a person: %t", o.Name, known)
		}
	}
}

// No agent, session, service, connector, local program or MCP caller decides,
// grants, mints or exports, by any route or tool.
func TestNoAgentDecides(t *testing.T) {
	onDatabases(t, func(t *testing.T, at func() map[string]string, mine func(i int) bool) {
		d, base := walkedWith(t, at())
		tokens := map[string]string{"the API's token": walkAPI, "the connector's token": walkConnector,
			"an agent": mint(t, d, op.Agent, "walker"), "a service": mint(t, d, op.Service, "cron"),
			"a person without presence": mint(t, d, op.Person, "ann")}
		socket := client.Socket(SocketPath(d.data, ""))
		n := 0
		for i, o := range d.gate.Table().All() {
			if !authority(t, o) || !mine(i) {
				continue
			}
			n++
			in := filled(o, "x1")
			for who, token := range tokens {
				for _, r := range routes(o) {
					status, body := send(t, r[0], base+r[1], encode(t, in), map[string]string{"Authorization": "Bearer " + token})
					numbered := status == 400 && strings.Contains(r[1], "x1") // the path wants a number
					if status != 403 && status != 404 && !numbered {
						t.Errorf("%s with %s: %s %s answers %d %s", o.Name, who, r[0], r[1], status, body)
					}
				}
			}
			if err := socket.Call(t.Context(), o.Name, in, nil); err == nil {
				t.Errorf("%s is done for whoever speaks on the control socket", o.Name)
			}
		}
		if n == 0 {
			t.Fatal("no operation needs a person: this shows nothing")
		}
		for who, token := range tokens {
			mcpWalk(t, d, base, who, token, mine)
		}
		t.Logf("%d operations need a person", n)
	})
}

// mcpWalk calls every tool there is, listed or not, as an MCP client.
func mcpWalk(t *testing.T, d *Daemon, base, who, token string, mine func(i int) bool) {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "walker", Version: "1"}, nil)
	session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: base + "/mcp", MaxRetries: -1,
		HTTPClient: &http.Client{Transport: bearerTransport(token), Timeout: 20 * time.Second}}, nil)
	if err != nil {
		t.Fatalf("MCP with %s: %v", who, err)
	}
	defer session.Close()
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		o := d.gate.Table().Tool(tool.Name)
		if o == nil || authority(t, o) {
			t.Errorf("MCP shows %s the tool %s", who, tool.Name)
		}
	}
	for i, o := range d.gate.Table().All() {
		if !authority(t, o) || !mine(i) {
			continue
		}
		for _, name := range []string{o.Name, strings.ReplaceAll(o.Name, ".", "_"), o.ToolName()} {
			if name == "" {
				continue
			}
			res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: filled(o, "x1")})
			if err == nil && !res.IsError {
				t.Errorf("MCP does %s for %s: %s", name, who, encode(t, res))
			}
		}
	}
}

type bearerTransport string

func (b bearerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// owner is the context of a person who is present.
func owner(t *testing.T, d *Daemon) context.Context {
	t.Helper()
	c, err := d.identity.Caller(t.Context(), identity.LocalTenant, identity.Owner, op.DoorSocket)
	if err != nil {
		t.Fatal(err)
	}
	c.Present = "pin"
	return op.WithCaller(t.Context(), c)
}

// mint makes an actor and a token for it, as a present person would.
func mint(t *testing.T, d *Daemon, kind op.Kind, name string) string {
	t.Helper()
	if _, err := d.gate.Invoke(owner(t, d), "actor.add", identity.AddIn{Name: name, Kind: kind}); err != nil {
		t.Fatal(err)
	}
	out, err := d.gate.Invoke(owner(t, d), "token.new", identity.MintIn{Actor: name})
	if err != nil {
		t.Fatal(fmt.Errorf("mint for %s: %w", name, err))
	}
	return out.(identity.MintOut).Secret
}
