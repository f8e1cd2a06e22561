package daemon

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/approval"
	artifacts "tandem/internal/artifact/wire"
	"tandem/internal/automation/wire"
	"tandem/internal/models"
	packfolder "tandem/internal/pack/folder"
	brought "tandem/internal/pack/parts"
	packs "tandem/internal/pack/wire"
	"tandem/internal/provider/scripted"
	"tandem/internal/session"
	"tandem/internal/testenv"
)

// begun installs a pack that comes with tandem, after looking at it, and begins a run of its automation.
func (k *kept) begun(name string, set map[string]string, input map[string]any) string {
	k.t.Helper()
	p, err := packfolder.Read(brought.Folder(name), set)
	if err != nil {
		k.t.Fatal(err)
	}
	for i := range p.Automations { // what waits in it waits no longer here
		p.Automations[i].Text = strings.ReplaceAll(p.Automations[i].Text, `wait = "10s"`, `wait = "1ms"`)
	}
	seen := k.must("pack.preview", p).(packs.PreviewOut)
	if len(seen.Cannot) > 0 || len(seen.Ungranted) > 0 || len(seen.May) == 0 || seen.Installed != "" {
		k.t.Errorf("%s is shown as %+v", name, seen)
	}
	k.must("pack.install", packs.InstallIn{Pack: p, Digest: seen.Digest})
	return k.must("automation.run", wire.BeginIn{Name: name, Input: input}).(*wire.Run).ID
}

// answers answers the ask of a run that is not the one before, and gives what it showed.
func (k *kept) answers(run, before string, v approval.Verdict, feedback string) (ask string, input string) {
	k.t.Helper()
	testenv.Eventually(k.t, "somebody is asked", 2*time.Minute, func() bool {
		r := k.must("automation.trace", wire.RunIn{ID: run}).(*wire.Run)
		if !r.EndedAt.IsZero() {
			k.t.Fatalf("the run is over: %+v", r)
		}
		for _, s := range r.Steps {
			if s.Ask != "" && s.Ask != before {
				ask = s.Ask
			}
		}
		return ask != ""
	})
	raw, err := json.Marshal(k.must("approval.get", approval.IDIn{ID: ask}))
	if err != nil {
		k.t.Fatal(err)
	}
	var whole struct {
		Digest string
		Input  json.RawMessage
		First  *struct{ Digest string } `json:"first_page"`
	}
	if err := json.Unmarshal(raw, &whole); err != nil {
		k.t.Fatal(err)
	}
	in := approval.DecideIn{ID: ask, Verdict: v, Feedback: feedback, Digest: whole.Digest}
	if whole.First != nil {
		in.Pages = []string{whole.First.Digest}
	}
	k.must("approval.decide", in)
	return ask, string(whole.Input)
}

func (k *kept) over(run string) (r *wire.Run) {
	k.t.Helper()
	testenv.Eventually(k.t, "the run ends", 2*time.Minute, func() bool {
		r = k.must("automation.trace", wire.RunIn{ID: run}).(*wire.Run)
		return !r.EndedAt.IsZero()
	})
	if r.Status != "completed" {
		k.t.Fatalf("it ended %s: %s", r.Status, r.Reason)
	}
	return r
}

func outline(title string) string {
	return `{"title": "` + title + `", "sections": [{"title": "Done", "bullets": ["one"], "notes": "slowly"},
		{"title": "By person", "chart": {"kind": "bar", "labels": ["ann"], "series": [{"name": "changes", "values": [1]}]}}]}`
}

// The parts that come with tandem run to their end on a scripted model: tests that fail are sorted, a week becomes slides that a person
// sends back once, and a brief has its sources. What a check refuses is written anew.
func TestThePartsRun(t *testing.T) {
	brief := "# Summary\n\nSmall [1].\n\n# Risks\n\nFew [1].\n\n# What we do\n\nWatch.\n\n# Sources\n\n[1] Register https://example.com/r\n"
	k, model := withModel(t,
		scripted.Rule{Prompt: "shorter, please", Turns: []scripted.Turn{{{Say: outline("Week, short")}}}},
		scripted.Rule{Prompt: "slides of this week(?s:.*)was refused", Turns: []scripted.Turn{{{Say: outline("Week")}}}},
		scripted.Rule{Prompt: "slides of this week", Turns: []scripted.Turn{{{Say: `{"title": "Week", "pages": []}`}}}},
		scripted.Rule{Prompt: "Which tests failed", Turns: []scripted.Turn{{{Say: `{"title": "A test fails", "report": ` +
			`"# Failed\n\nTestX\n\n# Likely cause\n\nA typo.\n\n# Where to look\n\nx.go:1"}`}}}},
		scripted.Rule{Prompt: "risks of depending", Turns: []scripted.Turn{{{Say: brief}}}})
	k.must("provider.default", models.DefaultIn{Model: "mine/scripted-1"})
	dir := t.TempDir()
	at := map[string]string{"folder": dir}
	rules := "test:\n\t@echo TestX broke; exit 1\n"
	if err := os.WriteFile(filepath.Join(dir, "Makefile"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."},
		{"-c", "user.name=ann", "-c", "user.email=ann@example.com", "commit", "-qm", "A first change"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, append(testenv.Env(t), "HOME="+dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	k.must("folder.grant", session.FolderIn{Path: dir})

	run := k.begun("weekly-report", at, nil)
	first, shown := k.answers(run, "", approval.SendBack, "shorter, please")
	if !strings.Contains(shown, `# Week\n`) || !strings.Contains(shown, `"digest":`) || !strings.Contains(shown, "By person") {
		t.Errorf("the gate shows %s", shown)
	}
	if _, shown = k.answers(run, first, approval.Approve, ""); !strings.Contains(shown, "# Week, short") {
		t.Errorf("sent back, the gate shows %s", shown)
	}
	k.over(run)
	asked := string(model.Requests()[0].Body)
	if !strings.Contains(asked, "A first change") || !strings.Contains(asked, "JSON schema") {
		t.Errorf("the model was asked %s", asked)
	}
	deck := k.must("artifact.get", artifacts.OneIn{Name: "weekly-report.slides.deck"}).(*artifacts.Body)
	if deck.Version != 2 || !deck.AI || deck.File != "weekly-report.slides.deck-2.pptx" || !strings.HasPrefix(string(deck.Data), "PK") {
		t.Errorf("the slides are %+v", deck.Artifact)
	}
	both := k.must("artifact.compare", artifacts.CompareIn{Name: "weekly-report.slides.deck"}).(artifacts.Compared)
	if !strings.Contains(both.Diff, "-# Week\n+# Week, short\n") {
		t.Errorf("the slides differ by %q", both.Diff)
	}
	page := k.must("artifact.show", artifacts.OneIn{Name: "weekly-report.page.dashboard"}).(*artifacts.Shown)
	if !strings.Contains(page.Text, "<svg") || !strings.Contains(page.Text, "Made with AI") {
		t.Errorf("the page is %s", page.Text)
	}

	k.over(k.begun("nightly-tests", at, nil))
	report := k.must("artifact.show", artifacts.OneIn{Name: "nightly-tests.triage.report"}).(*artifacts.Shown)
	if !strings.Contains(report.Text, "TestX") || report.Kind != "markdown" {
		t.Errorf("the report is %+v", report)
	}
	all := model.Requests()
	if log := string(all[len(all)-1].Body); !strings.Contains(log, "TestX broke") {
		t.Errorf("the log was not given: %s", log)
	}

	run = k.begun("vendor-risk", nil, map[string]any{"vendor": "gull", "facts": "It has one customer."})
	if _, shown = k.answers(run, "", approval.Approve, ""); !strings.Contains(shown, "https://example.com/r") {
		t.Errorf("the gate shows %s", shown)
	}
	k.over(run)
	if n := k.count("SELECT count(*) FROM resource WHERE key = 'vendor-risk/gull'"); n != 1 {
		t.Error("the brief is not kept")
	}
	if n := k.count("SELECT count(*) FROM knowledge_item WHERE state = 'working'"); n != 1 {
		t.Errorf("%d documents wait to be promoted", n)
	}
}
