package proof

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"tandem/internal/provider/scripted"
	"tandem/internal/testenv"
)

// consent is a person with a browser: signed in, they open the address that a program sent them to, read which program it is,
// type the PIN, and are sent back. It returns where to.
func (s *server) consent(address string, pin string) (*url.URL, error) {
	s.t.Helper()
	browser, err := s.browser()
	if err != nil {
		return nil, err
	}
	page, err := browser.Get(address)
	if err != nil {
		return nil, err
	}
	text, _ := io.ReadAll(page.Body)
	page.Body.Close()
	panel := s.url
	if near := regexp.MustCompile(`href="(http://t-[a-z0-9]+\.localhost:\d+)(/oauth/authorize\?[^"]+)"`).FindSubmatch(text); near != nil {
		panel = string(near[1])
		if page, err = browser.Get(panel + strings.ReplaceAll(string(near[2]), "&amp;", "&")); err != nil {
			return nil, err
		}
		text, _ = io.ReadAll(page.Body)
		page.Body.Close()
	}
	next := regexp.MustCompile(`href="(/panel/connect\?[^"]+)"`).FindSubmatch(text)
	if next == nil {
		return nil, fmt.Errorf("the page behind %s leads nowhere: %.400s", address, text)
	}
	form := panel + strings.ReplaceAll(string(next[1]), "&amp;", "&")
	if page, err = browser.Get(form); err != nil {
		return nil, err
	}
	text, _ = io.ReadAll(page.Body)
	page.Body.Close()
	if !bytes.Contains(text, []byte("Its answer goes to")) {
		return nil, fmt.Errorf("nobody is asked: %d %.400s", page.StatusCode, text)
	}
	done, err := browser.PostForm(form, url.Values{"pin": {pin}})
	if err != nil {
		return nil, err
	}
	text, _ = io.ReadAll(done.Body)
	done.Body.Close()
	_, back, ok := strings.Cut(done.Header.Get("Refresh"), "url=")
	if !ok {
		return nil, fmt.Errorf("not sent back: %d %s", done.StatusCode, text)
	}
	return url.Parse(back)
}

// browser is one that is signed in to the panel, where tandem panel open leads. Like every browser it knows by itself where names
// under localhost are.
func (s *server) browser() (*http.Client, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	browser := &http.Client{Jar: jar, Timeout: 20 * time.Second,
		Transport: &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if host, port, err := net.SplitHostPort(addr); err == nil && strings.HasSuffix(host, ".localhost") {
				addr = net.JoinHostPort("127.0.0.1", port)
			}
			return (&net.Dialer{}).DialContext(ctx, network, addr)
		}}}
	near, err := s.socket().Post("http://tandem/op/signin.link", "application/json", strings.NewReader("{}"))
	if err != nil {
		return nil, err
	}
	var link struct{ Code string }
	err = json.NewDecoder(near.Body).Decode(&link)
	near.Body.Close()
	if err != nil {
		return nil, err
	}
	panel, err := s.panel()
	if err != nil {
		return nil, err
	}
	resp, err := browser.PostForm(panel+"/signin", url.Values{"code": {link.Code}})
	if err != nil {
		return nil, err
	}
	return browser, resp.Body.Close()
}

// panel is the panel's own address.
func (s *server) panel() (string, error) {
	resp, err := s.socket().Post("http://tandem/op/server.status", "application/json", strings.NewReader("{}"))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var st struct{ Panel string }
	err = json.NewDecoder(resp.Body).Decode(&st)
	return st.Panel, err
}

// newAuthorized starts a server whose owner has a PIN.
func newAuthorized(t *testing.T, env ...string) *server {
	t.Helper()
	s := newServer(t)
	s.env = append(s.env, env...)
	s.start()
	body, _ := json.Marshal(map[string]string{"pin": pin})
	resp, err := s.socket().Post("http://tandem/op/pin.set", "application/json", bytes.NewReader(body))
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("set a PIN: %v %v", resp, err)
	}
	resp.Body.Close()
	return s
}

// kept collects what goes over the wire, so that a test can look for it in logs afterwards.
type kept struct {
	mu     sync.Mutex
	tokens []string
	id     string // of the program, as it was registered
}

func (k *kept) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || !strings.HasPrefix(r.URL.Path, "/oauth/") {
		return resp, err
	}
	data, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(data))
	var t struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
		ID      string `json:"client_id"`
	}
	if json.Unmarshal(data, &t) == nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		if t.ID != "" {
			k.id = t.ID
		}
		if t.Access != "" {
			k.tokens = append(k.tokens, t.Access, t.Refresh)
		}
	}
	return resp, err
}

// People are signed in at the panel's name, which few programs can resolve; programs know 127.0.0.1, where the consent page said
// "not signed in", and the answer then named another issuer than the one they had found.
//
// The Go SDK's own OAuth client connects with nothing but the address: it discovers, registers, a person consents, it calls a
// tool. Its tokens work here alone, rotate, and are in no log; without the person's PIN there are none.
func TestOAuthWithTheGoSDK(t *testing.T) {
	s := newAuthorized(t)
	wire := &kept{}
	client := &http.Client{Transport: wire}
	refused := ""
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{ClientName: "Go SDK",
			RedirectURIs: []string{"http://127.0.0.1:1/callback"}, GrantTypes: []string{"authorization_code", "refresh_token"}}},
		Client: client,
		AuthorizationCodeFetcher: func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			if _, err := s.consent(args.URL, "000000"); err != nil {
				refused = err.Error()
			}
			back, err := s.consent(args.URL, pin)
			if err != nil {
				return nil, err
			}
			q := back.Query()
			if q.Get("iss") != s.url {
				t.Errorf("the answer comes from %q, and the issuer is %s", q.Get("iss"), s.url)
			}
			return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := mcp.NewClient(&mcp.Implementation{Name: "proof", Version: "1"}, nil).Connect(ctx,
		&mcp.StreamableClientTransport{Endpoint: s.url + "/mcp", HTTPClient: client, OAuthHandler: handler}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if !strings.Contains(refused, "the PIN is wrong") {
		t.Errorf("a wrong PIN: %q", refused)
	}
	info := conn.InitializeResult()
	if !strings.Contains(info.Instructions, `"start tandem"`) || !strings.Contains(info.Instructions, `"check"`) ||
		len(info.ServerInfo.Icons) == 0 || !strings.HasPrefix(info.ServerInfo.Icons[0].Source, "data:image/png;base64,") {
		t.Errorf("server info: %+v", info)
	}
	tools, err := conn.ListTools(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, x := range tools.Tools {
		names[x.Name] = true
	}
	for _, want := range []string{"open_session", "list_sessions", "send_to_session", "interrupt_session", "close_session", "relay"} {
		if !names[want] {
			t.Errorf("there is no tool %s", want)
		}
	}
	res, err := conn.CallTool(ctx, &mcp.CallToolParams{Name: "list_sessions", Arguments: map[string]any{}})
	if err != nil || res.IsError {
		t.Errorf("list_sessions: %+v %v", res, err)
	}

	wire.mu.Lock()
	tokens := append([]string{}, wire.tokens...)
	wire.mu.Unlock()
	if len(tokens) < 2 {
		t.Fatalf("%d tokens", len(tokens))
	}
	// An OAuth token is no secret for URLs, and can neither decide nor administer.
	for path, want := range map[string]int{"/" + tokens[0] + "/mcp": 403, "/mcp?token=" + tokens[0]: 403} {
		if a, err := s.try(ctx, "", "POST", path, map[string]any{"jsonrpc": "2.0", "id": 1, "method": "ping"}, "Accept",
			"application/json, text/event-stream"); err != nil || a.status != want {
			t.Errorf("an OAuth token in the URL: %d %s %v", a.status, a.body, err)
		}
	}
	if a := s.as(tokens[0], "POST", "/op/token.list", map[string]any{}); a.status == 200 && bytes.Contains(a.body, []byte("tok_api")) {
		t.Errorf("it lists tokens: %s", a.body)
	}
	for _, log := range []string{s.log.String(), read(filepath.Join(s.data, "tandem.log")), s.must("audit", "log", "--json")} {
		for _, secret := range tokens {
			if strings.Contains(log, secret) {
				t.Error("a token is in a log")
			}
		}
	}
	// A refresh token works once; a second use burns all of that program's.
	refresh := func(token string) (a answer, access, next string) {
		resp, err := http.PostForm(s.url+"/oauth/token",
			url.Values{"grant_type": {"refresh_token"}, "client_id": {wire.id}, "refresh_token": {token}})
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		data, _ := io.ReadAll(resp.Body)
		var out struct {
			Access  string `json:"access_token"`
			Refresh string `json:"refresh_token"`
		}
		_ = json.Unmarshal(data, &out)
		return answer{resp.StatusCode, data}, out.Access, out.Refresh
	}
	may := func(token string) int { return s.as(token, "POST", "/op/session.live", map[string]any{}).status }
	a, second, next := refresh(tokens[1])
	if a.status != 200 || second == "" || second == tokens[0] || may(second) != 200 {
		t.Fatalf("refresh: %d %s", a.status, a.body)
	}
	a, third, _ := refresh(next)
	if a.status != 200 || may(third) != 200 {
		t.Fatalf("refresh again: %d %s", a.status, a.body)
	}
	if resp, err := http.PostForm(s.url+"/oauth/revoke", url.Values{"token": {second}}); err != nil || resp.StatusCode != 200 ||
		may(second) != 401 || may(third) != 200 {
		t.Errorf("revoke one token: %v %v, it may %d, the other %d", resp, err, may(second), may(third))
	}
	if again, _, _ := refresh(tokens[1]); again.status != 400 {
		t.Errorf("a refresh token worked twice: %d %s", again.status, again.body)
	}
	if n := may(third); n != 401 {
		t.Errorf("after a refresh token was used twice its program may still: %d", n)
	}
}

// The real Claude Code is told the address and nothing else: claude mcp add --transport http, claude mcp login, and it is
// connected. Then it does what a chat app does: it opens a session of another Claude Code at the server and has it answer.
func TestOAuthWithClaudeCode(t *testing.T) {
	model := &scripted.Server{}
	if err := model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	claude, home := testenv.Tool(t, "claude"), testenv.Dir(t)
	scriptedBy := []string{"ANTHROPIC_BASE_URL=" + model.URL(), "ANTHROPIC_AUTH_TOKEN=dummy", "CLAUDE_CODE_MAX_RETRIES=1"}
	quiet := []string{"DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "IS_SANDBOX=1"}
	sock := filepath.Join(testenv.Dir(t), "tmux.sock")
	own := []string{"TANDEM_CLAUDE=" + claude, "TANDEM_PROBE=0", "TANDEM_TMUX_SOCKET=" + sock}
	s := newAuthorized(t, slices.Concat(own, scriptedBy, quiet)...)
	t.Cleanup(func() { testenv.EndTerminals(sock) })
	project := filepath.Join(s.home, "code")
	seen := []byte(`{"hasCompletedOnboarding":true}`)
	if err := errors.Join(os.Mkdir(project, 0o700), os.WriteFile(filepath.Join(s.home, ".claude.json"), seen, 0o600)); err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=xterm-256color", "DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "IS_SANDBOX=1", "BROWSER=true"}
	run := func(args ...string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, claude, args...)
		cmd.Env, cmd.Dir = env, home
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Logf("claude %v: %v", args, err)
		}
		return string(out)
	}
	if out := run("mcp", "add", "--transport", "http", "tandem", s.url+"/mcp"); !strings.Contains(out, "tandem") {
		t.Fatalf("add: %s", out)
	}
	if out := run("mcp", "list"); !strings.Contains(out, "Needs authentication") {
		t.Errorf("before: %s", out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, claude, "mcp", "login", "--no-browser", "tandem")
	cmd.Env, cmd.Dir = env, home
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 2000}) // an address on one line
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	var shown lockedBuffer
	go io.Copy(&shown, tty)
	address := regexp.MustCompile(regexp.QuoteMeta(s.url) + `/oauth/authorize\?[^\s\x1b]+`)
	var found string
	since := time.Now()
	whole := func() bool { // it comes in pieces
		if now := address.FindString(shown.String()); now != found {
			found, since = now, time.Now()
		}
		return found != "" && time.Since(since) > 300*time.Millisecond
	}
	if !testenv.Within(time.Minute, whole) {
		t.Fatalf("claude showed no address: %q", shown.String())
	}
	back, err := s.consent(found, pin)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(tty, "%s\r", back)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("login: %v %q", err, shown.String())
	}
	if out := run("mcp", "list"); !strings.Contains(out, "Connected") {
		t.Errorf("after: %s\nlogin said: %q", out, shown.String())
	}
	// The connector's token in the URL, as for chat apps that know no OAuth.
	if out := s.must("token", "list"); !strings.Contains(out, "claude") {
		t.Errorf("no token names the program: %s", out)
	}
	env = append(env, scriptedBy...)
	said := run("-p", fmt.Sprintf(`go [[tool mcp__tandem__open_session {"name":"s1","cwd":%q}]] [[tool mcp__tandem__send_to_session `+
		`{"name":"s1","text":"hello from the chat"}]] [[result]]`,
		project), "--allowedTools", "mcp__tandem__open_session,mcp__tandem__send_to_session")
	if !strings.Contains(said, "hello from the chat") || !strings.Contains(said, "done") {
		t.Errorf("the chat drove no session: %s", said)
	}
	if out := s.must("session", "live"); !strings.Contains(out, "s1") {
		t.Errorf("the session is not here: %s", out)
	}
	s.must("session", "close", "s1")
}

// The connector's token drives sessions and no more; a person takes it back, and then it is dead, also after a restart: the
// next one is another.
func TestARevokedConnectorStaysRevoked(t *testing.T) {
	s := newAuthorized(t)
	owner := func(name string, in any) []byte {
		t.Helper()
		body, _ := json.Marshal(in)
		req, err := http.NewRequest("POST", "http://tandem/op/"+name, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Tandem-Pin", pin)
		resp, err := s.socket().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		data, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != 200 {
			t.Fatalf("%s: %d %s", name, resp.StatusCode, data)
		}
		return data
	}
	token := func() string {
		var out struct{ Value string }
		if err := json.Unmarshal(owner("secret.unmask", map[string]any{"name": "token/connector"}), &out); err != nil || out.Value == "" {
			t.Fatalf("unmask: %v", err)
		}
		return out.Value
	}
	knock := func(token string) int {
		a, err := s.rpc("", []byte(hello))
		if err != nil || a.status != 401 {
			t.Fatalf("a stranger: %d %v", a.status, err)
		}
		if a, err = s.rpc(token, []byte(hello)); err != nil {
			t.Fatal(err)
		}
		return a.status
	}
	old := token()
	if n := knock(old); n != 200 {
		t.Fatalf("the connector's token: %d", n)
	}
	for _, name := range []string{"approval.decide", "token.new", "grant.add", "setting.set", "tunnel.share", "secret.unmask"} {
		if a := s.as(old, "POST", "/op/"+name, map[string]any{}); a.status < 400 {
			t.Errorf("the connector may %s: %d %s", name, a.status, a.body)
		}
	}
	owner("token.revoke", map[string]any{"id": "tok_connector"})
	if n := knock(old); n != 401 {
		t.Errorf("revoked: %d", n)
	}
	s.stop()
	s.start()
	if n := knock(old); n != 401 {
		t.Errorf("revoked, after a restart: %d", n)
	}
	fresh := token()
	if fresh == old || knock(fresh) != 200 {
		t.Error("there is no new one")
	}
}

// A program that came through the tunnel is consented to on the machine itself, and gets an answer that names the public
// address it knows.
func TestOAuthThroughATunnel(t *testing.T) {
	x := newShared(t, map[string]string{"cloudflared": standInCloudflared})
	body, _ := json.Marshal(map[string]string{"pin": pin})
	if resp, err := x.socket().Post("http://tandem/op/pin.set", "application/json", bytes.NewReader(body)); err != nil ||
		resp.StatusCode != 200 {
		t.Fatalf("set a PIN: %v %v", resp, err)
	}
	shared := x.share("--mode", "quick")
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "A chat app", RedirectURIs: []string{"https://chat.example/callback"}}},
		Client: x.client,
		AuthorizationCodeFetcher: func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			status, page := x.do(t, "GET", args.URL, "", "")
			near := regexp.MustCompile(`href="http://t-[a-z0-9]+\.localhost:\d+(/oauth/authorize\?[^"]+)"`).FindStringSubmatch(page)
			if status != 200 || near == nil {
				return nil, fmt.Errorf("the public page: %d %.600s", status, page)
			}
			back, err := x.consent(x.url+strings.ReplaceAll(near[1], "&amp;", "&"), pin)
			if err != nil {
				return nil, err
			}
			q := back.Query()
			return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := mcp.NewClient(&mcp.Implementation{Name: "proof", Version: "1"}, nil).Connect(ctx,
		&mcp.StreamableClientTransport{Endpoint: shared.URL + "/mcp", HTTPClient: x.client, OAuthHandler: handler}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if res, err := conn.CallTool(ctx, &mcp.CallToolParams{Name: "list_sessions", Arguments: map[string]any{}}); err != nil || res.IsError {
		t.Errorf("list_sessions: %+v %v", res, err)
	}
}
