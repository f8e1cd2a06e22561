package daemon

import (
	"strings"
	"testing"
	"time"

	artifacts "tandem/internal/artifact/wire"
	"tandem/internal/automation/wire"
	"tandem/internal/fault"
	"tandem/internal/models"
	"tandem/internal/provider/scripted"
	"tandem/internal/testenv"
)

const briefed = `
name = "briefed"
[inputs.vendor]
type = "string"
[[node]]
id = "draft"
inputs = { vendor = "input.vendor" }
retry = { attempts = 2, wait = "1ms", on = ["check"] }
[node.turn]
model = "mine/scripted-1"
prompt = "Write about {{vendor}}."
[node.output.brief]
artifact = "markdown"
checks = ["sections", "citations", "no-secrets", "no-active-content"]
sections = ["Risks"]
[[node]]
id = "keep"
inputs = { brief = "draft.brief" }
[node.operation]
name = "resource.put"
input = { key = "brief", value = "{{brief}}" }
`

// withModel starts a server with a scripted model under the name mine.
func withModel(t *testing.T, rules ...scripted.Rule) (*kept, *scripted.Server) {
	t.Helper()
	model := &scripted.Server{Script: scripted.Script{Rules: rules}}
	if err := model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	k := keptAt(t, "")
	k.must("provider.add", models.ProviderAddIn{ID: "mine", Base: model.URL(), Wire: "anthropic", Keyless: true})
	return k, model
}

// ran stores a definition, switches it on, and runs it to its end.
func (k *kept) ran(text string, input map[string]any) *wire.Run {
	k.t.Helper()
	a := k.must("automation.add", wire.AddIn{Text: text}).(*wire.Automation)
	k.must("automation.on", wire.OnIn{Name: a.Name, Digest: a.Latest})
	r := k.must("automation.run", wire.BeginIn{Name: a.Name, Input: input}).(*wire.Run)
	testenv.Eventually(k.t, "the run ends", 2*time.Minute, func() bool {
		r = k.must("automation.trace", wire.RunIn{ID: r.ID}).(*wire.Run)
		return !r.EndedAt.IsZero()
	})
	return r
}

// count is how many rows a query counts.
func (k *kept) count(query string) (n int) {
	k.t.Helper()
	if err := k.d.db.QueryRow(k.t.Context(), query).Scan(&n); err != nil {
		k.t.Fatal(err)
	}
	return n
}

// What a turn writes becomes an artifact with its versions, once all checks hold: what they refuse goes back to the turn with the reason.
// The next node is given what it says. Nobody but a run keeps one, and the body is not in the journal.
func TestATurnMakesAnArtifact(t *testing.T) {
	good := "# Risks\n\nIt is small [1].\n\n[1] Register https://example.com/r\n"
	k, model := withModel(t,
		scripted.Rule{Prompt: "refused", Turns: []scripted.Turn{{{Say: good}}}},
		scripted.Rule{Prompt: "Gull", Turns: []scripted.Turn{{{Say: strings.Replace(good, "small", "large", 1)}}}},
		scripted.Rule{Prompt: "Write about", Turns: []scripted.Turn{{{Say: "# Summary\n\nAKIA" + "ABCDEFGHIJKLMNOP"}}}})
	r := k.ran(briefed, map[string]any{"vendor": "Plover"})
	if r.Status != "completed" || r.Steps[0].Attempt != 2 {
		t.Fatalf("the run is %+v", r)
	}
	asked := string(model.Requests()[1].Body)
	for _, want := range []string{"was refused", `Risks`, "nothing is cited", "an AWS key"} {
		if !strings.Contains(asked, want) {
			t.Errorf("it was not told %q: %s", want, asked)
		}
	}
	ref, _ := r.Steps[0].Output["brief"].(map[string]any)
	if ref["name"] != "briefed.draft.brief" || ref["kind"] != "markdown" {
		t.Errorf("the step gave %v", r.Steps[0].Output)
	}
	shown := k.must("artifact.show", artifacts.OneIn{Name: "briefed.draft.brief"}).(*artifacts.Shown)
	if shown.Text != strings.TrimSpace(good) || shown.Version != 1 || !shown.AI || shown.Attempt != 2 || shown.Run != r.ID ||
		len(shown.Inputs) != 1 || shown.Inputs[0].From != "input.vendor" || len(shown.Checks) != 4 || shown.MadeBy != "automation.briefed" {
		t.Errorf("it is %+v", shown)
	}
	var kept string
	if err := k.d.db.QueryRow(t.Context(), "SELECT value FROM resource WHERE key = 'brief'").Scan(&kept); err != nil ||
		!strings.Contains(kept, "It is small") {
		t.Errorf("the next node was given %q, %v", kept, err)
	}

	second := k.must("automation.run", wire.BeginIn{Name: "briefed", Input: map[string]any{"vendor": "Gull"}}).(*wire.Run)
	testenv.Eventually(t, "the second run ends", 2*time.Minute, func() bool {
		return !k.must("automation.trace", wire.RunIn{ID: second.ID}).(*wire.Run).EndedAt.IsZero()
	})
	both := k.must("artifact.compare", artifacts.CompareIn{Name: "briefed.draft.brief"}).(artifacts.Compared)
	if both.From.Version != 1 || both.To.Version != 2 || !strings.Contains(both.Diff, "-It is small [1].\n+It is large [1].") {
		t.Errorf("compared: %+v", both)
	}
	if n := k.count("SELECT count(*) FROM journal_event WHERE type = 'artifact.keep' AND phase = 'done'"); n != 2 {
		t.Errorf("%d keepings are in the journal", n)
	}
	_, err := k.do("artifact.keep", artifacts.KeepIn{
		Automation: "briefed", Node: "draft", Output: "brief", Kind: "markdown", Data: []byte("x")})
	if !fault.Is(err, fault.Denied) {
		t.Errorf("a person keeps one: %v", err)
	}
	if out := k.must("artifact.remove", artifacts.RemoveIn{Name: "briefed.draft.brief", Version: 1}).(artifacts.Removed); out.Removed != 1 {
		t.Errorf("removed %+v", out)
	}
	if n := k.count("SELECT count(*) FROM artifact_body"); n != 1 {
		t.Errorf("%d bodies are left", n)
	}
}
