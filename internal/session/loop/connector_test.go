package loop

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/internal/approval"
	"tandem/internal/connector/wire"
	"tandem/internal/session"
)

type mailIn struct {
	To   string `json:"to"`
	Text string `json:"text"`
}

// The seed's use case with a real outside server: an agent drafts an e-mail, the send waits for a person, rework changes it,
// the approved text and only that is sent, once.
func TestMailIsSentOnceAfterApproval(t *testing.T) {
	var sent atomic.Value
	var count atomic.Int64
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		s := mcp.NewServer(&mcp.Implementation{Name: "mail", Version: "1"}, nil)
		mcp.AddTool(s, &mcp.Tool{Name: "send", Description: "sends an e-mail"},
			func(_ context.Context, _ *mcp.CallToolRequest, in mailIn) (*mcp.CallToolResult, any, error) {
				sent.Store(in.Text)
				count.Add(1)
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "sent to " + in.To}}}, nil, nil
			})
		return s
	}, &mcp.StreamableHTTPOptions{Stateless: true})
	srv := httptest.NewServer(handler)
	defer srv.Close()
	h := newHouse(t)
	h.do(local, "connector.add", wire.AddIn{Name: "mail", URL: srv.URL})
	if _, err := h.try(local, "connector.accept", wire.AcceptIn{Name: "mail"}); err == nil {
		t.Error("a program accepted it")
	}
	s := h.session()
	tools := func() string {
		h.until(h.prompt(s, "hi"), session.Done)
		return strings.Join(h.model.Requests()[len(h.model.Requests())-1].Tools, " ")
	}
	if got := tools(); strings.Contains(got, "mcp__") {
		t.Errorf("what nobody accepted is offered: %s", got)
	}
	h.do(person, "connector.accept", wire.AcceptIn{Name: "mail"})
	if got := tools(); !strings.Contains(got, "mcp__mail__send") {
		t.Errorf("not offered: %s", got)
	}
	turn := h.prompt(s, `[[tool mcp__mail__send {"to":"ann","text":"Hey you"}]] [[tool mcp__mail__send `+
		`{"to":"ann","text":"Dear Ann"}]] [[result]]`)
	h.decide(turn, approval.SendBack, "be polite")
	h.restart()
	h.decide(turn, approval.Approve, "")
	h.until(turn, session.Done)
	if count.Load() != 1 || sent.Load() != "Dear Ann" || !strings.Contains(h.said(s), "sent to ann") {
		t.Errorf("%d sent, %v, %q", count.Load(), sent.Load(), h.said(s))
	}
}
