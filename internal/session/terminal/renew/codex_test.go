package renew

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/session/agents"
	"tandem/internal/testenv"
)

// The person's real Codex runs beside the broker, at an issuer that signs everybody out when something is used twice: each renews in
// turn, and each takes what the other made. Codex has a variable for its issuer; Claude Code takes only its maker's.
func TestTheRealCodexBesideIt(t *testing.T) {
	c := &clock{now: time.Now()}
	i := newIssuer(t, c.Now)
	dir := testenv.Dir(t)
	config := filepath.Join(dir, ".codex")
	i.person(t, agents.CodexName, config)
	b := broker(i, c)
	b.Issuers = nil
	b.Env = []string{codexElsewhere + "=" + i.URL}
	codex := exec.CommandContext(t.Context(), testenv.Tool(t, "codex"), "app-server")
	codex.Env = []string{"HOME=" + dir, "PATH=/usr/bin:/bin", codexElsewhere + "=" + i.URL}
	in, err := codex.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := codex.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := codex.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); codex.Wait() }) //nolint:errcheck // it ends with its input
	answers := bufio.NewScanner(out)
	answers.Buffer(nil, 1<<20)
	ask := func(id int, method, params string) {
		t.Helper()
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
		for answers.Scan() {
			if strings.Contains(answers.Text(), fmt.Sprintf(`"id":%d`, id)) && !strings.Contains(answers.Text(), `"method"`) {
				return
			}
		}
		t.Fatalf("%s was not answered: %v", method, answers.Err())
	}
	ask(1, "initialize", `{"clientInfo":{"name":"person","version":"1"}}`)
	io.WriteString(in, `{"jsonrpc":"2.0","method":"initialized"}`+"\n") //nolint:errcheck // the next answer tells
	want := func(step string, n int) {
		t.Helper()
		s, text := signedIn(t, agents.CodexName, config)
		if s.refresh != fmt.Sprintf("renews-%d", n) || i.n != n || len(i.reused) > 0 {
			t.Fatalf("%s: the file has %s, the issuer gave %d and saw again %v\n%s", step, s.refresh, i.n, i.reused, text)
		}
	}
	want("at first", 0)
	n := 0
	for round := 1; round <= 3; round++ {
		c.pass(i.life - time.Minute)
		if err := b.Renew(t.Context(), agents.CodexName, config); err != nil {
			t.Fatal(err)
		}
		n++
		want(fmt.Sprintf("round %d, the broker", round), n)
		// The running program holds the sign-in from before. Told to renew, it takes what is there by now, or renews that one.
		ask(10*round, "account/read", `{"refreshToken":true}`)
		if i.n > n {
			n++
		}
		want(fmt.Sprintf("round %d, Codex", round), n)
	}
}
