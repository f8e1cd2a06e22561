package proof

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// outside is the world beyond a tunnel, on loopback: a proxy that answers for every https host with a certificate of its own
// and hands the request to the server behind the tunnel, as Cloudflare's and Tailscale's edges do.
type outside struct {
	proxy  string
	ca     string
	client *http.Client
}

func newOutside(t *testing.T, to func() string) *outside {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "outside"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		DNSNames: []string{"*.trycloudflare.com", "box.tail1234.ts.net"}}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	o := &outside{ca: filepath.Join(t.TempDir(), "ca.pem")}
	if err := os.WriteFile(o.ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	edge := &http.Server{Handler: &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: to()})
		r.SetXForwarded()
		r.Out.Host = r.In.Host // tailscaled finds the funnel by the name in TLS and passes on whatever Host says
	}, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0)}}
	config := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tunnelled := make(chan net.Conn)
	front := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		c, _, err := http.NewResponseController(w).Hijack() // before the answer: what comes after it is not HTTP, and nobody else may read it
		if err != nil {
			return
		}
		if _, err := io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n"); err == nil {
			tunnelled <- tls.Server(c, config)
		}
	})}
	go front.Serve(l)                                      //nolint:errcheck // ends with the test
	go edge.Serve(conns{tunnelled, l.Addr(), t.Context()}) //nolint:errcheck // ends with the test
	t.Cleanup(func() { front.Close(); edge.Close() })
	o.proxy = "http://" + l.Addr().String()
	via, _ := url.Parse(o.proxy)
	cert, _ := x509.ParseCertificate(der)
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	o.client = &http.Client{Timeout: 20 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     &http.Transport{Proxy: http.ProxyURL(via), TLSClientConfig: &tls.Config{RootCAs: pool}}}
	return o
}

// conns is a listener over connections that somebody else accepted.
type conns struct {
	c    chan net.Conn
	addr net.Addr
	test context.Context // ends before the test's cleanups
}

func (l conns) Accept() (net.Conn, error) {
	select {
	case c := <-l.c:
		return c, nil
	case <-l.test.Done():
		return nil, net.ErrClosed
	}
}
func (l conns) Close() error   { return nil }
func (l conns) Addr() net.Addr { return l.addr }

func (o *outside) do(t *testing.T, method, address, token, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := o.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data)
}

// The stand-ins speak as the real programs do: cloudflared prints its address among log lines on standard error and stays;
// tailscale answers status as JSON, waits for ever when the tailnet does not allow Funnel, and keeps a background funnel.
const standInCloudflared = `#!/bin/sh
echo "$@" >> "$STANDIN/cloudflared.args"
echo "2026-11-15T10:00:00Z INF Requesting new quick Tunnel on trycloudflare.com... https://api.trycloudflare.com" >&2
n=$(wc -l < "$STANDIN/cloudflared.args"); n=$(echo $n)
echo "2026-11-15T10:00:01Z INF |  https://quick-words-$n.trycloudflare.com  |" >&2
while :; do sleep 1; done
`

const standInTailscale = `#!/bin/sh
echo "$@" >> "$STANDIN/tailscale.args"
how=$(cat "$STANDIN/how")
case "$1 $2" in
"status --json")
	case $how in
	logged-out) echo '{"BackendState":"NeedsLogin","Self":{}}'; exit 1 ;;
	no-https) echo '{"BackendState":"Running","CertDomains":null,"Self":{"DNSName":"box.tail1234.ts.net."}}' ;;
	store) echo "The Tailscale App Store build is sandboxed" >&2; exit 1 ;;
	*) echo '{"BackendState":"Running","CertDomains":["box.tail1234.ts.net"],"Self":{"DNSName":"box.tail1234.ts.net."}}' ;;
	esac ;;
"funnel status")
	ours=""
	if [ -f "$STANDIN/funnel" ]; then ours=$(printf ',"box.tail1234.ts.net:8443":{"Handlers":{"/":{"Proxy":"http://127.0.0.1:%s"}}}' ` +
	`"$(cat "$STANDIN/funnel")"); fi
	echo '{"TCP":{"443":{"HTTPS":true}},"Web":{"box.tail1234.ts.net:443":{"Handlers":{"/":{"Proxy":"http://127.0.0.1:3000"}}}'"$ours"'}}' ;;
"funnel --yes") [ "$3 $4 $5" = "--https=8443 --set-path=/ off" ] && rm -f "$STANDIN/funnel" ;;
"funnel reset") exit 1 ;;
"funnel --bg")
	case $how in
	no-funnel) echo "Funnel is not enabled on your tailnet."; echo "To enable, visit:"; echo; ` +
	`echo "         https://login.tailscale.com/f/funnel?node=nABC123"; exec sleep 600 ;;
	shields) echo "Unable to turn on Funnel while shields-up is enabled" >&2; exit 1 ;;
	esac
	[ "$4" = --https=8443 ] || exit 1 # the person serves something of their own at 443
	echo "$5" > "$STANDIN/funnel"; echo "Available on the internet:" ;;
esac
`

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"n` +
	`ame":"chat","version":"1"}}}`

// shared is a server in a world with stand-ins.
type shared struct {
	*server
	*outside
	stand string
	t     *testing.T
}

func newShared(t *testing.T, programs map[string]string) *shared {
	t.Helper()
	s := newServer(t)
	x := &shared{server: s, stand: t.TempDir(), t: t}
	x.outside = newOutside(t, x.leadsTo)
	for name, text := range programs {
		if err := os.WriteFile(filepath.Join(x.stand, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	x.how("fine")
	s.env = append(s.env, "PATH="+x.stand+":"+os.Getenv("PATH"), "STANDIN="+x.stand, "HTTPS_PROXY="+x.proxy, "SSL_CERT_FILE="+x.ca)
	s.start()
	t.Cleanup(func() { // before the server is killed: nobody would end what it started
		if out, err := x.run("share", "stop"); err != nil {
			t.Errorf("share stop: %v %s", err, out)
		}
	})
	return x
}

// leadsTo is where the tunnel's program was told to lead, last.
func (x *shared) leadsTo() string {
	if port := strings.TrimSpace(read(filepath.Join(x.stand, "funnel"))); port != "" {
		return "127.0.0.1:" + port
	}
	args := strings.Fields(read(filepath.Join(x.stand, "cloudflared.args")))
	if len(args) == 0 {
		return "127.0.0.1:1"
	}
	return strings.TrimPrefix(args[len(args)-1], "http://")
}

func (x *shared) how(word string) {
	if err := os.WriteFile(filepath.Join(x.stand, "how"), []byte(word), 0o600); err != nil {
		x.t.Fatal(err)
	}
}

type shareOut struct {
	Mode, State, URL, Connector, Reason string
	MCP                                 string `json:"mcp_url"`
	PID                                 int
}

func (x *shared) share(args ...string) shareOut {
	x.t.Helper()
	var out shareOut
	text := x.must(append([]string{"share", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(text[strings.Index(text, "{"):]), &out); err != nil {
		x.t.Fatalf("share %v: %q: %v", args, text, err)
	}
	return out
}

func (x *shared) token() string {
	x.t.Helper()
	var c struct{ URL string }
	path := filepath.Join(x.data, "connector.json")
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &c) != nil {
		x.t.Fatalf("%s: %v", data, err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		x.t.Errorf("the connector's file is %v, %v", st.Mode(), err)
	}
	u, err := url.Parse(c.URL)
	if err != nil {
		x.t.Fatal(err)
	}
	return strings.Split(u.Path, "/")[1]
}

// overview is the panel's first page, for a person on this machine.
func (x *shared) overview() string {
	x.t.Helper()
	browser, err := x.browser()
	if err != nil {
		x.t.Fatal(err)
	}
	panel, err := x.panel()
	if err != nil {
		x.t.Fatal(err)
	}
	resp, err := browser.Get(panel + "/panel/")
	if err != nil {
		x.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, _ := io.ReadAll(resp.Body)
	return strings.ReplaceAll(string(data), "<wbr>", "") // where long words may be broken
}

func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}

func (x *shared) eventually(what string, ok func() bool) {
	x.t.Helper()
	testenv.Eventually(x.t, what, 2*time.Minute, ok)
}

// A quick tunnel: the bridge and nothing else is served through it, the token is in no log, a dropped tunnel is told, and no
// program is left behind by a stop or a crash.
func TestShareQuick(t *testing.T) {
	x := newShared(t, map[string]string{"cloudflared": standInCloudflared})
	x.env = append(x.env, "TANDEM_SETUP_MODE=web")
	s := x.share()
	if s.Mode != "quick" || s.URL != "https://quick-words-1.trycloudflare.com" || !alive(s.PID) {
		t.Fatalf("shared %+v", s)
	}
	token := x.token()
	for _, c := range []struct {
		method, path, token, body string
		want                      int
	}{
		{"GET", "/health", "", "", 200}, {"GET", "/icon.png", "", "", 200}, {"GET", "/favicon.ico", "", "", 200},
		{"GET", "/.well-known/oauth-protected-resource", "", "", 200},
		{"POST", "/" + token + "/mcp", "", hello, 200}, {"POST", "/mcp?token=" + token, "", hello, 200}, {"POST", "/mcp", token, hello, 200},
		{"POST", "/mcp", "", hello, 401}, {"POST", "/mcp", "wrong-wrong-wrong-wrong", hello, 401},
		{"GET", "/panel/", "", "", 404}, {"GET", "/", "", "", 404}, {"GET", "/signin", "", "", 404}, {"GET", "/status", apiToken, "", 404},
		{"POST", "/op/server.status", apiToken, "{}", 404}, {"GET", "/openapi.json", apiToken, "", 404},
	} {
		if status, body := x.do(t, c.method, s.URL+c.path, c.token, c.body); status != c.want {
			t.Errorf("%s %s: %d %.200s, want %d", c.method, strings.ReplaceAll(c.path, token, "TOKEN"), status, body, c.want)
		}
	}
	if status, body := x.do(t, "GET", s.URL+"/.well-known/oauth-authorization-server", "", ""); status != 200 ||
		!strings.Contains(body, `"issuer":"`+s.URL+`"`) {
		t.Errorf("metadata through the tunnel: %d %s", status, body)
	}
	if page := x.overview(); !strings.Contains(page, "Shared as") || !strings.Contains(page, s.URL) {
		t.Error("the overview does not say that the bridge is shared")
	}
	if again := x.share("--mode", "quick"); again.URL != s.URL {
		t.Errorf("shared again: %+v", again)
	}

	if err := killGroup(s.PID); err != nil {
		t.Fatal(err)
	}
	x.eventually("the drop is told", func() bool {
		out, _ := x.run("share", "status", "--json")
		log, _ := os.ReadFile(filepath.Join(x.data, "events.log"))
		return strings.Contains(out, `"dropped"`) && strings.Contains(string(log), `"type":"tunnel","status":"dropped"`)
	})
	if status, _ := x.do(t, "GET", s.URL+"/health", "", ""); status != 502 && status != 403 {
		t.Errorf("behind a tunnel that is gone somebody listens: %d", status)
	}
	if page := x.overview(); !strings.Contains(page, "The public address is gone") {
		t.Error("the overview does not say that the address is gone")
	}
	s = x.share()
	if s.URL == "" || s.PID == 0 {
		t.Fatalf("%+v", s)
	}
	x.stop()
	if alive(s.PID) {
		t.Error("the tunnel's program outlived the server")
	}
	x.start()
	if out := x.must("share", "status"); !strings.Contains(out, "nothing is shared (closed: the server stopped)") {
		t.Errorf("after a stop: %s", out)
	}
	s = x.share()
	x.kill9()
	x.start()
	x.eventually("the orphan is ended", func() bool { return !alive(s.PID) })
	s = x.share()
	if out := x.must("share", "stop"); !strings.Contains(out, "nothing is shared") || alive(s.PID) {
		t.Errorf("stop: %s", out)
	}
	for _, log := range []string{x.log.String(), read(filepath.Join(x.data, "tandem.log")), read(filepath.Join(x.data, "events.log")),
		x.must("audit", "log", "--json")} {
		if strings.Contains(log, token) {
			t.Error("the connector's token is in a log")
		}
	}
}

func read(path string) string {
	data, _ := os.ReadFile(path)
	return string(data)
}

// A funnel: what the tailnet does not allow is told with the way to allow it, and the address outlives the server.
func TestShareTailscale(t *testing.T) {
	x := newShared(t, map[string]string{"tailscale": standInTailscale})
	for how, want := range map[string]string{
		"logged-out": "tailscale up", "no-https": "https://login.tailscale.com/admin/dns",
		"no-funnel": "https://login.tailscale.com/f/funnel?node=nABC123",
		"shields":   "--shields-up=false", "store": "brew install --cask tailscale-app",
	} {
		x.how(how)
		if out, err := x.run("share", "--mode", "tailscale"); err == nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v %s, want %q", how, err, out, want)
		}
	}
	x.how("fine")
	s := x.share() // the default
	if s.URL != "https://box.tail1234.ts.net:8443" || read(filepath.Join(x.stand, "funnel")) == "" {
		t.Fatalf("%+v", s)
	}
	x.stop()
	x.start()
	token := x.token()
	if status, body := x.do(t, "POST", s.URL+"/"+token+"/mcp", "", hello); status != 200 {
		t.Errorf("after a restart: %d %s", status, body)
	}
	if again := x.share(); again.MCP != s.MCP {
		t.Errorf("the address changed: %+v", again)
	}
	if out, err := x.run("share", "--mode", "quick"); err == nil || !strings.Contains(out, "tandem share stop") {
		t.Errorf("two at once: %v %s", err, out)
	}
	x.must("share", "stop")
	if _, err := os.Stat(filepath.Join(x.stand, "funnel")); err == nil {
		t.Error("the funnel is still there")
	}
	if status, _ := x.do(t, "GET", s.URL+"/health", "", ""); status != 502 && status != 403 {
		t.Errorf("after stop: %d", status)
	}
}

// Whoever reached the tunnel could say Host: localhost, and then stood before the panel, the API and the door at which machines
// join, as if on this machine. The tunnel has a listener of its own, on which there is nothing but the bridge; and what a
// proxy hands to the panel's own port is refused, because nobody knows who sent it.
func TestATunnelReachesTheBridgeAlone(t *testing.T) {
	x := newShared(t, map[string]string{"tailscale": standInTailscale})
	s := x.share()
	send := func(base, host, method, path string, header ...string) int {
		t.Helper()
		req, err := http.NewRequest(method, base+path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		req.Header.Set("Authorization", "Bearer "+apiToken)
		req.Header.Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		client := x.client
		if base == x.url {
			client = http.DefaultClient // nobody is between
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	main := strings.TrimPrefix(x.url, "http://")
	_, port, _ := strings.Cut(main, ":")
	_, own, _ := strings.Cut(x.leadsTo(), ":")
	if own == port {
		t.Errorf("the tunnel leads to the panel's port %s", port)
	}
	for _, host := range []string{"localhost", "tandem.localhost", "127.0.0.1", main, "localhost:" + port, "127.0.0.1:" + own,
		"box.tail1234.ts.net"} {
		for _, call := range []string{"GET /panel/", "GET /signin", "POST /signin", "POST /join", "GET /status", "GET /openapi.json",
			"POST /op/server.status", "GET /event"} {
			method, path, _ := strings.Cut(call, " ")
			if status := send(s.URL, host, method, path); status != 403 && status != 404 {
				t.Errorf("through the tunnel as %s: %s answers %d", host, call, status)
			}
		}
	}
	for _, header := range []string{"X-Forwarded-For", "Forwarded", "X-Forwarded-Host", "Cf-Connecting-Ip"} {
		if status := send(x.url, main, "GET", "/status", header, "203.0.113.7"); status != 403 {
			t.Errorf("what a proxy hands to the panel's port (%s) is answered %d", header, status)
		}
	}
	if status := send(x.url, main, "GET", "/status"); status != 200 {
		t.Errorf("a program of this machine: %d", status)
	}
}

// A desktop app starts tandem itself; a mode that is none, and programs that are missing, are told.
func TestShareDesktopAndWhatIsMissing(t *testing.T) {
	x := newShared(t, nil)
	s := x.share("--mode", "desktop")
	if !strings.HasSuffix(s.Connector, "desktop-connector.json") || !strings.Contains(read(s.Connector), `"mcp"`) {
		t.Errorf("%+v %s", s, read(s.Connector))
	}
	if st, err := os.Stat(s.Connector); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", st, err)
	}
	x.env = append(x.env, "PATH=/usr/bin:/bin")
	for mode, want := range map[string]string{"quick": "cloudflared is not installed", "tailscale": "tailscale is not installed",
		"pigeon": "use tailscale, quick or desktop"} {
		if out, err := x.run("share", "--mode", mode); err == nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v %s", mode, err, out)
		}
	}
	if out := x.must("share", "status"); !strings.Contains(out, "nothing is shared") {
		t.Error(out)
	}
}
