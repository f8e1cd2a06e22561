package panel

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/internal/panel/browsertest"
)

// The panel's cookie alone was enough to act: a program that had read it from
// the browser's files, or was sent it on another port, put keys and prompted
// sessions for two weeks. Now whatever a page does is signed by a key that
// stays in the browser.
func TestACookieAloneDoesNothing(t *testing.T) {
	h := startHouse(t)
	owner, thief := h.browser(t), h.browser(t)
	owner.signIn(t)
	thief.Jar = owner.Jar
	put := func(key string) url.Values { return url.Values{"key": {key}, "value": {"1"}} }
	if code, _, _ := thief.ask(t, "GET", "/panel/resources", nil); code != http.StatusOK {
		t.Fatalf("with the cookie the page answers %d", code)
	}
	used := owner.key.Sign(t, "/panel/resources", put("honest"))
	if code, body, _ := thief.ask(t, "POST", "/panel/resources", used); code != http.StatusSeeOther {
		t.Fatalf("the browser's own form answers %d %s", code, body)
	}
	foreign := browsertest.NewKey(t)
	for name, form := range map[string]url.Values{
		"unsigned":      put("planted"),
		"another key":   foreign.Sign(t, "/panel/resources", put("planted")),
		"used before":   used,
		"another form":  {"key": {"planted"}, "value": {"1"}, "tandem-signature": used["tandem-signature"]},
		"another page":  owner.key.Sign(t, "/panel/sessions", put("planted")),
		"an old one":    owner.key.SignAt(t, "/panel/resources", put("planted"), time.Now().Add(-time.Hour)),
		"one to come":   owner.key.SignAt(t, "/panel/resources", put("planted"), time.Now().Add(time.Hour)),
		"with the PIN":  {"key": {"planted"}, "value": {"1"}, "pin": {testPIN}},
		"a second line": {"key": {"planted"}, "value": {"1"}, "tandem-signature": {"1.2.3.4.5"}},
	} {
		code, body, _ := thief.ask(t, "POST", "/panel/resources", form)
		if code != http.StatusForbidden || !strings.Contains(body, "not signed by the browser") {
			t.Errorf("%s: the form answers %d", name, code)
		}
	}
	for _, path := range []string{"/panel/approvals/ask_x/decide/challenge", "/panel/sessions/ses_x/type", "/panel/passkeys",
		"/panel/signout", "/panel/nothing"} {
		if code, _, _ := thief.ask(t, "POST", path, put("planted"), "Accept: application/json"); code != http.StatusForbidden {
			t.Errorf("%s answers %d", path, code)
		}
	}
	for _, call := range []string{"PUT /resource/planted", "POST /op/resource.put", "POST /mcp", "DELETE /resource/honest"} {
		method, path, _ := strings.Cut(call, " ")
		if code, body, _ := thief.ask(t, method, path, nil, "Content-Type: application/json"); code != http.StatusForbidden {
			t.Errorf("%s with the cookie answers %d %s", call, code, body)
		}
	}
	h.restart()
	if code, _, _ := thief.ask(t, "POST", "/panel/resources", used); code != http.StatusForbidden {
		t.Errorf("after a restart a used signature answers %d", code)
	}
	if _, body, _ := owner.ask(t, "GET", "/panel/resources", nil); strings.Contains(body, "planted") || !strings.Contains(body, "honest") {
		t.Error("the resources are not what the browser made them")
	}
	if code, _, _ := owner.ask(t, "POST", "/panel/resources", put("later")); code != http.StatusSeeOther {
		t.Errorf("after a restart the browser's own form answers %d", code)
	}
}

// A browser ends lines with a carriage return, too. It was kept, and stood in red behind every line of a task.
func TestLinesOfAFormEndAsEverywhere(t *testing.T) {
	h := startHouse(t)
	owner := h.browser(t)
	owner.signIn(t)
	for _, act := range []struct {
		page string
		form url.Values
	}{{"/panel/spaces", url.Values{"name": {"team"}}},
		{"/panel/board", url.Values{"title": {"Totals"}, "description": {"one\r\ntwo"}}}} {
		if code, body, _ := owner.ask(t, "POST", act.page, act.form); code != http.StatusSeeOther {
			t.Fatalf("%s answers %d %s", act.page, code, body)
		}
	}
	_, board, _ := owner.ask(t, "GET", "/panel/board", nil)
	_, task, _ := owner.ask(t, "GET", regexp.MustCompile(`/panel/board/T-[^"/?]+`).FindString(board), nil)
	if !strings.Contains(task, "two") || strings.Contains(task, "000D") || strings.Contains(task, "\r") {
		t.Errorf("the task is not there, or a carriage return is shown: %s", task)
	}
}

// A browser that signed in before there were keys looks around as it did. The
// first time its person proves presence its key is kept; the cookie alone does
// nothing before and after.
func TestABrowserFromBeforeGetsItsKey(t *testing.T) {
	h := startHouse(t)
	b := h.browser(t)
	if code, body, _ := b.ask(t, "POST", "/signin", url.Values{"code": {h.code(t)}}); code != http.StatusSeeOther {
		t.Fatalf("sign-in answered %d %s", code, body)
	}
	put := url.Values{"key": {"old"}, "value": {"1"}}
	key := browsertest.NewKey(t)
	for name, form := range map[string]url.Values{"unsigned": put, "signed": key.Sign(t, "/panel/resources", put)} {
		if code, body, _ := b.ask(t, "POST", "/panel/resources", form); code != http.StatusOK || !strings.Contains(body, "This needs you") ||
			strings.Contains(body, "tandem-signature") {
			t.Errorf("%s, without a proof: %d", name, code)
		}
	}
	put.Set("pin", "000000")
	if code, body, _ := b.ask(t, "POST", "/panel/resources", key.Sign(t, "/panel/resources", put)); code != http.StatusOK ||
		!strings.Contains(body, "the PIN is wrong") {
		t.Errorf("with a wrong PIN: %d", code)
	}
	put.Set("pin", testPIN)
	if code, _, _ := b.ask(t, "POST", "/panel/resources", key.Sign(t, "/panel/resources", put)); code != http.StatusSeeOther {
		t.Errorf("with the PIN: %d", code)
	}
	put = url.Values{"key": {"new"}, "value": {"1"}}
	if code, _, _ := b.ask(t, "POST", "/panel/resources", key.Sign(t, "/panel/resources", put)); code != http.StatusSeeOther {
		t.Errorf("with its key alone: %d", code)
	}
	other := browsertest.NewKey(t)
	put.Set("pin", testPIN)
	for name, form := range map[string]url.Values{"unsigned": put, "another key": other.Sign(t, "/panel/resources", put)} {
		if code, _, _ := b.ask(t, "POST", "/panel/resources", form); code != http.StatusForbidden {
			t.Errorf("%s, after it was kept: %d", name, code)
		}
	}
	if log := h.do(t, "audit.log", "", map[string]any{"type": "signin.key", "phase": "done"}); len(log["entries"].([]any)) != 1 {
		t.Errorf("the journal has %v", log["entries"])
	}
	h.restart() // what vouches for the browser still does
	if code, _, _ := b.ask(t, "GET", "/panel/", nil); code != http.StatusOK {
		t.Errorf("after a restart: %d", code)
	}
}

// In a real browser: the page acts, after a reload and after a restart of the
// server too. A page on another port of the same name has the cookie, which its
// server replays, and no key.
func TestOnlyTheSignedInPageActs(t *testing.T) {
	h := startHouse(t)
	var mu sync.Mutex
	var replayed []int
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	other := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/restart":
			h.restart()
		case "/steal":
			form := url.Values{"key": {"planted"}, "value": {"1"}}
			code, _, _ := h.browser(t).ask(t, "POST", "/panel/resources", form, "Cookie: "+r.Header.Get("Cookie"))
			mu.Lock()
			replayed = append(replayed, code)
			mu.Unlock()
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>a page</title>")
	})}
	go other.Serve(l)
	t.Cleanup(func() { other.Close() })
	panel, err := url.Parse(h.base)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Put         []string
		Extractable []bool
		Elsewhere   []string
		Keys        int
		Problems    []string
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	elsewhere := "http://" + panel.Hostname() + ":" + port
	browsertest.Run(t, "testdata/signed.cjs", map[string]any{"base": h.base, "code": h.code(t), "other": elsewhere}, &got)
	for _, p := range got.Problems {
		t.Error(p)
	}
	if want := "[first reloaded restarted]"; fmt.Sprint(got.Put) != want {
		t.Errorf("the page put %v, want %s", got.Put, want)
	}
	if fmt.Sprint(got.Extractable) != "[false]" || got.Keys != 0 {
		t.Errorf("keys that can be taken out: %v; keys that another port sees: %d", got.Extractable, got.Keys)
	}
	if fmt.Sprint(replayed) != "[403]" || len(got.Elsewhere) != 2 || got.Elsewhere[0] != "refused" || got.Elsewhere[1] != "refused" {
		t.Errorf("a page on another port: its server was answered %v, its own requests %v", replayed, got.Elsewhere)
	}
	if _, body, _ := func() (int, string, http.Header) {
		b := h.browser(t)
		b.signIn(t)
		return b.ask(t, "GET", "/panel/resources", nil)
	}(); strings.Contains(body, "planted") {
		t.Error("a key was planted")
	}
}
