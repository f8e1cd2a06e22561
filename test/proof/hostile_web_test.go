package proof

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"tandem/internal/client"
)

// browser is somebody's browser that is signed in to the panel, and lets a page
// send any request that browsers let pages send.
type browser struct {
	s      *server
	cookie *http.Cookie
}

func signedIn(t *testing.T, s *server) *browser {
	t.Helper()
	var link struct{ Code string }
	if err := client.Socket(s.data+"/tandem.sock").Call(t.Context(), "signin.link", nil, &link); err != nil {
		t.Fatal(err)
	}
	b := &browser{s: s}
	resp := b.send(t, "POST", "/signin", url.Values{"code": {link.Code}}.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	for _, c := range resp.Cookies() {
		b.cookie = c
	}
	if b.cookie == nil || !b.cookie.HttpOnly || b.cookie.SameSite != http.SameSiteStrictMode {
		t.Fatalf("signing in: %d, cookie %v", resp.StatusCode, b.cookie)
	}
	return b
}

// send sends a request with the cookie, whatever the cookie's own rules say: a
// page on another port of the same name is the same site to a browser.
func (b *browser) send(t *testing.T, method, path, body string, header ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequest(method, b.s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if b.cookie != nil {
		req.AddCookie(b.cookie)
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// A hostile page in the person's browser tries rebinding, forged requests and
// the cookie of another port, on every route of the OpenAPI document and of the
// panel. Nothing changes, and it reads nothing.
func TestHostileWebPage(t *testing.T) {
	s := newServer(t).start()
	b := signedIn(t, s)
	if resp := b.send(t, "GET", "/panel/", ""); resp.StatusCode != 200 {
		t.Fatalf("the panel with its cookie: %d", resp.StatusCode)
	}
	before := s.as(s.token, "GET", "/resource", nil).String()
	paths := routesOf(t, s)
	port := s.url[strings.LastIndex(s.url, ":"):]
	for _, r := range paths {
		method, path, _ := strings.Cut(r, " ")
		// Rebinding: the page's own name now points at 127.0.0.1, and to the browser it is the same origin. A page on another
		// port of our own names is another origin, too: a passkey that answered it must not count here.
		for _, host := range []string{"tandem.localhost:9", "localhost:9", "127.0.0.1:9", "tandem.localhost", "127.0.0.1", "evil.example" + port,
			"evil.example", "tandem.localhost.evil.example" + port, "127.0.0.1.evil.example" + port, "192.168.7.7" + port} {
			resp := b.send(t, method, path, "{}", "Host", host, "Content-Type", "application/json", "Sec-Fetch-Site", "same-origin", "Origin",
				"http://"+host)
			if resp.StatusCode < 400 {
				t.Errorf("rebinding: %s answers to the name %s with %d", r, host, resp.StatusCode)
			}
		}
		if method == "GET" {
			resp := b.send(t, method, path, "", "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors")
			if h := resp.Header.Get("Access-Control-Allow-Origin"); h != "" {
				t.Errorf("%s lets %q read its answer", r, h)
			}
			continue
		}
		// Forged: another site, another port of this very name, a form, a page without an origin.
		for name, header := range map[string][]string{
			"another site":             {"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"},
			"another port":             {"Origin", "http://tandem.localhost:9", "Sec-Fetch-Site", "same-site"},
			"another port, old":        {"Origin", "http://127.0.0.1:9"},
			"a sandboxed frame":        {"Origin", "null"},
			"a form of another site":   {"Origin", "https://evil.example", "Content-Type", "text/plain"},
			"a form without an origin": {"Sec-Fetch-Site", "cross-site", "Content-Type", "application/x-www-form-urlencoded"},
		} {
			resp := b.send(t, method, path, `{"value":1}`, header...)
			if resp.StatusCode < 400 {
				t.Errorf("%s by %s: %d", r, name, resp.StatusCode)
			}
		}
	}
	if after := s.as(s.token, "GET", "/resource", nil).String(); after != before {
		t.Errorf("something changed:\n%s", after)
	}
	t.Logf("%d routes", len(paths))
}

// Deciding never rests on the cookie alone, not even from the panel itself.
func TestCookieIsNotPresence(t *testing.T) {
	s := newServer(t).start()
	a := newAsking(s)
	c := &asked{key: "asked/by-agent"}
	if err := a.advance(t.Context(), c); err != nil || c.id == "" {
		t.Fatalf("%+v: %v", c, err)
	}
	b := signedIn(t, s)
	for _, r := range []string{"/approval/" + c.id + "/decide", "/op/approval.decide", "/token", "/grant", "/op/token.new", "/op/policy.edit",
		"/op/audit.export", "/op/actor.disable"} {
		resp := b.send(t, "POST", r, `{"id":"`+c.id+`","decision":"approve"}`, "Content-Type", "application/json", "Origin", s.url,
			"Sec-Fetch-Site", "same-origin")
		if resp.StatusCode < 400 {
			t.Errorf("POST %s with the cookie alone: %d", r, resp.StatusCode)
		}
	}
	// What a program of the user must ask for, a program that fetched itself a sign-in link does not get either.
	resp := b.send(t, "POST", "/repo/project/git_push", `{"bookmarks":["main"]}`, "Content-Type", "application/json", "Origin", s.url,
		"Sec-Fetch-Site", "same-origin")
	if resp.StatusCode != 403 {
		t.Errorf("git push with the cookie alone: %d", resp.StatusCode)
	}
	if got := s.as(s.token, "GET", "/approval/"+c.id, nil).json(t); got["state"] != "pending" {
		t.Errorf("the ask is %v", got["state"])
	}
}

// Pages carry no script of their own and cannot be framed.
func TestPanelHeaders(t *testing.T) {
	s := newServer(t).start()
	b := signedIn(t, s)
	for _, path := range []string{"/panel/", "/signin", "/panel/resources", "/panel/journal"} {
		resp := b.send(t, "GET", path, "")
		csp := resp.Header.Get("Content-Security-Policy")
		if strings.Contains(csp, "unsafe-inline") || strings.Contains(csp, "unsafe-eval") || !strings.Contains(csp, "default-src") ||
			!strings.Contains(csp, "frame-ancestors 'none'") {
			t.Errorf("%s (%d) has the policy %q", path, resp.StatusCode, csp)
		}
		if referrer := resp.Header.Get("Referrer-Policy"); resp.Header.Get("X-Content-Type-Options") != "nosniff" || referrer != "no-referrer" &&
			referrer != "same-origin" {
			t.Errorf("%s: %v", path, resp.Header)
		}
	}
}

var wildcard = regexp.MustCompile(`\{[^}]*\}`)

// routesOf is every route of the OpenAPI document and of the panel.
func routesOf(t testing.TB, s *server) []string {
	t.Helper()
	doc := s.as(s.token, "GET", "/openapi.json", nil).json(t)
	all := []string{"POST /mcp", "GET /panel/", "GET /panel/resources", "GET /panel/approvals", "POST /signin", "POST /panel/signout"}
	for path, methods := range doc["paths"].(map[string]any) {
		for method := range methods.(map[string]any) {
			if path == "/global/health" || path == "/health" {
				continue
			}
			if path == "/event" || strings.HasSuffix(path, "/wait") {
				continue // its answer takes its time
			}
			all = append(all, strings.ToUpper(method)+" "+wildcard.ReplaceAllString(path, "x1"))
		}
	}
	if len(all) < 20 {
		t.Fatalf("only %d routes", len(all))
	}
	return all
}
