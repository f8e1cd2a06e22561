// Package providertest is the exam that every provider.Model sits. It owns the questions; the scripted server is the
// examiner's voice. A model that has no server (local) sits the part that needs none.
package providertest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"tandem/internal/provider"
	"tandem/internal/provider/scripted"
)

// Key is the key that the exam gives to models; it must never appear in an error.
const Key = "sk-exam-0123456789"

// Candidate opens a model that speaks to base.
type Candidate func(base string, tr http.RoundTripper) provider.Model

var schema = json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)

// Run examines a model that speaks to a server.
func Run(t *testing.T, open Candidate) {
	srv := &scripted.Server{}
	if err := srv.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	e := &exam{srv: srv, m: open(srv.URL(), tr)}
	t.Run("text", e.text)
	t.Run("tools", e.tools)
	t.Run("reasoning", e.reasoning)
	t.Run("images", e.images)
	t.Run("cache", e.cache)
	t.Run("limits", e.limits)
	t.Run("failures", e.failures)
	t.Run("cut", e.cut)
	t.Run("cancel", e.cancel)
	t.Run("one request per call", e.once)
	t.Run("list", e.list)
	t.Run("nobody there", func(t *testing.T) {
		_, err := open("http://127.0.0.1:1", tr).Stream(t.Context(), e.ask("hello"), nil)
		failure(t, err, provider.Unreachable)
	})
	t.Run("contract", func(t *testing.T) { Contract(t, e.m, "scripted-1") })
}

// Contract is the part of the exam that needs no server: a reply is the sum of its parts, a usage is counted, the
// context is obeyed.
func Contract(t *testing.T, m provider.Model, name string) {
	r := provider.Request{Model: name, Messages: []provider.Message{provider.TextMessage(provider.User, "hello there world")}}
	reply, parts, err := collect(t.Context(), m, r)
	if err != nil {
		t.Fatal(err)
	}
	sum(t, reply, parts)
	if reply.Stop != provider.StopEnd || reply.Usage.Input == 0 || reply.Usage.Output == 0 {
		t.Errorf("stop %q usage %+v", reply.Stop, reply.Usage)
	}
	if !strings.Contains(reply.Text(), "hello there world") {
		t.Errorf("text %q", reply.Text())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Stream(ctx, r, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context gave %v", err)
	}
}

type exam struct {
	srv *scripted.Server
	m   provider.Model
}

func (e *exam) ask(prompt string) provider.Request {
	return provider.Request{Model: "scripted-1", System: "be brief", Messages: []provider.Message{provider.TextMessage(provider.User, prompt)},
		Tools: []provider.Tool{{Name: "read", Doc: "reads a file", Schema: schema}}}
}

func (e *exam) last(t *testing.T) scripted.Request {
	t.Helper()
	rs := e.srv.Requests()
	if len(rs) == 0 {
		t.Fatal("no request arrived")
	}
	return rs[len(rs)-1]
}

func collect(ctx context.Context, m provider.Model, r provider.Request) (provider.Reply, []provider.Part, error) {
	var parts []provider.Part
	reply, err := m.Stream(ctx, r, func(p provider.Part) { parts = append(parts, p) })
	return reply, parts, err
}

// sum checks that the deltas of each block add up to the block that ended it, and that the reply holds those blocks.
func sum(t *testing.T, reply provider.Reply, parts []provider.Part) {
	t.Helper()
	text := map[int]string{}
	ended := 0
	for _, p := range parts {
		text[p.Index] += p.Delta
		if p.Done == nil {
			continue
		}
		ended++
		want := p.Done.Text
		if p.Done.Kind == provider.CallKind {
			want = string(p.Done.Call.Args)
		}
		if p.Done.Kind != provider.Opaque && text[p.Index] != want {
			t.Errorf("block %d: deltas %q, block %q", p.Index, text[p.Index], want)
		}
	}
	if ended != len(reply.Blocks) {
		t.Errorf("%d blocks ended, the reply has %d", ended, len(reply.Blocks))
	}
}

func failure(t *testing.T, err error, want provider.Failure) *provider.Error {
	t.Helper()
	var e *provider.Error
	if !errors.As(err, &e) || e.Failure != want {
		t.Fatalf("got %v, want %s", err, want)
	}
	if strings.Contains(err.Error(), Key) {
		t.Fatalf("the key is in the error: %v", err)
	}
	return e
}

func (e *exam) text(t *testing.T) {
	reply, parts, err := collect(t.Context(), e.m, e.ask("[[say one two three ;; say  four]]"))
	if err != nil {
		t.Fatal(err)
	}
	sum(t, reply, parts)
	if reply.Text() != "one two threefour" || reply.Stop != provider.StopEnd || reply.Model != "scripted-1" || reply.ID == "" {
		t.Errorf("reply %+v", reply)
	}
	if q := e.last(t); q.System != "be brief" || len(q.Tools) != 1 || q.Tools[0] != "read" || !q.Stream {
		t.Errorf("the server saw system %q tools %q stream %v", q.System, q.Tools, q.Stream)
	}
	for _, h := range e.last(t).Headers {
		if h == "Authorization" || h == "X-Api-Key" {
			return
		}
	}
	t.Error("no key was sent")
}

// tools walks a whole round: two calls, their results, and the answer, with the calls coming back as they were.
func (e *exam) tools(t *testing.T) {
	r := e.ask(`[[say looking ;; tool read {"path":"a [1]"} ;; tool /^re/ {"path":"b"}]] [[result]]`)
	reply, parts, err := collect(t.Context(), e.m, r)
	if err != nil {
		t.Fatal(err)
	}
	sum(t, reply, parts)
	calls := reply.Calls()
	if len(calls) != 2 || calls[0].Name != "read" || calls[1].Name != "read" || calls[0].ID == calls[1].ID ||
		reply.Stop != provider.StopTools {
		t.Fatalf("calls %+v stop %s", calls, reply.Stop)
	}
	if string(calls[0].Args) != `{"path":"a [1]"}` {
		t.Errorf("args %s", calls[0].Args)
	}
	named := 0
	for _, p := range parts {
		if p.Call != nil && p.Call.Name == "read" && p.Call.ID != "" {
			named++
		}
	}
	if named != 2 {
		t.Errorf("%d calls were announced by name", named)
	}
	r.Messages = append(r.Messages, roundTrip(t, reply.Message()), provider.Message{Role: provider.User, Blocks: []provider.Block{
		{Kind: provider.ResultOf, Result: &provider.Result{CallID: calls[0].ID, Text: "first"}},
		{Kind: provider.ResultOf, Result: &provider.Result{CallID: calls[1].ID, Text: "second", Error: true}},
	}})
	again, _, err := collect(t.Context(), e.m, r)
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Text(); !strings.Contains(got, "first") || !strings.Contains(got, "second") {
		t.Errorf("results did not arrive: %q", got)
	}
	verbatim(t, reply, e.last(t))
}

// roundTrip stores and loads a message, as a parked turn does.
func roundTrip(t *testing.T, m provider.Message) provider.Message {
	t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var out provider.Message
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// verbatim checks that every raw block of a reply is in the next request, byte for byte.
func verbatim(t *testing.T, reply provider.Reply, q scripted.Request) {
	t.Helper()
	body := string(q.Body)
	for _, b := range reply.Blocks {
		if len(b.Raw) > 0 && !strings.Contains(body, string(b.Raw)) {
			t.Errorf("the block %s did not come back verbatim in %s", b.Raw, body)
		}
	}
}

func (e *exam) reasoning(t *testing.T) {
	r := e.ask(`[[think deep thoughts ;; tool read {}]] [[say fine]]`)
	r.Effort = "low"
	reply, parts, err := collect(t.Context(), e.m, r)
	if err != nil {
		t.Fatal(err)
	}
	sum(t, reply, parts)
	if len(reply.Blocks) < 2 || reply.Blocks[0].Kind != provider.Reasoning || reply.Blocks[0].Text != "deep thoughts" {
		t.Fatalf("blocks %+v", reply.Blocks)
	}
	r.Messages = append(r.Messages, roundTrip(t, reply.Message()), provider.Message{Role: provider.User, Blocks: []provider.Block{
		{Kind: provider.ResultOf, Result: &provider.Result{CallID: reply.Calls()[0].ID, Text: "ok"}}}})
	if _, _, err := collect(t.Context(), e.m, r); err != nil {
		t.Fatal(err)
	}
	verbatim(t, reply, e.last(t))
}

func (e *exam) images(t *testing.T) {
	r := e.ask("look [[say seen]]")
	r.Messages[0].Blocks = append(r.Messages[0].Blocks,
		provider.Block{Kind: provider.ImageKind, Image: &provider.Image{Mime: "image/png", Data: []byte("PNGDATA")}})
	if _, _, err := collect(t.Context(), e.m, r); err != nil {
		t.Fatal(err)
	}
	if body := string(e.last(t).Body); !strings.Contains(body, "UE5HREFUQQ==") || !strings.Contains(body, "image/png") {
		t.Errorf("the picture is not in %s", body)
	}
}

func (e *exam) cache(t *testing.T) {
	r := e.ask("[[say hi]]")
	r.Cache, r.CacheKey = true, "ses_1"
	reply, _, err := collect(t.Context(), e.m, r)
	if err != nil {
		t.Fatal(err)
	}
	q := e.last(t)
	total := int64(len(q.Body)/4 + 1)
	if got := reply.Usage.Input + reply.Usage.CacheRead; got != total {
		t.Errorf("input %d and cached %d are not %d together", reply.Usage.Input, reply.Usage.CacheRead, total)
	}
	asked := strings.Contains(string(q.Body), "cache_control") || strings.Contains(string(q.Body), "prompt_cache_key")
	if asked != (reply.Usage.CacheRead > 0) {
		t.Errorf("cache asked for %v, read %d", asked, reply.Usage.CacheRead)
	}
}

func (e *exam) limits(t *testing.T) {
	for prompt, want := range map[string]provider.Stop{"[[maxtok half a]]": provider.StopLength, "[[refuse]]": provider.StopRefusal} {
		reply, _, err := collect(t.Context(), e.m, e.ask(prompt))
		if err != nil || reply.Stop != want {
			t.Errorf("%s: stop %q, %v", prompt, reply.Stop, err)
		}
	}
}

func (e *exam) failures(t *testing.T) {
	for _, c := range []struct {
		prompt string
		want   provider.Failure
		after  time.Duration
	}{
		{"[[err 429 7]]", provider.RateLimited, 7 * time.Second},
		{"[[err 429 0.25]]", provider.RateLimited, 250 * time.Millisecond},
		{"[[err 529]]", provider.Overloaded, 0},
		{"[[err 500]]", provider.Server, 0},
		{"[[err 401]]", provider.Auth, 0},
		{"[[err 403]]", provider.Auth, 0},
		{"[[err 404]]", provider.UnknownModel, 0},
		{"[[err 400]]", provider.ContextLength, 0},
		{"[[err 413]]", provider.ContextLength, 0},
		{"[[err 422]]", provider.Rejected, 0},
		{"[[err 307]]", provider.Rejected, 0},
		{"[[say a ;; streamerr too busy]]", provider.Overloaded, 0},
	} {
		_, err := e.m.Stream(t.Context(), e.ask(c.prompt), nil)
		got := failure(t, err, c.want)
		if got.RetryAfter != c.after {
			t.Errorf("%s: retry after %v, want %v", c.prompt, got.RetryAfter, c.after)
		}
	}
}

func (e *exam) cut(t *testing.T) {
	reply, parts, err := collect(t.Context(), e.m, e.ask("[[say one two ;; drop]]"))
	failure(t, err, provider.Cut)
	if reply.Stop != "" {
		t.Errorf("a cut reply says that it stopped: %q", reply.Stop)
	}
	var heard strings.Builder
	for _, p := range parts {
		heard.WriteString(p.Delta)
	}
	if heard.String() != "one two" {
		t.Errorf("before the cut %q was heard", heard.String())
	}
}

// cancel ends a slow reply; the server must see the client go, not finish speaking into the void.
func (e *exam) cancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := e.m.Stream(ctx, e.ask("[[slow 30]]"), func(p provider.Part) {
		if p.Delta != "" {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	deadline := time.Now().Add(5 * time.Second)
	for e.last(t).Outcome == "" && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
	if got := e.last(t).Outcome; got != "aborted" {
		t.Errorf("the server saw %q", got)
	}
}

func (e *exam) once(t *testing.T) {
	before := len(e.srv.Requests())
	_, err := e.m.Stream(t.Context(), e.ask("[[errn 1 529]]"), nil)
	failure(t, err, provider.Overloaded)
	if n := len(e.srv.Requests()) - before; n != 1 {
		t.Errorf("one call made %d requests", n)
	}
	if reply, err := e.m.Stream(t.Context(), e.ask("[[errn 1 529]]"), nil); err != nil || reply.Text() != "recovered" {
		t.Errorf("the second call: %q %v", reply.Text(), err)
	}
}

func (e *exam) list(t *testing.T) {
	ms, err := e.m.List(t.Context())
	if err != nil || len(ms) != 1 || ms[0].ID != "scripted-1" {
		t.Errorf("list %+v %v", ms, err)
	}
}
