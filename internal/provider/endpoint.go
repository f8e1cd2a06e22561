package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Endpoint is one address that speaks a model's wire, with the key for it. It makes one request per call: redirects
// are not followed, because a key must not travel to an address that nobody configured.
type Endpoint struct {
	Base      string            // without a slash at the end
	Transport http.RoundTripper // injected: egress rules, receipts and tests live there
	Header    http.Header       // sent with every request, the key among them
	Key       string            // removed from every error text
	// Idle ends a stream on which nothing arrived for so long; 0 means five minutes.
	Idle time.Duration
}

// maxErrorBody bounds what is read of a failed answer.
const maxErrorBody = 64 << 10

// Post sends body as JSON and returns the open answer. A status other than 2xx becomes an *Error through classify,
// which gets the status, the error's type or code, and its message.
func (e *Endpoint) Post(ctx context.Context, path string, body any, classify func(status int, code, msg string) Failure) (io.ReadCloser,
	error) {
	b, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode request for the model: %w", err)
	}
	return e.do(ctx, http.MethodPost, path, b, "text/event-stream", classify)
}

// Get fetches path and decodes the JSON answer into out.
func (e *Endpoint) Get(ctx context.Context, path string, out any, classify func(status int, code, msg string) Failure) error {
	body, err := e.do(ctx, http.MethodGet, path, nil, "application/json", classify)
	if err != nil {
		return err
	}
	defer body.Close()
	b, err := io.ReadAll(io.LimitReader(body, 32<<20))
	if err != nil {
		return e.Broken(ctx, err)
	}
	if err := json.Unmarshal(b, out); err != nil {
		return &Error{Failure: Garbled, Message: "the answer is not the JSON that was expected", Err: err}
	}
	return nil
}

func (e *Endpoint) do(ctx context.Context, method, path string, body []byte, accept string,
	classify func(int, string, string) Failure) (io.ReadCloser, error) {
	child, cancel := context.WithCancel(ctx)
	req, err := http.NewRequestWithContext(child, method, strings.TrimSuffix(e.Base, "/")+path, bytes.NewReader(body))
	if err != nil {
		cancel()
		return nil, &Error{Failure: Rejected, Message: "the provider's address is not a URL"}
	}
	for k, v := range e.Header {
		req.Header[k] = v
	}
	req.Header.Set("Accept", accept)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	idle := e.Idle
	if idle == 0 {
		idle = 5 * time.Minute
	}
	w := &watched{cancel: cancel, idle: idle}
	w.timer = time.AfterFunc(idle, w.expire)
	tr := e.Transport
	if tr == nil {
		tr = http.DefaultTransport
	}
	res, err := tr.RoundTrip(req)
	if err != nil {
		w.stop()
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, &Error{Failure: Unreachable, Message: e.scrub(err.Error()), Err: err}
	}
	w.body = res.Body
	if res.StatusCode/100 == 2 {
		return w, nil
	}
	defer w.Close()
	b, _ := io.ReadAll(io.LimitReader(w, maxErrorBody))
	code, msg := errorText(b)
	return nil, &Error{
		Failure: classify(res.StatusCode, code, msg), Status: res.StatusCode, Message: e.scrub(msg),
		RetryAfter: retryAfter(res.Header, time.Now()), RequestID: requestID(res.Header),
	}
}

// Broken turns an error of reading the stream into the caller's own cancellation or a Cut.
func (e *Endpoint) Broken(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	msg := "the stream ended before the reply did"
	if errors.Is(err, errIdle) {
		msg = errIdle.Error()
	}
	return &Error{Failure: Cut, Message: msg, Err: err}
}

// Scrub removes the key from an error that arrived inside a stream.
func (e *Endpoint) Scrub(s string) string { return e.scrub(s) }

func (e *Endpoint) scrub(s string) string {
	if e.Key != "" {
		s = strings.ReplaceAll(s, e.Key, "[key]")
	}
	if len(s) > 2000 {
		s = strings.ToValidUTF8(s[:2000], "") + " …"
	}
	return s
}

var errIdle = errors.New("nothing arrived for too long")

// watched is a body that cancels its request when it stays silent.
type watched struct {
	body    io.ReadCloser
	cancel  context.CancelFunc
	timer   *time.Timer
	idle    time.Duration
	expired atomic.Bool
}

func (w *watched) expire() { w.expired.Store(true); w.cancel() }

func (w *watched) stop() { w.timer.Stop(); w.cancel() }

// Read reads and winds the watch up again.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.body.Read(p)
	if n > 0 {
		w.timer.Reset(w.idle)
	}
	if err != nil && w.expired.Load() {
		err = errIdle
	}
	return n, err
}

// Close ends the request.
func (w *watched) Close() error {
	w.stop()
	return w.body.Close()
}

// errorText finds code and message in the shapes that providers use for errors.
func errorText(b []byte) (code, msg string) {
	var x struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(b, &x) != nil {
		return "", strings.TrimSpace(string(b))
	}
	var obj struct {
		Type    string `json:"type"`
		Code    any    `json:"code"`
		Message string `json:"message"`
	}
	if json.Unmarshal(x.Error, &obj) == nil {
		code = obj.Type
		if s, ok := obj.Code.(string); ok && s != "" {
			code = s
		}
		return code, obj.Message
	}
	var s string
	if json.Unmarshal(x.Error, &s) == nil {
		return "", s
	}
	return "", x.Message
}

func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 {
		return time.Duration(s * float64(time.Second))
	}
	if t, err := http.ParseTime(v); err == nil && t.After(now) {
		return t.Sub(now)
	}
	return 0
}

func requestID(h http.Header) string {
	for _, k := range []string{"Request-Id", "X-Request-Id", "Cf-Ray"} {
		if v := h.Get(k); v != "" {
			return v
		}
	}
	return ""
}
