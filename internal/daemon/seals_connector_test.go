package daemon

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/internal/fault"
)

// A line of SQL gave a connector another address, to which the next call sent its secret, or accepted what it offers.
func TestAConnectorIsWhereItWasAdded(t *testing.T) {
	type in struct{ Text string }
	outside := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		s := mcp.NewServer(&mcp.Implementation{Name: "outside", Version: "1"}, nil)
		mcp.AddTool(s, &mcp.Tool{Name: "say", Description: "says a text"},
			func(context.Context, *mcp.CallToolRequest, in) (*mcp.CallToolResult, any, error) {
				return &mcp.CallToolResult{}, nil, nil
			})
		return s
	}, nil))
	t.Cleanup(outside.Close)
	wards(t, func(w *ward) {
		ctx := t.Context()
		w.present("connector.add", map[string]any{"name": "files", "url": outside.URL}, nil)
		w.present("connector.accept", map[string]any{"name": "files"}, nil)
		call := func() error {
			return w.Call(ctx, "connector.sync", map[string]any{"name": "files"}, nil)
		}
		offered := func() string {
			t.Helper()
			c, err := w.rooms.connector.Load(ctx, "local", "files")
			if err != nil {
				return fault.Public(err).Msg
			}
			return string(c.State)
		}
		if err := call(); err != nil || offered() != "ready" || w.finds() != "" {
			t.Fatalf("added and accepted: %v, %s, %s", err, offered(), w.finds())
		}
		w.again()
		if err := call(); err != nil || offered() != "ready" || w.finds() != "" {
			t.Fatalf("after a start: %v, %s, %s", err, offered(), w.finds())
		}
		w.sql("UPDATE connector SET accepted = 'x'")
		if got := offered(); got != "quarantined" {
			t.Errorf("what nobody accepted is %s", got)
		}
		w.told("that the tools of files were accepted")
		w.sql("UPDATE connector SET url = url || '/elsewhere'")
		if err := call(); !fault.Is(err, fault.Denied) {
			t.Errorf("a row moved it: %v", err)
		}
		w.told("the connector files at " + outside.URL + "/elsewhere")
		w.sql("DELETE FROM connector")
		w.told("vouches for the connector files")
		w.present("connector.remove", map[string]any{"name": "files"}, nil)
		if said := w.finds(); said != "" {
			t.Errorf("after it was removed: %s", said)
		}
	})
}
