package proof

import (
	"bytes"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/testenv"
)

// A script of the same user, outside any sandbox, with the socket, the data
// folder's path and a terminal of its own at hand, tries to decide, mint, grant
// and export. It gets everyday rights and nothing more.
func TestHostileScript(t *testing.T) {
	s := newServer(t).start()
	a := newAsking(s)
	c := &asked{key: "asked/by-agent"}
	if err := a.advance(t.Context(), c); err != nil || c.id == "" {
		t.Fatalf("%+v: %v", c, err)
	}
	socket := s.socket()
	post := func(path, body string, header ...string) int {
		t.Helper()
		req, err := http.NewRequest("POST", "http://tandem.localhost"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		resp, err := socket.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if status := post("/op/resource.list", "{}"); status != 200 {
		t.Fatalf("everyday rights on the socket: %d", status)
	}
	wishes := map[string]string{
		"/op/approval.decide": `{"id":"` + c.id + `","decision":"approve"}`,
		"/op/token.new":       `{"actor":"owner","decide":true,"expires_in_secs":3600}`,
		"/op/grant.add":       `{"principal":"agent:builder","resource":"*:/","permissions":["admin"]}`,
		"/op/policy.edit":     `{"rules":""}`,
		"/op/audit.export":    `{}`,
		"/op/pin.set":         `{"pin":"111222"}`,
		"/op/actor.add":       `{"name":"mallory","kind":"person"}`,
	}
	tricks := map[string][]string{
		"nothing":            {},
		"a header":           {"Tandem-Present", "pin", "X-Forwarded-User", "owner", "Tandem-Actor", "owner"},
		"an empty PIN":       {"Tandem-Pin", ""},
		"the API's token":    {"Authorization", "Bearer " + apiToken},
		"the agent's token":  {"Authorization", "Bearer " + a.agent},
		"the panel's cookie": {"Cookie", cookieOf(t, s)},
	}
	for path, body := range wishes {
		for name, header := range tricks {
			if status := post(path, body, header...); status < 400 {
				t.Errorf("%s with %s: %d", path, name, status)
			}
		}
	}
	// A terminal of its own helps nobody who does not know the PIN, and guessing is made to wait.
	slowed := false
	for _, guess := range []string{"000000", "123456", "654321", "111111", "222333", "121212"} {
		out, err := s.typing(guess, "approvals", "approve", c.id)
		if err == nil {
			t.Errorf("the PIN %s decided:\n%s", guess, out)
		}
		slowed = slowed || strings.Contains(out, "wait") || strings.Contains(out, "again in")
	}
	if !slowed {
		t.Error("six wrong PINs and nobody had to wait")
	}
	if out, err := s.run("token", "new", "owner"); err == nil || strings.Contains(out, "tdm_") {
		t.Errorf("a token without a terminal: %s", out)
	}
	if got := s.as(s.token, "GET", "/approval/"+c.id, nil).json(t); got["state"] != "pending" {
		t.Errorf("the ask is %v", got["state"])
	}
	if out := s.must("actor", "list"); strings.Contains(out, "mallory") {
		t.Errorf("there is a new person:\n%s", out)
	}
	noSecretOnDisk(t, s, a.agent, a.decider, apiToken, pin)
	// A second daemon on the same data is refused, so it cannot be told what to believe.
	second := exec.Command(testenv.Tandem(t), "serve", "--data", s.data, "--listen", "127.0.0.1:0", "--control-socket",
		filepath.Join(s.home, "mine.sock"))
	second.Env = s.env
	if out, err := second.CombinedOutput(); err == nil || !bytes.Contains(out, []byte("already running")) {
		t.Errorf("a second daemon: %v\n%s", err, out)
	}
}

func cookieOf(t *testing.T, s *server) string {
	b := signedIn(t, s)
	return b.cookie.Name + "=" + b.cookie.Value
}

// noSecretOnDisk looks for credentials in every file of the data folder.
func noSecretOnDisk(t *testing.T, s *server, secrets ...string) {
	t.Helper()
	err := filepath.WalkDir(s.data, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, secret := range secrets {
			if bytes.Contains(data, []byte(secret)) {
				t.Errorf("%s holds the secret %s…", path, secret[:6])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
