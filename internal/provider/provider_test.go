package provider

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestBackoff(t *testing.T) {
	for _, c := range []struct {
		name    string
		err     error
		attempt int
		want    time.Duration
		again   bool
	}{
		{"first", &Error{Failure: Overloaded}, 1, 500 * time.Millisecond, true},
		{"third doubles twice", &Error{Failure: Server}, 3, 2 * time.Second, true},
		{"never past the limit", &Error{Failure: Cut}, 40, time.Minute, true},
		{"the provider's word wins", &Error{Failure: RateLimited, RetryAfter: 7 * time.Second}, 1, 7 * time.Second, true},
		{"unless it is too long to wait", &Error{Failure: RateLimited, RetryAfter: time.Hour}, 1, time.Hour, false},
		{"a wrong key stays wrong", &Error{Failure: Auth}, 1, 0, false},
		{"a long prompt stays long", &Error{Failure: ContextLength}, 1, 0, false},
		{"a cancelled call is not a failure", context.Canceled, 1, 0, false},
	} {
		if d, again := Backoff(c.err, c.attempt, 0, time.Minute); d != c.want || again != c.again {
			t.Errorf("%s: %v %v, want %v %v", c.name, d, again, c.want, c.again)
		}
	}
	if d, _ := Backoff(&Error{Failure: Server}, 1, 0.5, time.Minute); d != 625*time.Millisecond {
		t.Errorf("jitter: %v", d)
	}
}

func TestArgsOf(t *testing.T) {
	for in, want := range map[string]string{"": `{}`, `{"a":1}`: `{"a":1}`, `[1]`: `"[1]"`, `null`: `"null"`, `{"a":`: `"{\"a\":"`} {
		c := Call{Args: ArgsOf(in)}
		if string(c.Args) != want {
			t.Errorf("%q: %s", in, c.Args)
		}
		if o := string(c.Object()); o != want && o != `{}` {
			t.Errorf("%q as object: %s", in, o)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "3", 3 * time.Second},
		{"Retry-After", "Fri, 02 Jan 2026 03:04:15 GMT", 10 * time.Second},
		{"Retry-After", "Fri, 02 Jan 2026 03:04:00 GMT", 0},
		{"Retry-After-Ms", "1500", 1500 * time.Millisecond},
		{"Retry-After", "soon", 0},
		{"Retry-After", "-1", 0},
	} {
		if got := retryAfter(http.Header{c.name: {c.value}}, now); got != c.want {
			t.Errorf("%s %s: %v, want %v", c.name, c.value, got, c.want)
		}
	}
}

func classify(status int, _, _ string) Failure {
	if status == 401 {
		return Auth
	}
	return Rejected
}

// A provider that repeats the key in its error must not carry it into ours.
func TestKeyIsRemovedFromErrors(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(401)
		io.WriteString(w, `{"error":{"message":"wrong key `+r.Header.Get("X-Key")+`"}}`)
	}))
	defer srv.Close()
	e := Endpoint{Base: srv.URL, Key: "secret-1", Header: http.Header{"X-Key": {"secret-1"}}}
	_, err := e.Post(t.Context(), "/", nil, classify)
	if FailureOf(err) != Auth || strings.Contains(err.Error(), "secret-1") || !strings.Contains(err.Error(), "wrong key [key]") {
		t.Errorf("%v", err)
	}
}

// A redirect would carry the key to an address that nobody configured.
func TestRedirectsAreNotFollowed(t *testing.T) {
	followed := false
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/there" {
			followed = true
			return
		}
		http.Redirect(w, r, "/there", http.StatusTemporaryRedirect)
	}))
	defer srv.Close()
	e := Endpoint{Base: srv.URL}
	if _, err := e.Post(t.Context(), "/here", nil, classify); FailureOf(err) != Rejected || followed {
		t.Errorf("followed %v: %v", followed, err)
	}
}

func TestSilentStreamIsCut(t *testing.T) {
	release := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "data: 1\n\n")
		w.(http.Flusher).Flush()
		<-release
	}))
	defer srv.Close()
	defer close(release)
	e := Endpoint{Base: srv.URL, Idle: 50 * time.Millisecond}
	body, err := e.Post(t.Context(), "/", nil, classify)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	_, err = io.ReadAll(body)
	if err = e.Broken(t.Context(), err); FailureOf(err) != Cut || !errors.Is(err, errIdle) {
		t.Errorf("%v", err)
	}
}
