package daemon

import (
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
)

// looksByPost are the reads that are no GET, each with its reason.
var looksByPost = map[string]string{
	"automation.rehearse": "its input may be a definition, too long for an address",
	"automation.review":   "its input may be a definition, too long for an address",

	"audit.anchor":    "signs what is there; keeping the signature changes no record",
	"audit.verify":    "its input is a checkpoint, too long for an address; keeping how far it came changes no record",
	"policy.explain":  "its input is a case, too long for an address",
	"pack.preview":    "its input is a pack, too long for an address",
	"policy.test":     "its input is a list of cases",
	"policy.why_not":  "its input is a case, too long for an address",
	"repo.check":      "its input is a list of objects",
	"space.guard":     "its input is a list of files, too long for an address",
	"space.piece_get": "its input is a proof, which no log of addresses should hold",
	"space.pull":      "its input is a proof, which no log of addresses should hold",
	"space.moved":     "its input is a proof, which no log of addresses should hold",
	"space.wait":      "it waits, and its input is a list of places",
}

// A read is a GET, or says why not: what acts behind a POST was once declared a read, and everybody believed it.
func TestNoReadActsBehindAPost(t *testing.T) {
	d, _ := walked(t)
	for _, o := range d.gate.Table().All() {
		if o.Class != op.ClassRead || o.Method == "" || o.Method == "GET" {
			continue
		}
		if looksByPost[o.Name] == "" {
			t.Errorf("%s is a read behind %s without a reason", o.Name, o.Method)
		}
		delete(looksByPost, o.Name)
	}
	for name := range looksByPost {
		t.Errorf("%s has a reason and needs none", name)
	}
	for _, name := range []string{"session.send", "session.interrupt", "session.hook", "relay.do", "space.remote", "space.knock",
		"space.knock_next", "space.knock_reply",
		"tool.tandem", "tool.todo", "server.stop", "server.invite"} {
		if o := d.gate.Table().Get(name); o == nil || !o.Changes() {
			t.Errorf("%s does not say that it changes anything", name)
		}
	}
}

// Whoever may only look is refused everything else, by every way there is: the operation itself, one that passes on to it,
// and a read whose handler would call it.
func TestWhoMayOnlyLookChangesNothing(t *testing.T) {
	d, _ := walked(t)
	before := dump(t, d, identity.LocalTenant)
	ctx := op.Looking(owner(t, d))
	n := 0
	for _, o := range d.gate.Table().All() {
		if !o.Changes() {
			continue
		}
		n++
		if _, err := d.gate.Invoke(ctx, o.Name, acceptable(filled(o, named))); !fault.Is(err, fault.Denied) && !fault.Is(err, fault.Invalid) {
			t.Errorf("%s passes where one may only look: %v", o.Name, err)
		}
	}
	if n < 100 {
		t.Fatalf("only %d operations change anything", n)
	}
	if after := dump(t, d, identity.LocalTenant); after != before {
		t.Errorf("something changed:\n%s", difference(before, after))
	}
	inside := op.Inside(owner(t, d), d.gate.Table().Get("resource.get"))
	if _, err := d.gate.Invoke(inside, "resource.put", map[string]any{"key": "k", "value": 1}); !fault.Is(err, fault.Denied) {
		t.Errorf("a read calls what changes: %v", err)
	}
	if _, err := d.gate.Invoke(inside, "resource.list", map[string]any{}); err != nil {
		t.Errorf("a read calls no read: %v", err)
	}
}

// What a program is told over MCP follows from the class.
func TestHintsFollowTheClass(t *testing.T) {
	d, url := walked(t)
	tools := 0
	c := mcp.NewClient(&mcp.Implementation{Name: "walker", Version: "1"}, nil)
	session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url + "/mcp", MaxRetries: -1,
		HTTPClient: &http.Client{Transport: bearerTransport(walkConnector)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		o := d.gate.Table().Tool(tool.Name)
		if a := tool.Annotations; a == nil || a.ReadOnlyHint == o.Changes() || a.IdempotentHint == o.Changes() {
			t.Errorf("%s (%s) has the hints %+v", tool.Name, o.Class, tool.Annotations)
		}
		tools++
	}
	if tools < 20 {
		t.Fatalf("%d tools", tools)
	}
	status, text := send(t, "GET", url+"/openapi.json", nil, map[string]string{"Authorization": "Bearer " + walkAPI})
	if status != 200 || !strings.Contains(text, `"x-tandem-changes"`) {
		t.Errorf("the API is described without saying what changes anything: %d", status)
	}
}
