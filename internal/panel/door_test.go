package panel

import (
	"bufio"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"tandem/internal/panel/browsertest"
)

// browser is somebody's HTTP client with a cookie jar. It reaches the panel by
// address and names it in Host, since not every resolver knows *.localhost.
type browser struct {
	*http.Client
	h   *house
	key *browsertest.Key // signs what is posted
}

func (h *house) browser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &browser{Client: &http.Client{Jar: jar, CheckRedirect: stay}, h: h}
}

// ask sends a request; headers are "Name: value".
func (b *browser) ask(t *testing.T, method, path string, form url.Values, headers ...string) (int, string, http.Header) {
	t.Helper()
	if method == "POST" && b.key != nil {
		form = b.key.Sign(t, path, form)
	}
	req, err := http.NewRequest(method, b.h.near+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Host = strings.TrimPrefix(b.h.base, "http://")
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			req.Host = value
		}
		req.Header.Set(name, value)
	}
	res, err := b.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body), res.Header
}

func (b *browser) signIn(t *testing.T) {
	t.Helper()
	key := browsertest.NewKey(t)
	b.key = &key
	if code, body, _ := b.ask(t, "POST", "/signin", url.Values{"code": {b.h.code(t)}}); code != http.StatusSeeOther {
		t.Fatalf("sign-in answered %d %s", code, body)
	}
	if code, _, _ := b.ask(t, "GET", "/panel/", nil); code != http.StatusOK {
		t.Fatalf("signed in, the overview answers %d", code)
	}
}

var workPages = []string{"/panel/sessions", "/panel/jobs", "/panel/automations", "/panel/artifacts", "/panel/contexts", "/panel/people",
	"/panel/memory", "/panel/sources", "/panel/knowledge",
	"/panel/setup", "/panel/copies",
	"/panel/models", "/panel/board", "/panel/spaces"}

var everyPage = []string{"/panel/", "/panel/approvals", "/panel/journal", "/panel/journal/1", "/panel/journal/1/proof",
	"/panel/journal/1/receipt", "/panel/journal/verify",
	"/panel/actors", "/panel/actors/act_owner", "/panel/policy", "/panel/resources", "/panel/repos", "/panel/system", "/panel/passkeys/new",
	"/panel/find",
	"/panel/live"}

// Nobody but a signed-in browser sees a page, under whatever name and with
// whatever credential; and what a browser gets is locked down.
func TestOnlyASignedInBrowserSeesPages(t *testing.T) {
	h := startHouse(t)
	stranger, owner := h.browser(t), h.browser(t)
	owner.signIn(t)
	for _, page := range append(workPages, everyPage...) {
		for name, headers := range map[string][]string{
			"a stranger":       nil,
			"an agent's token": {"Authorization: Bearer " + h.agent},
			"a made-up cookie": {"Cookie: tandem_session=tdc_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
		} {
			code, body, _ := stranger.ask(t, "GET", page, nil, headers...)
			if code != http.StatusUnauthorized || strings.Contains(body, "side-group") {
				t.Errorf("%s: %s got %d", page, name, code)
			}
		}
		if code, _, _ := owner.ask(t, "GET", page, nil, "Host: evil.example"); code != http.StatusForbidden &&
			code != http.StatusMisdirectedRequest {
			t.Errorf("%s: under a stranger's name it answers %d", page, code)
		}
		if page == "/panel/live" {
			continue
		}
		code, body, head := owner.ask(t, "GET", page, nil)
		if code != http.StatusOK {
			t.Errorf("%s: the owner got %d %s", page, code, body)
		}
		for name, want := range map[string]string{"Content-Security-Policy": csp, "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff",
			"Cache-Control": "no-store"} {
			if got := head.Get(name); got != want {
				t.Errorf("%s: %s is %q", page, name, got)
			}
		}
	}
	if strings.Contains(csp, "unsafe") || !strings.Contains(csp, "default-src 'none'") {
		t.Errorf("the content security policy is %q", csp)
	}
	res, err := h.sock.Get("http://tandem/panel/")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusNotFound {
		t.Errorf("the control socket answers %d for the panel", res.StatusCode)
	}
}

// A page of another origin can send the browser's cookie along; it changes
// nothing by it.
func TestAnotherOriginChangesNothing(t *testing.T) {
	h := startHouse(t)
	b := h.browser(t)
	b.signIn(t)
	put := url.Values{"key": {"planted"}, "value": {`"x"`}}
	for _, headers := range [][]string{
		{"Sec-Fetch-Site: cross-site", "Origin: http://evil.example"},
		{"Sec-Fetch-Site: same-site", "Origin: http://tandem.localhost:8080"},
		{"Origin: http://tandem.localhost:8080"},
		{"Origin: null"},
	} {
		for _, path := range []string{"/panel/resources", "/panel/approvals/ask_x/decide", "/panel/approvals/ask_x/decide/challenge",
			"/panel/tokens", "/panel/signout", "/signin"} {
			if code, _, _ := b.ask(t, "POST", path, put, headers...); code != http.StatusForbidden {
				t.Errorf("%s with %v answers %d", path, headers, code)
			}
		}
	}
	if _, body, _ := b.ask(t, "GET", "/panel/resources", nil); strings.Contains(body, "planted") {
		t.Error("another origin planted a key")
	}
	same := []string{"Sec-Fetch-Site: same-origin", "Origin: " + h.base}
	if code, _, head := b.ask(t, "POST", "/panel/resources", put, same...); code != http.StatusSeeOther ||
		!strings.Contains(head.Get("Location"), "key=planted") {
		t.Errorf("the panel's own form answers %d", code)
	}
	if _, body, _ := b.ask(t, "GET", "/panel/?said=Send+your+PIN+to+evil.example", nil); strings.Contains(body, "evil.example") {
		t.Error("a link put words into the panel's mouth")
	}
}

// A sign-in link works once, a signed-out browser is a stranger, and the
// cookie is out of reach of scripts and other sites.
func TestSignIn(t *testing.T) {
	h := startHouse(t)
	b, late := h.browser(t), h.browser(t)
	code := h.code(t)
	if status, body, head := b.ask(t, "GET", "/signin?code="+code, nil); status != 200 || !strings.Contains(body, "Sign this browser in") ||
		head.Get("Set-Cookie") != "" {
		t.Errorf("looking at a link answers %d", status)
	}
	_, _, head := b.ask(t, "POST", "/signin", url.Values{"code": {code}})
	cookie := head.Get("Set-Cookie")
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie %q lacks %s", cookie, want)
		}
	}
	if status, body, _ := late.ask(t, "POST", "/signin", url.Values{"code": {code}}); status != http.StatusUnauthorized ||
		!strings.Contains(body, "used already") {
		t.Errorf("a link worked twice: %d", status)
	}
	value, _, _ := strings.Cut(strings.TrimPrefix(cookie, "tandem_session="), ";")
	if status, _, _ := b.ask(t, "POST", "/panel/signout", url.Values{}); status != http.StatusSeeOther {
		t.Errorf("signing out answers %d", status)
	}
	if status, _, _ := late.ask(t, "GET", "/panel/", nil, "Cookie: tandem_session="+value); status != http.StatusUnauthorized {
		t.Errorf("a signed-out cookie answers %d", status)
	}
}

// The stream names what changed, at once, and continues where it broke off.
func TestLiveNamesWhatChanged(t *testing.T) {
	h := startHouse(t)
	b := h.browser(t)
	b.signIn(t)
	topic := func(last string) (id, nouns string) {
		t.Helper()
		req, err := http.NewRequest("GET", h.near+"/panel/live", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = strings.TrimPrefix(h.base, "http://")
		if last != "" {
			req.Header.Set("Last-Event-ID", last)
		}
		res, err := b.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		end := time.AfterFunc(10*time.Second, func() { res.Body.Close() })
		defer end.Stop()
		lines := bufio.NewScanner(res.Body)
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch {
			case name == "id":
				id = value
				if last == "" {
					last = id
					h.do(t, "resource.put", "", map[string]any{"key": "a", "value": 1})
				}
			case name == "data":
				return id, value
			}
		}
		t.Fatal("the stream ended without a word")
		return "", ""
	}
	id, nouns := topic("")
	if nouns != "resource" {
		t.Errorf("the stream says %q, want resource", nouns)
	}
	h.do(t, "actor.add", testPIN, map[string]any{"name": "second", "kind": "agent"})
	if _, nouns := topic(id); nouns != "actor" {
		t.Errorf("behind %s the stream says %q, want actor", id, nouns)
	}
}
