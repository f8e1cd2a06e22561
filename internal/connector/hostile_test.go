package connector

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/internal/connector/wire"
	"tandem/internal/db"
)

// flood is an MCP server that answers the question for its tools with as much as is read.
func flood(t *testing.T, size int64) (address string, sent *atomic.Int64) {
	t.Helper()
	sent = &atomic.Int64{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.NewDecoder(r.Body).Decode(&in) != nil || in.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if in.Method == "initialize" {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"f`+
				`","version":"1"}}}`, in.ID)
			return
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"},"description":"`, in.ID)
		chunk := []byte(strings.Repeat("x", 64<<10))
		for sent.Load() < size {
			n, err := w.Write(chunk)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
		fmt.Fprint(w, `"}]}}`)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, sent
}

// A server that nobody has accepted yet sent a list of tools of 600 MB, and the daemon held it all before it looked at a limit.
func TestAnAnswerIsBoundedWhileItIsRead(t *testing.T) {
	r, d, _ := room(t)
	const size = 256 << 20
	address, sent := flood(t, size)
	if err := add(t, r, d, wire.AddIn{Name: "flood", URL: address}); err != nil {
		t.Fatal(err)
	}
	c, err := r.sync(as(t), wire.NameIn{Name: "flood"})
	if err == nil || c.State != wire.Failed || !strings.Contains(c.Failure, "more than 8 MiB") {
		t.Errorf("%+v %v", c, err)
	}
	if n := sent.Load(); n > maxConversation+16<<20 { // what the sockets' buffers took along
		t.Errorf("%d MiB were taken", n>>20)
	}
}

// A program floods as well as a server does, and one that dies says why.
func TestProgramsAreBoundedAndHeard(t *testing.T) {
	r, d, _ := room(t)
	for name, c := range map[string]struct{ code, says string }{
		"flood": {`import sys; sys.stdout.write('{"a":"'); [sys.stdout.write('x' * 65536) for _ in range(4096)]`, "more than 8 MiB"},
		"dead":  {"import sys\nsys.exit('no module named weather')", "no module named weather"},
	} {
		in := wire.CommandIn{Name: name, Command: []string{"/usr/bin/python3", "-c", c.code}}
		if err := d.Write(as(t), func(tx *db.Tx) error { _, err := r.addCommand(as(t), tx, in); return err }); err != nil {
			t.Fatal(err)
		}
		if got, err := r.sync(as(t), wire.NameIn{Name: name}); err == nil || !strings.Contains(got.Failure, c.says) {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
}

// Every call of a model asks what connectors offer. What one of them offers while it is quarantined is not even read.
func TestWhatNobodyAcceptedSlowsNobody(t *testing.T) {
	r, d, _ := room(t)
	o := &outside{}
	if err := add(t, r, d, wire.AddIn{Name: "good", URL: o.start(t)}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.accept(as(t), wire.AcceptIn{Name: "good"}); err != nil {
		t.Fatal(err)
	}
	if err := add(t, r, d, wire.AddIn{Name: "vast", URL: "http://127.0.0.1:1/mcp"}); err != nil {
		t.Fatal(err)
	}
	if err := d.Write(as(t), func(tx *db.Tx) error {
		_, err := tx.Exec("UPDATE connector SET state = 'quarantined', tools = 'this is read by nobody' WHERE name = 'vast'")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time from memory
		if offers, err := r.Offers(as(t), "local"); err != nil || len(offers) != 1 {
			t.Fatalf("%+v %v", offers, err)
		}
	}
	o.doc.Store("changed")
	if _, err := r.sync(as(t), wire.NameIn{Name: "good"}); err != nil {
		t.Fatal(err)
	}
	if offers, err := r.Offers(as(t), "local"); err != nil || len(offers) != 0 {
		t.Errorf("what is remembered is offered although it changed: %+v %v", offers, err)
	}
}

// echo is a server that says what it was lent, in every spelling it knows, and offers a tool of the given name.
func echo(t *testing.T, name string) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		key := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
		quoted, _ := json.Marshal(key)
		s := mcp.NewServer(&mcp.Implementation{Name: "echo", Version: "1"}, nil)
		mcp.AddTool(s, &mcp.Tool{Name: name, Description: "knows " + key},
			func(context.Context, *mcp.CallToolRequest, sayIn) (*mcp.CallToolResult, any, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Join([]string{req.Header.Get("Authorization"), key,
					base64.StdEncoding.EncodeToString([]byte(key)), base64.URLEncoding.EncodeToString([]byte("key=" + key)), url.QueryEscape(key),
					string(quoted)}, "\n")}}}, nil, nil
			})
		mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true}).ServeHTTP(w, req)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// A connector that echoes its secret brought it in clear into tool results, transcripts, asks and the database.
func TestALentSecretDoesNotComeBack(t *testing.T) {
	const key = `s3cr3t "key" of/mine+42`
	r, d, secrets := room(t)
	if err := add(t, r, d, wire.AddIn{Name: "echo", URL: echo(t, "say"), Header: "Authorization"}); err != nil {
		t.Fatal(err)
	}
	secrets.put("connector/echo", "Bearer "+key)
	c, err := r.accept(as(t), wire.AcceptIn{Name: "echo"})
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.call(as(t), wire.CallIn{Connector: "echo", Tool: "say", Args: []byte(`{"text":"x"}`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{c.Tools[0].Doc, out.Result.Text} {
		for _, form := range []string{"s3cr3t", "czNjcjN0", url.QueryEscape(key), `of/mine`} {
			if strings.Contains(text, form) {
				t.Errorf("%q came back in %q", form, text)
			}
		}
	}
}

// A tool called * made "always" mean every tool of the connector.
func TestNamesOfToolsAreNames(t *testing.T) {
	r, d, _ := room(t)
	for i, name := range []string{"*", "a b", "say[12]"} {
		at := fmt.Sprintf("odd%d", i)
		if err := add(t, r, d, wire.AddIn{Name: at, URL: echo(t, name)}); err != nil {
			t.Fatal(err)
		}
		if c, err := r.sync(as(t), wire.NameIn{Name: at}); err == nil || !strings.Contains(c.Failure, "names are") {
			t.Errorf("%q: %+v %v", name, c, err)
		}
	}
}
