package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/internal/gate"
	"tandem/internal/httpapi"
	"tandem/internal/identity"
	"tandem/internal/op"
)

// Names that the first tenant's people use, and what they write into fields
// that are not names. The second tenant knows the names, never the words.
const (
	named  = "first-tenants-own"
	hidden = "only the first tenant knows this"
)

// Another tenant's ids are not found anywhere. The first tenant fills its rooms
// by calling every state operation; then the second tenant's owner, present and
// with every right, calls every operation with every id the first one has. No
// answer may hold anything of the first tenant's, and none of its rows change.
func TestAnotherTenantsIdsAreNotFound(t *testing.T) {
	onDatabases(t, func(t *testing.T, at func() map[string]string, mine func(i int) bool) {
		d, _ := walkedWith(t, at())
		first, second := twoTenants(t, d)
		g := d.gate
		for _, o := range g.Table().All() {
			if o.Class == op.ClassState {
				call(g, first, o, acceptable(filled(o, named))) // whatever it accepts is there to be found
				call(g, first, o, acceptable(filled(o, named+"/deep")))
			}
		}
		if out := call(g, second, g.Table().Get("resource.put"), map[string]any{"key": "seconds-own", "value": 1}); !strings.Contains(out,
			`"rev":1`) {
			t.Fatalf("the second tenant's owner may do nothing, so this would show nothing: %s", out)
		}
		ids := harvest(t, d)
		before := dump(t, d, identity.LocalTenant)
		if len(ids) < 4 || !strings.Contains(before, hidden) {
			t.Fatalf("the first tenant has only %q:\n%s", ids, before)
		}
		web := &httpapi.Server{Gate: g, Journal: d.journal, Log: d.Log, Now: time.Now}
		srv := httptest.NewServer(web.Handler(func(*http.Request) (op.Caller, error) { return second, nil }, nil))
		defer srv.Close()
		n := 0
		for i, o := range g.Table().All() {
			if o.Class == op.ClassStream || o.Public || !mine(i) {
				continue
			}
			for _, id := range ids {
				status, body := send(t, "POST", srv.URL+"/op/"+o.Name, encode(t, filled(o, id)), nil)
				n++
				if leaks(body) {
					t.Errorf("%s with %s shows the second tenant what the first has: %d %s", o.Name, id, status, body)
				}
				if out := call(g, mcpCaller(second), o, filled(o, id)); leaks(out) {
					t.Errorf("the tool %s with %s shows the second tenant what the first has: %s", o.ToolName(), id, out)
				}
			}
		}
		own := fmt.Sprintf(`"tenant":%q`, second.Tenant)
		if stream := events(t, srv.URL, own); leaks(stream) || !strings.Contains(stream, own) {
			t.Errorf("the second tenant's events:\n%s", stream)
		}
		if after := dump(t, d, identity.LocalTenant); after != before {
			t.Errorf("the second tenant changed the first one's rows:\n%s", difference(before, after))
		}
		t.Logf("%d calls with %d ids of the first tenant", n, len(ids))
	})
}

// acceptable puts words that rooms accept where not every word will do, so
// that the first tenant has more to hide. A room with such a field adds it.
func acceptable(in map[string]any) map[string]any {
	words := map[string]string{"kind": "agent", "for": "", "value": hidden, "label": hidden, "title": hidden, "text": hidden, "body": hidden,
		"note":      hidden,
		"directory": "", "model": "local/echo-1", "mode": "", "parent": "", "base": "http://127.0.0.1:1/v1", "wire": "chat"}
	for field, word := range words {
		if _, ok := in[field]; ok {
			in[field] = word
		}
	}
	delete(in, "decide")
	return in
}

// twoTenants adds a tenant and returns the owners of both, present.
func twoTenants(t *testing.T, d *Daemon) (first, second op.Caller) {
	t.Helper()
	first = op.CallerFrom(owner(t, d))
	first.Door, first.Request = op.DoorHTTP, "req_first"
	out, err := d.gate.Invoke(op.WithCaller(t.Context(), first), "tenant.create", identity.TenantIn{Name: "second", Owner: "zoe"})
	if err != nil {
		t.Fatal(err)
	}
	second, err = d.identity.Caller(t.Context(), out.(identity.TenantOut).ID, "zoe", op.DoorHTTP)
	if err != nil {
		t.Fatal(err)
	}
	second.Present, second.Request = "pin", "req_second"
	return first, second
}

func mcpCaller(c op.Caller) op.Caller {
	c.Door, c.Present = op.DoorMCP, ""
	return c
}

// call runs an operation and returns what its caller would see.
func call(g *gate.Gate, c op.Caller, o *op.Op, in map[string]any) string {
	ctx, cancel := context.WithTimeout(op.WithCaller(context.Background(), c), 10*time.Second)
	defer cancel()
	out, err := g.Invoke(ctx, o.Name, in)
	if err != nil {
		return err.Error()
	}
	data, err := json.Marshal(out)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

var idForm = regexp.MustCompile(`\b[a-z]{2,5}_[0-9a-hjkmnp-tv-z]{26}\b`)

// harvest is every id and every key of the first tenant's that its rows hold.
func harvest(t *testing.T, d *Daemon) []string {
	t.Helper()
	found := map[string]bool{named: true, named + "/deep": true}
	for _, id := range idForm.FindAllString(dump(t, d, identity.LocalTenant), -1) {
		if !strings.HasPrefix(id, "req_") {
			found[id] = true
		}
	}
	var ids []string
	for id := range found {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids[:min(len(ids), 40)]
}

// leaks reports whether an answer holds anything of the first tenant's.
func leaks(answer string) bool {
	return strings.Contains(answer, hidden) || strings.Contains(answer, fmt.Sprintf(`"tenant":%q`, identity.LocalTenant))
}

// dump is every row of a tenant, in every table that has tenants.
func dump(t *testing.T, d *Daemon, tenant string) string {
	t.Helper()
	var b strings.Builder
	for _, table := range tables(t, d) {
		rows, err := d.db.Query(t.Context(), "SELECT * FROM "+table+" WHERE tenant = ? ORDER BY 1, 2", tenant)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			values := make([]any, len(columns))
			for i := range values {
				values[i] = new(any)
			}
			if err := rows.Scan(values...); err != nil {
				t.Fatal(err)
			}
			b.WriteString(table)
			for i, v := range values {
				fmt.Fprintf(&b, " %s=%s", columns[i], text(*v.(*any)))
			}
			b.WriteByte('\n')
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func text(v any) string {
	if raw, ok := v.([]byte); ok && json.Valid(raw) {
		return string(raw)
	}
	return fmt.Sprint(v)
}

func tables(t *testing.T, d *Daemon) []string {
	t.Helper()
	all := "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'tenant' ORDER BY m.name"
	if d.db.Name() != "sqlite" {
		all = "SELECT table_name FROM information_schema.columns WHERE column_name = 'tenant' AND table_schema = current_schema() ORDER BY 1"
	}
	rows, err := d.db.Query(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if len(names) < 3 {
		t.Fatalf("only %q have tenants", names)
	}
	return names
}

func difference(before, after string) string {
	had := map[string]bool{}
	for line := range strings.Lines(before) {
		had[line] = true
	}
	var b strings.Builder
	for line := range strings.Lines(after) {
		if !had[line] {
			b.WriteString("+ " + line)
		}
	}
	return b.String()
}

// events is what a stream from the beginning shows until something is in it, and half a second longer.
func events(t *testing.T, base, until string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", base+"/event?since_seq=0", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var all []byte
	buf := make([]byte, 4096)
	for seen := false; ; {
		n, err := resp.Body.Read(buf)
		all = append(all, buf[:n]...)
		if err != nil { // its time is over
			return string(all)
		}
		if !seen && bytes.Contains(all, []byte(until)) {
			seen = true
			defer time.AfterFunc(500*time.Millisecond, cancel).Stop()
		}
	}
}
