package panel

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tandem/internal/panel/browsertest"
)

// The panel's cookie went to every port of tandem.localhost: a page there read it from the requests of its own fetch, and a
// program that replayed it was the owner for two weeks. A page cannot guess the panel's name, and what another user's program
// brings is refused, with the way to let it in.
func TestACookieStaysHome(t *testing.T) {
	h := startHouse(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var sent []string
	thief := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		sent = append(sent, r.Host+" "+r.Header.Get("Cookie")+r.Header.Get("Referer"))
		fmt.Fprint(w, "<!doctype html><title>a page</title>")
	})}
	go thief.Serve(l)
	t.Cleanup(func() { thief.Close() })
	var got struct {
		Status int
		Cookie string
	}
	browsertest.Run(t, "testdata/ports.cjs", map[string]any{"base": h.base, "code": h.code(t), "other": l.Addr().(*net.TCPAddr).Port}, &got)
	mu.Lock()
	defer mu.Unlock()
	for _, s := range sent {
		if strings.Contains(s, "tandem_session") || strings.Contains(s, "/panel") {
			t.Errorf("a page on another port was sent %q", s)
		}
	}
	if got.Status != 200 || got.Cookie == "" || len(sent) < 6 {
		t.Fatalf("the person's own page answered %d, and the other one was asked %d times", got.Status, len(sent))
	}
	if os.Getuid() == 0 { // only root can be somebody else
		if out := h.replay(t, got.Cookie, 65534); !strings.HasPrefix(out, "HTTP/1.1 403") || !strings.Contains(out, "panel_uids 65534") {
			t.Errorf("a cookie that another user replays:\n%s", out)
		}
	}
}

// replay asks for the panel as another user of this machine, with somebody's cookie, and is what was answered.
func (h *house) replay(t *testing.T, cookie string, uid uint32) string {
	t.Helper()
	near, err := url.Parse(h.near)
	if err != nil {
		t.Fatal(err)
	}
	request := fmt.Sprintf("GET /panel/ HTTP/1.1\\r\\nHost: %s\\r\\nCookie: tandem_session=%s\\r\\nConnection: close\\r\\n\\r\\n",
		strings.TrimPrefix(h.base, "http://"), cookie)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%s; printf '%s' >&3; cat <&3", near.Port(), request))
	cmd.Dir, cmd.Env = "/", []string{"PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// Whoever works through a container or another account is refused with the way in. A person present opens it for that user, from the next
// start on, and for nobody else.
func TestAnotherUserIsLetIn(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	h := startHouse(t)
	owner := h.browser(t)
	owner.signIn(t)
	panel, err := url.Parse(h.base)
	if err != nil {
		t.Fatal(err)
	}
	all := owner.Jar.Cookies(panel)
	i := slices.IndexFunc(all, func(c *http.Cookie) bool { return c.Name == "tandem_session" })
	if i < 0 {
		t.Fatalf("signed in, the owner has the cookies %v", all)
	}
	cookie := all[i].Value
	is := func(uid uint32, status, text string) {
		t.Helper()
		if out := h.replay(t, cookie, uid); !strings.HasPrefix(out, "HTTP/1.1 "+status) || !strings.Contains(out, text) {
			t.Errorf("user %d:\n%.2000s", uid, out)
		}
	}
	is(65534, "403", "tandem settings set panel_uids 65534; it counts from the next start on: tandem down")
	h.do(t, "setting.set", testPIN, map[string]any{"key": "panel_uids", "value": "65534"})
	h.restart()
	is(65534, "200", "</html>")
	is(65533, "403", "tandem settings set panel_uids 65534,65533;")
}
