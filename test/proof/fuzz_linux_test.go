package proof

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tandem/internal/testenv"
)

// Schemathesis reads /openapi.json and sends every operation requests that fit
// the schema and requests that do not: as a stranger, then with everyday
// rights. Nothing may answer 5xx or hang, and the journal still verifies. It
// runs in a network of its own: some operations call others when told to.
func TestFuzz(t *testing.T) {
	random := testenv.Random(t)
	stranger, everyday := 2, 5 // a request costs more to make up than to answer
	if testenv.Soak() {
		stranger, everyday = 50, 150
	}
	s := newServer(t)
	s.within(quietNetwork(t))
	s.start()
	for _, who := range []struct {
		name, token, phases string
		examples            int // for each operation
	}{
		{"stranger", "tdm_nobody_has_this_token", "fuzzing", stranger},
		{"everyday rights", s.token, "coverage,fuzzing", everyday},
	} {
		t.Run(who.name, func(t *testing.T) {
			line := slices.Concat(s.enter, []string{testenv.Tool(t, "schemathesis"), "--config-file", unbuilt(t), "run", schema(t, s),
				"--url", s.url,
				"--header", "Authorization: Bearer " + who.token,
				"--checks", "not_a_server_error", "--phases", who.phases, "--max-examples", strconv.Itoa(who.examples),
				"--request-timeout", "10", "--workers", "2", "--continue-on-failure", "--no-color", "--warnings", "off",
				"--suppress-health-check", "all", "--generation-database", "none", "--seed", strconv.Itoa(int(random.Int32())),
				"--exclude-path", "/terminals", // starts a program that is not installed here, and rightly answers 503
				"--exclude-operation-id-regex", strings.Join(notAsked(t, s), "|")})
			cmd := exec.Command(line[0], line[1:]...)
			cmd.Env, cmd.Dir = testenv.Env(t), testenv.Dir(t)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Run(); err != nil {
				t.Errorf("schemathesis: %v\n%s\nserver's log:\n%s", err, tail(out.String(), 12000), tail(s.log.String(), 4000))
			}
			t.Logf("%s", tail(out.String(), 700))
			s.must("status")
		})
	}
	s.must("audit", "verify")
}

// unbuilt lets 501 be an answer: what the published clients know and is not built says so, with what to do instead.
func unbuilt(t *testing.T) string {
	t.Helper()
	file := testenv.Dir(t) + "/schemathesis.toml"
	text := "[checks.not_a_server_error]\nexpected-statuses = [\"2xx\", \"3xx\", \"4xx\", 501]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// schema saves the OpenAPI document and returns the file's path.
func schema(t *testing.T, s *server) string {
	t.Helper()
	file := testenv.Dir(t) + "/openapi.json"
	if err := os.WriteFile(file, openAPI(t, s), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func openAPI(t *testing.T, s *server) []byte {
	t.Helper()
	resp, err := s.socket().Get("http://tandem.localhost/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("openapi.json: %d %v", resp.StatusCode, err)
	}
	return data
}

// notAsked are the operations that are not asked: their answers take their time
// by design (streams, and those that wait), or they ask a server that this
// network does not have and rightly answer 503.
func notAsked(t *testing.T, s *server) []string {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]struct {
			ID        string `json:"operationId"`
			Responses map[string]struct {
				Content map[string]any
			}
		}
	}
	if err := json.Unmarshal(openAPI(t, s), &doc); err != nil {
		t.Fatal(err)
	}
	all := []string{`\.wait$`, `^provider\.(models|check)$`}
	for _, methods := range doc.Paths {
		for _, o := range methods {
			for _, r := range o.Responses {
				for kind := range r.Content {
					if kind == "text/event-stream" || kind == "application/x-ndjson" {
						all = append(all, "^"+regexp.QuoteMeta(o.ID)+"$")
					}
				}
			}
		}
	}
	return all
}
