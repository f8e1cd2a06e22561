package egress

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"tandem/internal/fault"
)

func TestPublic(t *testing.T) {
	for addr, want := range map[string]bool{
		"93.184.216.34": true, "2606:2800:220:1::1": true, "8.8.8.8": true,
		"127.0.0.1": false, "::1": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false,
		"0.0.0.0": false, "100.64.0.1": false,
		"198.18.0.1": false, "224.0.0.1": false, "255.255.255.255": false, "fe80::1": false, "fd00::1": false, "ff02::1": false, "::": false,
		"::ffff:127.0.0.1": false, "::ffff:93.184.216.34": true, "64:ff9b::7f00:1": false, "64:ff9b::5db8:d822": true, "2002:7f00:1::": false,
		"2002:a9fe:a9fe::": false,
		"::7f00:1":         false, "fd00:ec2::254": false, "2001:db8::1": false,
	} {
		if got := Public(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %v", addr, got)
		}
	}
}

func get(t *testing.T, g *Guard, url string) error {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := (&http.Client{Transport: g.Transport()}).Do(req)
	if err == nil {
		res.Body.Close()
	}
	return err
}

// A page inside is not reached by its address, by a name for it, by a redirect, or by a name that changes its mind.
func TestNothingInsideIsReached(t *testing.T) {
	var hits atomic.Int64
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer inside.Close()
	port := inside.URL[strings.LastIndex(inside.URL, ":"):]
	redirect := httptest.NewServer(http.RedirectHandler(inside.URL, http.StatusFound))
	defer redirect.Close()
	answers := []netip.Addr{netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("127.0.0.1")}
	names := func(_ context.Context, host string) ([]netip.Addr, error) {
		switch host {
		case "inside.example":
			return answers[1:], nil
		case "both.example":
			return answers, nil
		}
		return nil, errors.New("no such name")
	}
	g := &Guard{Resolve: names, Origins: []string{redirect.URL}}
	for _, url := range []string{inside.URL, "http://localhost" + port, "http://inside.example" + port, "http://both.example" + port,
		"http://[::ffff:127.0.0.1]" + port,
		"http://0" + port, "http://2130706433" + port, "http://127.1" + port, redirect.URL, "http://169.254.169.254/latest/meta-data/",
		"http://nobody.example/"} {
		if err := get(t, g, url); err == nil {
			t.Errorf("%s was reached", url)
		}
	}
	// A name that changes its mind: the answer that was looked at is the one that is dialled, and it is asked for once.
	asked := 0
	if err := get(t, &Guard{Resolve: func(ctx context.Context, h string) ([]netip.Addr, error) {
		asked++
		return names(ctx, "inside.example")
	}}, "http://rebind.example"+port); err == nil || asked != 1 {
		t.Errorf("%v after %d questions", err, asked)
	}
	if hits.Load() != 0 {
		t.Errorf("the inside was hit %d times", hits.Load())
	}
	if err := get(t, &Guard{Origins: []string{inside.URL}}, inside.URL); err != nil || hits.Load() != 1 {
		t.Errorf("a configured origin: %v", err)
	}
	err := get(t, &Guard{Origins: []string{"http://127.0.0.1:1"}}, inside.URL)
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Denied {
		t.Errorf("another port of a configured host: %v", err)
	}
}

func TestProxiesOfTheEnvironmentAreNotUsed(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	if p := (&Guard{}).Transport().Proxy; p != nil {
		t.Error("a proxy could lead anywhere")
	}
}
