package openai

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"tandem/internal/provider"
)

// DefaultBase is OpenAI's own address. Other providers' addresses are in package catalog.
const DefaultBase = "https://api.openai.com/v1"

// The two wires, which are also the names of verbatim blocks' formats.
const (
	Responses = "responses"
	Chat      = "chat"
)

// Options say where, how and with which key to speak.
type Options struct {
	Base      string // DefaultBase when empty
	Wire      string // Responses when empty
	Key       string // may be empty for a local server
	Header    http.Header
	Transport http.RoundTripper
	Idle      time.Duration // see provider.Endpoint
}

// Client is a provider.Model.
type Client struct {
	ep   provider.Endpoint
	wire string
	own  bool // OpenAI itself: some fields exist only there
}

// New makes a client. It sends nothing yet.
func New(o Options) *Client {
	h := http.Header{}
	for k, v := range o.Header {
		h[k] = v
	}
	if o.Key != "" {
		h.Set("Authorization", "Bearer "+o.Key)
	}
	if o.Base == "" {
		o.Base = DefaultBase
	}
	if o.Wire == "" {
		o.Wire = Responses
	}
	return &Client{
		ep:   provider.Endpoint{Base: o.Base, Transport: o.Transport, Header: h, Key: o.Key, Idle: o.Idle},
		wire: o.Wire, own: strings.HasPrefix(o.Base, "https://api.openai.com/"),
	}
}

var _ provider.Model = (*Client)(nil)

// Stream sends one request over the client's wire.
func (c *Client) Stream(ctx context.Context, r provider.Request, emit func(provider.Part)) (provider.Reply, error) {
	if emit == nil {
		emit = func(provider.Part) {}
	}
	if c.wire == Chat {
		stream, err := c.ep.Post(ctx, "/chat/completions", c.chatBody(r), classify)
		if err != nil {
			return provider.Reply{}, err
		}
		defer stream.Close()
		return c.readChat(ctx, stream, emit)
	}
	stream, err := c.ep.Post(ctx, "/responses", responsesBody(r), classify)
	if err != nil {
		return provider.Reply{}, err
	}
	defer stream.Close()
	return c.readResponses(ctx, stream, emit)
}

// List names the models of this key.
func (c *Client) List(ctx context.Context) ([]provider.Info, error) {
	var page struct {
		Data []struct {
			ID      string `json:"id"`
			Name    string `json:"name"`
			Context int64  `json:"context_length"` // OpenRouter says it, others do not
		} `json:"data"`
	}
	if err := c.ep.Get(ctx, "/models", &page, classify); err != nil {
		return nil, err
	}
	out := make([]provider.Info, len(page.Data))
	for i, m := range page.Data {
		out[i] = provider.Info{ID: m.ID, Name: m.Name, Context: m.Context}
	}
	return out, nil
}

func classify(status int, code, msg string) provider.Failure {
	low := strings.ToLower(msg)
	switch code {
	case "context_length_exceeded":
		return provider.ContextLength
	case "insufficient_quota", "billing_hard_limit_reached":
		return provider.Quota
	case "invalid_api_key", "authentication_error":
		return provider.Auth
	case "model_not_found":
		return provider.UnknownModel
	case "rate_limit_exceeded", "rate_limit_error":
		return provider.RateLimited
	case "server_is_overloaded", "overloaded_error", "slow_down":
		return provider.Overloaded
	case "server_error":
		return provider.Server
	}
	switch {
	case strings.Contains(low, "maximum context length"), strings.Contains(low, "context length exceeded"),
		strings.Contains(low, "context window"), strings.Contains(low, "exceeds the available context size"), status == 413:
		return provider.ContextLength
	case status == 429:
		return provider.RateLimited
	case status == 401 || status == 403:
		return provider.Auth
	case status == 402:
		return provider.Quota
	case status == 404:
		return provider.UnknownModel
	case status == 503 || status == 529:
		return provider.Overloaded
	case status >= 500:
		return provider.Server
	}
	return provider.Rejected
}

type obj = map[string]any

func garbled(what string, err error) error {
	return &provider.Error{Failure: provider.Garbled, Message: what, Err: err}
}

func decode(b []byte, into any) error {
	if err := json.Unmarshal(b, into); err != nil {
		return garbled("an event of the stream is not JSON", err)
	}
	return nil
}

// failed makes the error that a stream reported about itself.
func (c *Client) failed(code, msg string) error {
	f := classify(0, code, msg)
	if f == provider.Rejected && code == "" {
		f = provider.Server
	}
	return &provider.Error{Failure: f, Message: c.ep.Scrub(msg)}
}

func imageURL(i provider.Image) string {
	if i.URL != "" {
		return i.URL
	}
	b, _ := json.Marshal(i.Data) // base64 in quotes
	return "data:" + i.Mime + ";base64," + strings.Trim(string(b), `"`)
}
