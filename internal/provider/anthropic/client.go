package anthropic

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"tandem/internal/provider"
)

// DefaultBase is the provider's own address.
const DefaultBase = "https://api.anthropic.com"

// Options say where and with which key to speak.
type Options struct {
	Base      string // DefaultBase when empty
	Key       string
	Transport http.RoundTripper
	MaxTokens int           // the limit for requests that name none; 8192 when 0
	Idle      time.Duration // see provider.Endpoint
}

// Client is a provider.Model.
type Client struct {
	ep  provider.Endpoint
	max int
}

// New makes a client. It sends nothing yet.
func New(o Options) *Client {
	h := http.Header{"Anthropic-Version": {"2023-06-01"}}
	if o.Key != "" {
		h.Set("X-Api-Key", o.Key)
	}
	if o.Base == "" {
		o.Base = DefaultBase
	}
	if o.MaxTokens == 0 {
		o.MaxTokens = 8192
	}
	return &Client{ep: provider.Endpoint{Base: o.Base, Transport: o.Transport, Header: h, Key: o.Key, Idle: o.Idle}, max: o.MaxTokens}
}

var _ provider.Model = (*Client)(nil)

// Stream sends one request.
func (c *Client) Stream(ctx context.Context, r provider.Request, emit func(provider.Part)) (provider.Reply, error) {
	stream, err := c.ep.Post(ctx, "/v1/messages", body(r, c.max), classify)
	if err != nil {
		return provider.Reply{}, err
	}
	defer stream.Close()
	return c.read(ctx, stream, emit)
}

// List names the models of this key.
func (c *Client) List(ctx context.Context) ([]provider.Info, error) {
	var out []provider.Info
	after := ""
	for {
		var page struct {
			Data []struct {
				ID   string `json:"id"`
				Name string `json:"display_name"`
			} `json:"data"`
			More bool   `json:"has_more"`
			Last string `json:"last_id"`
		}
		path := "/v1/models?limit=1000"
		if after != "" {
			path += "&after_id=" + after
		}
		if err := c.ep.Get(ctx, path, &page, classify); err != nil {
			return nil, err
		}
		for _, m := range page.Data {
			out = append(out, provider.Info{ID: m.ID, Name: m.Name})
		}
		if !page.More || page.Last == "" || page.Last == after {
			return out, nil
		}
		after = page.Last
	}
}

// classify reads the status first and the type of the error second: an error inside a stream has only the type.
func classify(status int, code, msg string) provider.Failure {
	switch code {
	case "overloaded_error":
		return provider.Overloaded
	case "rate_limit_error":
		return provider.RateLimited
	case "authentication_error", "permission_error":
		return provider.Auth
	case "billing_error":
		return provider.Quota
	case "not_found_error":
		return provider.UnknownModel
	case "request_too_large":
		return provider.ContextLength
	case "api_error", "timeout_error":
		return provider.Server
	}
	low := strings.ToLower(msg)
	switch {
	case status == 529 || status == 503:
		return provider.Overloaded
	case status == 429:
		return provider.RateLimited
	case status == 401 || status == 403:
		return provider.Auth
	case status == 402:
		return provider.Quota
	case status == 404:
		return provider.UnknownModel
	case status == 413, strings.Contains(low, "prompt is too long"), strings.Contains(low, "context limit"),
		strings.Contains(low, "context window"):
		return provider.ContextLength
	case strings.Contains(low, "credit balance"):
		return provider.Quota
	case status >= 500:
		return provider.Server
	case status/100 == 3:
		return provider.Rejected
	}
	return provider.Rejected
}

var stops = map[string]provider.Stop{
	"end_turn": provider.StopEnd, "stop_sequence": provider.StopEnd, "tool_use": provider.StopTools,
	"max_tokens": provider.StopLength, "model_context_window_exceeded": provider.StopLength,
	"refusal": provider.StopRefusal, "pause_turn": provider.StopPause,
}

func stopOf(s string) provider.Stop {
	if v, ok := stops[s]; ok {
		return v
	}
	return provider.StopEnd
}

func garbled(what string, err error) error {
	return &provider.Error{Failure: provider.Garbled, Message: what, Err: err}
}

func decode(b []byte, into any) error {
	if err := json.Unmarshal(b, into); err != nil {
		return garbled("an event of the stream is not JSON", err)
	}
	return nil
}
