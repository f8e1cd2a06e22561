package compat_test

import (
	"flag"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/client"
	teams "tandem/internal/team/wire"
	"tandem/internal/testenv"
)

var update = flag.Bool("update", false, "write the table of methods again")

// Coder runs, missions, teams and worktrees of the published clients, unchanged, against the real binary. What each method is, mapped or
// 501 with what to do instead, is in a table that this test makes.
func TestPublishedClientsShip(t *testing.T) {
	if testing.Short() {
		t.Skip("published clients are not part of the short run")
	}
	e := start(t)
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-qm", "first"}} {
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-C", e.folder}, args...)...)
		cmd.Env = testenv.Env(t)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	person := client.Socket(filepath.Join(e.home, ".tandem", "tandem.sock")).WithPIN(pin)
	var team teams.Team
	call := func(name string, in any) {
		t.Helper()
		if err := person.Call(t.Context(), name, in, &team); err != nil {
			t.Fatal(err)
		}
	}
	call("team.start", teams.StartIn{Goal: "a goal", Folder: e.folder})
	call("team.plan", teams.EditIn{ID: team.ID, Plan: teams.Plan{Tasks: []teams.Item{{Name: "one", Text: "do one thing"}}}})
	words, err := os.ReadFile(filepath.Join("testdata", "sdk.md")) // what stands before the table
	if err != nil {
		t.Fatal(err)
	}
	tabled(t, "", string(words)+e.run(t, testenv.Tool(t, "node"), filepath.Join("testdata", "ship.mjs")))
	call("team.approve", teams.ApproveIn{ID: team.ID, Version: team.Version})
	if out := e.run(t, testenv.Tool(t, "python"), filepath.Join("testdata", "ship.py")); strings.TrimSpace(out) !=
		"coder, missions, teams and worktrees ok" {
		t.Errorf("it printed %q", out)
	}
	var minted struct{ Secret string }
	for _, c := range []struct {
		name string
		in   any
	}{{"actor.add", map[string]any{"name": "robot", "kind": "agent"}}, {"token.new", map[string]any{"actor": "robot"}}} {
		if err := person.Call(t.Context(), c.name, c.in, &minted); err != nil {
			t.Fatal(err)
		}
	}
	mission := "/mission/" + team.ID
	for _, c := range []struct {
		route, body string
		status      int // for somebody without rights on jobs: what there is has no such thing, and lists are empty
	}{
		{"GET /coder/runs", "", http.StatusOK}, {"GET /mission", "", http.StatusOK}, {"GET /agent-team/instances", "", http.StatusOK},
		{"POST /worktree/cleanup", "{}", http.StatusOK}, {"GET " + mission, "", http.StatusNotFound},
		{"POST " + mission + "/event", `{"event":{"type":"mission_canceled"}}`, http.StatusNotFound},
		{"POST /coder/runs", `{"objective":"x","repo_binding":{"workspace_root":"` + e.folder + `"}}`, http.StatusNotFound},
		{"POST /mission", `{"goal":"x","workspace_root":"` + e.folder + `"}`, http.StatusNotFound},
	} {
		e.answers(t, c.route, c.body, "nobody", http.StatusUnauthorized)
		if said := e.answers(t, c.route, c.body, minted.Secret, c.status); c.status == http.StatusOK &&
			(strings.Contains(said, "job_") || strings.Contains(said, "team_") || strings.Contains(said, e.folder)) {
			t.Errorf("%s shows %s", c.route, said)
		}
	}
}

// automationsPart is what stands before the table of automations.
const automationsPart = `
## Automations

What a client creates is a definition, stored switched off: each node is one turn with a model and no tools, and a person looks at it and
switches it on ([automations](automation.md)). A node with a gate or a wait is refused: write the file. Gates are decided with a token
that decides.

| method | what it is |
|---|---|
`

// tabled holds a part of the page of methods to what they are: the first part, or the one of automations.
func tabled(t *testing.T, head, got string) {
	t.Helper()
	page := filepath.Join("..", "..", "docs", "sdk.md")
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	first, second, _ := strings.Cut(string(raw), automationsPart)
	want := first
	if head != "" {
		want = second
	}
	if got == want {
		return
	}
	if !*update {
		t.Errorf("the methods are\n%s\nand the table says\n%s: write it again with -update", got, want)
		return
	}
	if head == "" {
		first = got
	} else {
		second = got
	}
	if err := os.WriteFile(page, []byte(first+automationsPart+second), 0o644); err != nil {
		t.Fatal(err)
	}
}

// answers sends a request with a token, and returns what was said.
func (e engine) answers(t *testing.T, route, body, token string, status int) string {
	t.Helper()
	method, path, _ := strings.Cut(route, " ")
	r, err := http.NewRequestWithContext(t.Context(), method, e.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != status {
		t.Errorf("%s: %s %s %v", route, resp.Status, said, err)
	}
	return string(said)
}
