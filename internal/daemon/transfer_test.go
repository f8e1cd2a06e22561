package daemon

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"tandem/internal/policy/book"
	"tandem/internal/repo/exchange"
	"tandem/internal/testenv"
)

// A sync and a clone whose request comes slowly are asked about again at its end: what was denied meanwhile is in neither.
func TestAHeldTransferIsAskedAgain(t *testing.T) {
	h := newTracked(t)
	packet := func(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }
	var question bytes.Buffer
	w := exchange.NewWriter(&question)
	if err := w.JSON(exchange.Head, exchange.Question{}); err != nil {
		t.Fatal(err)
	}
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	held := map[string]func() (int, string){}
	for path, body := range map[string]string{
		"/repo/project/sync": question.String(),
		"/repo/project/git/git-upload-pack": packet("command=fetch") + packet("object-format=sha1") + "0001" +
			packet("want "+h.commits[0]+"\n") + packet("done\n") + "0000",
	} {
		if status, got := h.held(path, body)(); status != http.StatusOK {
			t.Fatalf("%s, before it was denied: %d %s", path, status, got)
		}
		held[path] = h.held(path, body)
	}
	h.do("grant.add", book.GrantIn{Principal: "agent:bob", Effect: "deny", Resource: "folder:" + h.root + "/priv",
		Permissions: []string{"view"}})
	for path, send := range held {
		if status, got := send(); status != http.StatusForbidden || !strings.Contains(got, "is kept from you") || h.holds(got) {
			t.Errorf("%s: %d %.200s", path, status, got)
		}
	}
}

// held sends a request of the agent's but for the end of its body; what it returns sends that, a while after the beginning.
func (h *tracked) held(path, body string) func() (int, string) {
	h.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.base, "http://"))
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nGit-Protocol: version=2\r\nContent-Length: %d\r\n\r\n%s",
		path, strings.TrimPrefix(h.base, "http://"), h.token, len(body), body[:len(body)-1])
	began := time.Now()
	return func() (int, string) {
		h.t.Helper()
		testenv.Eventually(h.t, "the beginning is a while ago", time.Minute, func() bool { return time.Since(began) > 200*time.Millisecond })
		if _, err := io.WriteString(conn, body[len(body)-1:]); err != nil {
			h.t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			h.t.Fatal(err)
		}
		defer resp.Body.Close()
		all, err := io.ReadAll(resp.Body)
		if err != nil {
			h.t.Fatal(err)
		}
		return resp.StatusCode, string(all)
	}
}
