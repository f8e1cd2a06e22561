package terminal_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/session/terminal"
	"tandem/internal/testenv"
)

// elsewhere stands for Claude Code's issuer behind a proxy, as firms have one: the address itself cannot be changed.
type elsewhere struct {
	mu     sync.Mutex
	n      int
	reused []string
}

func (e *elsewhere) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var in map[string]string
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/v1/oauth/token" || r.Host != "platform.claude.com" {
		http.Error(w, "what", http.StatusNotFound)
		return
	}
	if in["refresh_token"] != fmt.Sprintf("RENEWING-%d", e.n) {
		e.reused = append(e.reused, in["refresh_token"])
		http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
		return
	}
	e.n++
	fmt.Fprintf(w, `{"access_token":"lent-%d","refresh_token":"RENEWING-%d","expires_in":20}`, e.n, e.n)
}

// start serves it, and answers with what leads a program there.
func (e *elsewhere) start(t *testing.T) []string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"platform.claude.com"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	ca := filepath.Join(testenv.Dir(t), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	inner := &conns{in: make(chan net.Conn), done: make(chan struct{})}
	srv := &http.Server{Handler: e, TLSConfig: &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}}
	go srv.ServeTLS(inner, "", "")
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			in := bufio.NewReader(c)
			if r, err := http.ReadRequest(in); err != nil || r.Method != http.MethodConnect {
				c.Close()
				continue
			}
			io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n") //nolint:errcheck // the handshake tells
			select {
			case inner.in <- c:
			case <-inner.done:
				c.Close()
			}
		}
	}()
	t.Cleanup(func() { l.Close(); srv.Close() })
	return []string{"HTTPS_PROXY=http://" + l.Addr().String(), "SSL_CERT_FILE=" + ca}
}

// conns is a listener of connections that somebody else accepted.
type conns struct {
	in   chan net.Conn
	done chan struct{}
	once sync.Once
}

func (c *conns) Accept() (net.Conn, error) {
	select {
	case conn := <-c.in:
		return conn, nil
	case <-c.done:
		return nil, net.ErrClosed
	}
}
func (c *conns) Close() error   { c.once.Do(func() { close(c.done) }); return nil }
func (c *conns) Addr() net.Addr { return &net.TCPAddr{} }

// A sign-in that ran out was said and had to be renewed by hand. It is renewed for the session, once for everybody: the person's file
// has what renews it next, and a running session gets each new access token and nothing else.
func TestASignInIsRenewedForSessions(t *testing.T) {
	t.Parallel()
	issuer := &elsewhere{}
	h := newHouse(t, append(issuer.start(t), "TANDEM_CONFINE=bwrap", "ANTHROPIC_AUTH_TOKEN=dummy")...)
	h.write("home/.claude/.credentials.json", fmt.Sprintf(
		`{"claudeAiOauth":{"accessToken":"lent-0","refreshToken":"RENEWING-0","expiresAt":%d,"scopes":["user:inference"]}}`,
		time.Now().Add(-time.Hour).UnixMilli()))
	var all [2]terminal.Seat
	for i, name := range []string{"a", "b"} {
		h.call("session.open", terminal.OpenIn{Name: name, Cwd: h.project}, &all[i])
	}
	given := func() int {
		issuer.mu.Lock()
		defer issuer.mu.Unlock()
		return issuer.n
	}
	for _, s := range all {
		from := given()
		h.eventually("session "+s.Name+" has a sign-in that was renewed while it ran", func() bool {
			own := h.text(filepath.Join("home", ".tandem", "terminals", s.Session+".home", "state", ".credentials.json"))
			if strings.Contains(own, "RENEWING") {
				t.Fatalf("a session has %s", own)
			}
			now := given()
			return now > from && strings.Contains(own, fmt.Sprintf(`"lent-%d"`, now))
		})
	}
	h.eventually("the person's file has what renews it next", func() bool {
		return strings.Contains(h.text("home/.claude/.credentials.json"), fmt.Sprintf("RENEWING-%d", given()))
	})
	issuer.mu.Lock()
	defer issuer.mu.Unlock()
	if len(issuer.reused) > 0 || issuer.n < 3 {
		t.Errorf("%d renewals, used again: %v", issuer.n, issuer.reused)
	}
}

// Where a sign-in ran out and its issuer refuses to renew it, a session is not opened with a program that asks for a sign-in: the person is
// told when it ran out, why no session gets what renews it, and how to make a token that lasts. With such a token it opens.
func TestATokenThatLastsIsAskedFor(t *testing.T) {
	t.Parallel()
	issuer := &elsewhere{n: 7} // which knows the person's by another name now
	h := newHouse(t, append(issuer.start(t), "TANDEM_CONFINE=bwrap", "ANTHROPIC_AUTH_TOKEN=")...)
	h.write("home/.claude/.credentials.json", fmt.Sprintf(
		`{"claudeAiOauth":{"accessToken":"lent-0","refreshToken":"RENEWING-0","expiresAt":%d,"scopes":["user:inference"]}}`,
		time.Now().Add(-time.Hour).UnixMilli()))
	err := h.c.Call(t.Context(), "session.open", terminal.OpenIn{Name: "a", Cwd: h.project}, nil)
	if !fault.Is(err, fault.Conflict) {
		t.Fatalf("%v", err)
	}
	said := err.Error() + "; " + fault.Public(err).Next
	for _, part := range []string{"the sign-in of claude ran out at ", "could not be renewed", "works once, so no session gets it",
		"start claude once yourself", "claude setup-token", "CLAUDE_CODE_OAUTH_TOKEN", "restart tandem"} {
		if !strings.Contains(said, part) {
			t.Errorf("%q is not said: %s", part, said)
		}
	}
	if strings.Contains(said, "RENEWING-0") || strings.Contains(said, "lent-0") {
		t.Errorf("it tells the token: %s", said)
	}
	h.stop(os.Interrupt)
	h.env = append(h.env, "CLAUDE_CODE_OAUTH_TOKEN=one-that-lasts")
	h.start()
	var s terminal.Seat
	h.call("session.open", terminal.OpenIn{Name: "b", Cwd: h.project}, &s)
	want(t, "state", s.State, terminal.Ready)
}

// OpenCode's plugins know the issuers of its sign-ins, and tandem does not: a session with one that ends says so before it is used, and one
// whose sign-ins all ran out is not opened. A key lasts, and nothing is said of it.
func TestOpenCodesSignInIsNotRenewed(t *testing.T) {
	if !alone(t) {
		return
	}
	h := spokenHouse(t, "TANDEM_CONFINE=bwrap")
	signIn := func(more string, ends time.Duration) {
		h.write("home/.local/share/opencode/auth.json", fmt.Sprintf(
			`{"anthropic":{"type":"oauth","refresh":"RENEWING-0","access":"lent-0","expires":%d}%s}`, time.Now().Add(ends).UnixMilli(), more))
	}
	signIn("", -time.Hour)
	err := h.c.Call(t.Context(), "session.open", terminal.OpenIn{Name: "a", Cwd: h.project, Agent: "opencode"}, nil)
	if said := fmt.Sprint(err, "; ", fault.Public(err).Next); !fault.Is(err, fault.Conflict) || !strings.Contains(said,
		"the sign-in of opencode ran out at ") || !strings.Contains(said, "opencode auth login") || strings.Contains(said, "RENEWING-0") {
		t.Fatalf("one that ran out: %s", said)
	}
	signIn("", time.Hour)
	if s := h.openAs("b", "opencode"); !strings.Contains(s.Boundary, "its sign-in ends at ") || !strings.Contains(s.Boundary, "auth login") {
		t.Errorf("one that ends: %s", s.Boundary)
	}
	h.call("session.close", terminal.NameIn{Name: "b"}, nil)
	signIn(`,"openai":{"type":"api","key":"lasting"}`, -time.Hour)
	if s := h.openAs("c", "opencode"); strings.Contains(s.Boundary, "sign-in ends") {
		t.Errorf("with a key that lasts: %s", s.Boundary)
	}
}
