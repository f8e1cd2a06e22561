package proof

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"tandem/internal/testenv"
)

// Schemathesis reads /openapi.json and sends every operation requests that fit
// the schema and requests that do not: as a stranger, then with everyday
// rights. Nothing may answer 5xx or hang, and the journal still verifies.
func TestFuzz(t *testing.T) {
	random := testenv.Random(t)
	s := newServer(t).start()
	for _, who := range []struct {
		name, token, phases string
		examples            int // for each operation
	}{
		{"stranger", "tdm_nobody_has_this_token", "fuzzing", testenv.Rounds(50)},
		{"everyday rights", s.token, "coverage,fuzzing", testenv.Rounds(150)},
	} {
		t.Run(who.name, func(t *testing.T) {
			schema := s.as(s.token, "GET", "/openapi.json", nil)
			if schema.status != 200 {
				t.Fatalf("openapi.json: %s", schema)
			}
			file := testenv.Dir(t) + "/openapi.json"
			if err := os.WriteFile(file, schema.body, 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(testenv.Tool(t, "schemathesis"), "run", file, "--url", s.url,
				"--header", "Authorization: Bearer "+who.token,
				"--checks", "not_a_server_error", "--phases", who.phases, "--max-examples", strconv.Itoa(who.examples),
				"--request-timeout", "10", "--workers", "2", "--continue-on-failure", "--no-color", "--warnings", "off",
				"--suppress-health-check", "all", "--generation-database", "none", "--seed", strconv.Itoa(int(random.Int32())),
				"--exclude-operation-id", "event.stream") // a stream never ends
			cmd.Env, cmd.Dir = testenv.Env(t), testenv.Dir(t)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Run(); err != nil {
				t.Errorf("schemathesis: %v\n%s\nserver's log:\n%s", err, tail(out.String(), 12000), tail(s.log.String(), 4000))
			}
			t.Logf("%s", tail(out.String(), 700))
			if a := s.as("", "GET", "/global/health", nil); a.status != 200 {
				t.Errorf("afterwards health is %s", a)
			}
		})
	}
	s.must("audit", "verify")
}

func tail(s string, n int) string {
	if len(s) > n {
		return "…" + s[len(s)-n:]
	}
	return s
}
