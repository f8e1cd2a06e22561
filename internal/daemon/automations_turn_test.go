package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/automation/wire"
	memory "tandem/internal/memory/wire"
	"tandem/internal/models"
	"tandem/internal/provider/scripted"
	"tandem/internal/session"
	"tandem/internal/testenv"
)

const judged = `
name = "judged"
[inputs.mail]
type = "string"
[[node]]
id = "judge"
inputs = { mail = "input.mail" }
[node.turn]
model = "mine/scripted-1"
system = "You sort mail for greenplover."
prompt = "Is this urgent? {{mail}}"
[node.output.urgent.schema]
type = "boolean"
[node.output.why.schema]
type = "string"
[[node]]
id = "which"
[node.branch]
on = "judge.urgent"
cases = { true = ["keep"], false = [] }
[[node]]
id = "keep"
inputs = { why = "judge.why" }
[node.operation]
name = "resource.put"
input = { key = "judged", value = "{{why}}" }
`

// A turn of a model is a node: it has its own text, its typed outputs lead on, its cost is on the run's page, and it sees nothing that it
// was not given: no tool, no more of the granted folder than its own, nothing that the team remembers. What it is given is marked as data.
func TestANodeIsATurn(t *testing.T) {
	model := &scripted.Server{Script: scripted.Script{Rules: []scripted.Rule{
		{Prompt: "urgent", Turns: []scripted.Turn{{{Say: `{"urgent": true, "why": "fire"}`}}}}}}}
	if err := model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	k := keptAt(t, "")
	k.must("provider.add", models.ProviderAddIn{ID: "mine", Base: model.URL(), Wire: "anthropic", Keyless: true})
	k.must("memory.add", memory.AddIn{Text: "Urgent mail is about plainplover", Kind: memory.Lesson})
	granted := t.TempDir()
	folder := filepath.Join(granted, "own")
	for path, text := range map[string]string{filepath.Join(granted, "beside"): "canary", filepath.Join(folder, "mine"): "own words"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	k.must("folder.grant", session.FolderIn{Path: granted})
	ended := func(text string) *wire.Run {
		a := k.must("automation.add", wire.AddIn{Text: text}).(*wire.Automation)
		k.must("automation.on", wire.OnIn{Name: a.Name, Digest: a.Latest})
		r := k.must("automation.run", wire.BeginIn{Name: a.Name, Input: map[string]any{"mail": "the house burns"}}).(*wire.Run)
		testenv.Eventually(t, "the run ends", 2*time.Minute, func() bool {
			r = k.must("automation.trace", wire.RunIn{ID: r.ID}).(*wire.Run)
			return !r.EndedAt.IsZero()
		})
		return r
	}
	r := ended(judged)
	step := r.Steps[0]
	if r.Status != "completed" || step.Output["urgent"] != true || step.Session == "" || step.Turn == "" || step.Tokens == 0 ||
		r.Tokens != step.Tokens {
		t.Fatalf("the run is %+v", r)
	}
	asked := string(model.Requests()[0].Body)
	if !strings.Contains(asked, "greenplover") || strings.Contains(asked, "plainplover") || strings.Contains(asked, `"tools"`) {
		t.Errorf("it was asked %s", asked)
	}
	if !strings.Contains(asked, `\u003cdata-`) && !strings.Contains(asked, `<data-`) {
		t.Errorf("what it was given is not marked: %s", asked)
	}
	if s := k.must("session.get", session.IDIn{ID: step.Session}).(*session.Session); !s.Config.Narrow || s.Title != "judged/judge" {
		t.Errorf("its session is %+v", s)
	}

	said := func(file string) string { // with one tool and one folder
		turn := `prompt = '[[tool read {"path": "` + file + `"}]] [[say {"urg\u0065nt": false, "why": ""}]]'
tools = ["read"]
folders = ["` + folder + `"]`
		before, after, _ := strings.Cut(judged, "prompt = ")
		_, after, _ = strings.Cut(after, "\n")
		ended(before + turn + "\n" + after)
		all := model.Requests()
		return string(all[len(all)-1].Body)
	}
	if got := said(filepath.Join(folder, "mine")); !strings.Contains(got, "own words") || strings.Contains(got, `"name":"bash"`) {
		t.Errorf("in its own folder: %s", got)
	}
	k.endsItsTurn(folder)
	if got := said(filepath.Join(granted, "beside")); strings.Contains(got, "canary") {
		t.Errorf("it read beside its folder: %s", got)
	}
}

const writes = `
name = "writes"
[[node]]
id = "write"
[node.turn]
model = "mine/scripted-1"
prompt = '[[tool write {"path": "FOLDER/new", "content": "x"}]] [[say done]]'
tools = ["write"]
folders = ["FOLDER"]
`

// endsItsTurn cancels a run whose session waits for an approval: the run says for which, and the turn ends with it.
func (k *kept) endsItsTurn(folder string) {
	k.t.Helper()
	a := k.must("automation.add", wire.AddIn{Text: strings.ReplaceAll(writes, "FOLDER", folder)}).(*wire.Automation)
	k.must("automation.on", wire.OnIn{Name: a.Name, Digest: a.Latest})
	r := k.must("automation.run", wire.BeginIn{Name: a.Name}).(*wire.Run)
	var step wire.Step
	testenv.Eventually(k.t, "the run says for which ask its session waits", 2*time.Minute, func() bool {
		step = k.must("automation.trace", wire.RunIn{ID: r.ID}).(*wire.Run).Steps[0]
		return step.Ask != ""
	})
	k.must("automation.cancel", wire.RunIn{ID: r.ID})
	testenv.Eventually(k.t, "the turn ends with its run", 2*time.Minute, func() bool {
		out := k.must("session.turns", session.TurnIn{ID: step.Session, Turn: step.Turn}).(session.TurnsOut)
		return out.Turns[0].State == session.Cancelled
	})
}
