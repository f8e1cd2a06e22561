package daemon

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"tandem/internal/op"
)

// Where a stranger comes from is its address, or the IPv6 network that it has all of; a caller with a credential counts as that.
func TestAStrangersSource(t *testing.T) {
	for want, c := range map[string]struct {
		remote string
		caller op.Caller
	}{
		"192.0.2.7":         {remote: "192.0.2.7:4000"},
		"2001:db8:1:2::/64": {remote: "[2001:db8:1:2:3:4:5:6]:4000"},
		"tunnel:0":          {remote: "tunnel:0"},
		"tok_1":             {remote: "192.0.2.7:4000", caller: op.Caller{Tenant: "local", Actor: "act_1", Token: "tok_1"}},
	} {
		r := httptest.NewRequest("POST", "/join", nil)
		r.RemoteAddr = c.remote
		got, err := keeping(func(*http.Request) (op.Caller, error) { return c.caller, nil })(r)
		if err != nil || got.Whence() != want {
			t.Errorf("%s: %q, %v", c.remote, got.Whence(), err)
		}
	}
}

// However many knock, whoever comes from elsewhere is let through to ask.
func TestManySourcesShutNobodyOut(t *testing.T) {
	var l limiter
	now := time.Now().Truncate(time.Minute)
	for range joinsPerMinute {
		l.allow("192.0.2.1", now)
	}
	if l.allow("192.0.2.1", now) {
		t.Error("a flood from one source is let through")
	}
	for i := range 2 * joinSources {
		if !l.allow(fmt.Sprint(i), now) {
			t.Fatalf("source %d is turned away for what others did", i)
		}
	}
	if len(l.count) > joinSources {
		t.Errorf("%d sources are remembered", len(l.count))
	}
}
