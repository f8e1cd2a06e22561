package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/automation/wire"
	"tandem/internal/fault"
	"tandem/internal/policy/book"
	"tandem/internal/session"
	"tandem/internal/testenv"
	"tandem/internal/tool"
)

const greet = `
name = "greet"
title = "A word for the team"
[[node]]
id = "hello"
[node.command]
run = ["echo", "hello"]
[node.output.text.schema]
type = "string"
[[node]]
id = "keep"
inputs = { text = "hello.text" }
[node.operation]
name = "resource.put"
input = { key = "greeting", value = "{{text}}" }
`

// A definition is stored switched off; only a person who is present switches it on, and only the version that was looked at.
func TestAPersonSwitchesAnAutomationOn(t *testing.T) {
	w := newWard(t, "")
	call := func(name string, in, out any) error { return w.Call(t.Context(), name, in, out) }
	if err := call("automation.add", wire.AddIn{Text: "name = 1"}, nil); !fault.Is(err, fault.Invalid) {
		t.Errorf("nonsense is stored: %v", err)
	}
	var a wire.Automation
	w.must(call("automation.add", wire.AddIn{Text: greet}, &a))
	if a.On || a.Latest == "" {
		t.Errorf("stored as %+v", a)
	}
	var v wire.Version
	w.must(call("automation.show", wire.ShowIn{Name: "greet"}, &v))
	if len(v.May) != 2 || v.May[0].What != "runs echo hello" || !strings.HasPrefix(v.May[1].What, `calls resource.put with {"key":`) {
		t.Errorf("it may %+v", v.May)
	}
	on := wire.OnIn{Name: "greet", Digest: v.Digest}
	if err := call("automation.on", on, nil); !fault.Is(err, fault.Denied) {
		t.Errorf("a program switched it on: %v", err)
	}
	w.present("automation.on", on, &a)
	if !a.On || a.Actor == "" || a.SwitchedBy != "owner" {
		t.Errorf("switched on as %+v", a)
	}
	var grants struct {
		Grants []struct{ Principal, Resource string }
	}
	w.must(call("grant.list", nil, &grants))
	if len(grants.Grants) != 1 || grants.Grants[0].Principal != "service:automation.greet" {
		t.Errorf("its grants are %+v", grants.Grants)
	}
	w.must(call("automation.add", wire.AddIn{Text: strings.Replace(greet, "hello\"]", "hi\"]", 1)}, &a))
	if a.Live != v.Digest || a.Latest == v.Digest {
		t.Errorf("a new text changed what is switched on: %+v", a)
	}
	var next wire.Version
	w.must(call("automation.show", wire.ShowIn{Name: "greet"}, &next))
	if next.AddedBy != "local" || !strings.Contains(next.Changes, "\n-run = [\"echo\", \"hello\"]\n+run = [\"echo\", \"hi\"]\n") {
		t.Errorf("what the next version changes is not shown: %s\n%s", next.AddedBy, next.Changes)
	}
	if err := w.WithPIN("246813").Call(t.Context(), "automation.on", on, nil); !fault.Is(err, fault.Conflict) {
		t.Errorf("a version that is not the newest was switched on: %v", err)
	}
	if err := call("automation.remove", wire.NameIn{Name: "greet"}, nil); !fault.Is(err, fault.Conflict) {
		t.Errorf("removed while switched on: %v", err)
	}
	w.sound("switched on")
	w.runs("greet")
	w.must(call("automation.off", wire.NameIn{Name: "greet"}, nil))
	w.must(call("grant.list", nil, &grants))
	if len(grants.Grants) != 0 {
		t.Errorf("switched off it still has %+v", grants.Grants)
	}
	w.must(call("automation.remove", wire.NameIn{Name: "greet"}, nil))
	if err := call("automation.show", wire.ShowIn{Name: "greet"}, nil); !fault.Is(err, fault.NotFound) {
		t.Errorf("removed it is still there: %v", err)
	}
	w.sound("removed")
	w.worksIn(t.TempDir())
}

const sweep = `
name = "sweep"
[[node]]
id = "sweep"
[node.command]
run = ["sh", "-c", """
git init -q . && mkdir -p .git/hooks && echo true > .git/hooks/pre-commit
cat open/word; cat kept/word 2>/dev/null; true"""]
folder = "FOLDER"
[node.output.text.schema]
type = "string"
`

// worksIn has a command work in a folder: only when it was granted for changes, without what is denied, and it leaves no hook.
func (w *ward) worksIn(folder string) {
	w.t.Helper()
	if !w.rooms.session.Sandbox().Works() {
		return
	}
	for _, dir := range []string{"open", "kept"} {
		w.must(os.MkdirAll(filepath.Join(folder, dir), 0o700))
		w.must(os.WriteFile(filepath.Join(folder, dir, "word"), []byte(dir), 0o600))
	}
	var a wire.Automation
	w.must(w.Call(w.t.Context(), "automation.add", wire.AddIn{Text: strings.Replace(sweep, "FOLDER", folder, 1)}, &a))
	var v wire.Version
	w.must(w.Call(w.t.Context(), "automation.show", wire.ShowIn{Name: "sweep"}, &v))
	if len(v.Ungranted) != 1 || v.Ungranted[0] != folder {
		w.t.Errorf("whoever is about to switch it on is not told which folder is not granted: %q", v.Ungranted)
	}
	w.present("automation.on", wire.OnIn{Name: "sweep", Digest: a.Latest}, nil)
	ended := func() (r wire.Run) {
		w.must(w.Call(w.t.Context(), "automation.run", wire.BeginIn{Name: "sweep"}, &r))
		testenv.Eventually(w.t, "the run ends", 2*time.Minute, func() bool {
			w.must(w.Call(w.t.Context(), "automation.trace", wire.RunIn{ID: r.ID}, &r))
			return !r.EndedAt.IsZero()
		})
		return r
	}
	if r := ended(); r.Status != "failed" || !strings.Contains(r.Steps[0].Reason, "not granted") {
		w.t.Errorf("in a folder that nobody granted: %+v", r)
	}
	w.present("folder.grant", session.FolderIn{Path: folder, ReadOnly: true}, nil)
	if r := ended(); r.Status != "failed" || !strings.Contains(r.Steps[0].Reason, "reading only") {
		w.t.Errorf("in a folder that was granted for reading: %+v", r)
	}
	w.present("folder.grant", session.FolderIn{Path: folder}, nil)
	if w.rooms.session.Sandbox().Kind != tool.Bubblewrap {
		return // it hides nothing, so that nothing runs beside what is denied
	}
	w.present("grant.add", book.GrantIn{Principal: "service:automation.sweep", Effect: "deny", Resource: "folder:" + folder + "/kept",
		Permissions: []string{"view", "read", "edit"}, Classes: []string{"*"}}, nil)
	if r := ended(); r.Status != "completed" || r.Steps[0].Output["text"] != "open" {
		w.t.Errorf("in its folder: %+v", r)
	}
	if _, err := os.Stat(filepath.Join(folder, ".git", "hooks", "pre-commit")); err == nil {
		w.t.Error("it left a hook for the person's git")
	}
	w.followsNoLink(folder, a.Latest, ended)
	w.sound("after its commands")
}

// followsNoLink puts a link to another granted folder where the automation's folder was: it does not work there, and cannot be switched on.
func (w *ward) followsNoLink(folder, digest string, ended func() wire.Run) {
	w.t.Helper()
	other := w.t.TempDir()
	w.present("folder.grant", session.FolderIn{Path: other}, nil)
	w.present("folder.grant", session.FolderIn{Path: filepath.Dir(folder)}, nil)
	w.must(os.Rename(folder, folder+".was"))
	w.must(os.Symlink(other, folder))
	if r := ended(); r.Status != "failed" || !strings.Contains(r.Steps[0].Reason, "link") {
		w.t.Errorf("where a link leads: %+v", r)
	}
	if left, err := os.ReadDir(other); err != nil || len(left) > 0 {
		w.t.Errorf("it worked in another folder: %v %v", left, err)
	}
	err := w.WithPIN("246813").Call(w.t.Context(), "automation.on", wire.OnIn{Name: "sweep", Digest: digest}, nil)
	if !fault.Is(err, fault.Invalid) {
		w.t.Errorf("with a link it is switched on: %v", err)
	}
}

// What nobody built, and what is for people alone, cannot be switched on, and it says why.
func TestAnAutomationThatCannotWorkStaysOff(t *testing.T) {
	w := newWard(t, "")
	text := strings.Replace(greet, "resource.put", "token.new", 1)
	w.must(w.Call(t.Context(), "automation.add", wire.AddIn{Text: text}, nil))
	var v wire.Version
	w.must(w.Call(t.Context(), "automation.show", wire.ShowIn{Name: "greet"}, &v))
	if len(v.Unbuilt) != 1 || !strings.Contains(v.Unbuilt[0], "token.new is for people") {
		t.Errorf("it can: %v", v.Unbuilt)
	}
	err := w.WithPIN("246813").Call(t.Context(), "automation.on", wire.OnIn{Name: "greet", Digest: v.Digest}, nil)
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("it was switched on: %v", err)
	}
}

// runs begins a run and waits for its end: the command in its box, then the operation with what it gave.
func (w *ward) runs(name string) {
	w.t.Helper()
	if !w.rooms.session.Sandbox().Works() {
		return
	}
	var r wire.Run
	w.must(w.Call(w.t.Context(), "automation.run", wire.BeginIn{Name: name}, &r))
	testenv.Eventually(w.t, "the run ends", 2*time.Minute, func() bool {
		w.must(w.Call(w.t.Context(), "automation.trace", wire.RunIn{ID: r.ID}, &r))
		return !r.EndedAt.IsZero()
	})
	if r.Status != "completed" || r.Steps[0].Output["text"] != "hello" {
		w.t.Errorf("the run ended as %+v", r)
	}
	var kept struct{ Value string }
	w.must(w.Call(w.t.Context(), "resource.get", map[string]any{"key": "greeting"}, &kept))
	if kept.Value != "hello" {
		w.t.Errorf("it kept %q", kept.Value)
	}
	in := wire.CommandIn{Name: name, Run: r.ID, Argv: []string{"true"}, Seconds: 1}
	if err := w.Call(w.t.Context(), "automation.command", in, nil); err == nil {
		w.t.Error("a program had a command run as the automation")
	}
}

const gated = `
name = "gated"
[[trigger]]
id = "soon"
schedule = "every 1s"
[[node]]
id = "keep"
[node.operation]
name = "resource.put"
input = { key = "draft", value = "dear all" }
[node.output.value.schema]
type = "string"
[[node]]
id = "look"
[node.gate]
shows = ["keep.value"]
[[node]]
id = "send"
after = ["look"]
[node.operation]
name = "resource.put"
input = { key = "sent", value = true }
`

// A schedule begins a run, its gate asks, and the run hears the answer.
func TestAScheduleAndAGate(t *testing.T) {
	w := newWard(t, "")
	var a wire.Automation
	w.must(w.Call(t.Context(), "automation.add", wire.AddIn{Text: gated}, &a))
	w.present("automation.on", wire.OnIn{Name: "gated", Digest: a.Latest}, &a)
	var asks struct {
		Asks []struct{ ID, Digest string }
	}
	testenv.Eventually(t, "somebody is asked", 2*time.Minute, func() bool {
		w.must(w.Call(t.Context(), "approval.list", nil, &asks))
		return len(asks.Asks) > 0
	})
	w.must(w.Call(t.Context(), "automation.off", wire.NameIn{Name: "gated"}, nil)) // no more runs, and this one is paused
	w.present("automation.on", wire.OnIn{Name: "gated", Digest: a.Latest}, nil)
	var runs wire.RunsOut
	w.must(w.Call(t.Context(), "automation.runs", nil, &runs))
	first := runs.Runs[len(runs.Runs)-1].ID
	w.must(w.Call(t.Context(), "automation.resume", wire.RunIn{ID: first}, nil))
	var ask struct {
		Digest string
		First  struct{ Digest string } `json:"first_page"`
	}
	w.must(w.Call(t.Context(), "approval.get", map[string]any{"id": asks.Asks[0].ID}, &ask))
	w.present("approval.decide", map[string]any{"id": asks.Asks[0].ID, "decision": "approve", "digest": ask.Digest,
		"pages": []string{ask.First.Digest}}, nil)
	var r wire.Run
	testenv.Eventually(t, "the run hears the answer", 2*time.Minute, func() bool {
		w.must(w.Call(t.Context(), "automation.trace", wire.RunIn{ID: first}, &r))
		return !r.EndedAt.IsZero()
	})
	if r.Status != "completed" || !strings.HasPrefix(r.Cause, "schedule soon") {
		t.Errorf("it ended %s, begun by %s: %s", r.Status, r.Cause, r.Reason)
	}
	w.sound("after the gate")
}

const ticks = `
name = "ticks"
[inputs.word]
schema = { type = "string" }
[[node]]
id = "tick"
inputs = { word = "input.word" }
[node.command]
run = ["sh", "-c", "cat \"$0\"; while true; do date >> ticks; sleep 0.1; done", "{{word}}"]
folder = "FOLDER"
[node.output.text.schema]
type = "string"
`

// Who cancels a run or switches its automation off ends the command that runs.
func TestACommandEndsWithItsRun(t *testing.T) {
	w := newWard(t, "")
	if !w.rooms.session.Sandbox().Works() {
		t.Fatal("there is no sandbox")
	}
	folder := t.TempDir()
	file := filepath.Join(folder, "ticks")
	w.present("folder.grant", session.FolderIn{Path: folder}, nil)
	var a wire.Automation
	w.must(w.Call(t.Context(), "automation.add", wire.AddIn{Text: strings.Replace(ticks, "FOLDER", folder, 1)}, &a))
	for _, how := range []string{"automation.cancel", "automation.off"} {
		w.present("automation.on", wire.OnIn{Name: "ticks", Digest: a.Latest}, nil)
		var r wire.Run
		w.must(w.Call(t.Context(), "automation.run", wire.BeginIn{Name: "ticks", Input: map[string]any{"word": "ticks"}}, &r))
		testenv.Eventually(t, "it ticks", time.Minute, func() bool { _, err := os.Stat(file); return err == nil })
		if how == "automation.off" {
			w.must(w.Call(t.Context(), how, wire.NameIn{Name: "ticks"}, nil))
		} else {
			w.must(w.Call(t.Context(), how, wire.RunIn{ID: r.ID}, nil))
		}
		size, still := int64(-1), time.Now()
		testenv.Eventually(t, "five ticks are missing after "+how, time.Minute, func() bool {
			now, err := os.Stat(file)
			w.must(err)
			if now.Size() != size {
				size, still = now.Size(), time.Now()
			}
			return time.Since(still) > 500*time.Millisecond
		})
		w.must(os.Remove(file))
	}
	w.sound("after commands were ended")
}

// Who begins a run is bound by its own denials: the command does not see what they may not.
func TestWhoBeginsARunIsBoundByItsDenials(t *testing.T) {
	w := newWard(t, "")
	if w.rooms.session.Sandbox().Kind != tool.Bubblewrap {
		t.Fatal("there is no sandbox that hides")
	}
	folder := t.TempDir()
	w.must(os.MkdirAll(filepath.Join(folder, "kept"), 0o700))
	w.must(os.WriteFile(filepath.Join(folder, "kept", "word"), []byte("canary"), 0o600))
	w.present("folder.grant", session.FolderIn{Path: folder}, nil)
	text := strings.Replace(strings.Replace(ticks, "FOLDER", folder, 1), "; while true; do date >> ticks; sleep 0.1; done", "", 1)
	var a wire.Automation
	w.must(w.Call(t.Context(), "automation.add", wire.AddIn{Text: text}, &a))
	w.present("automation.on", wire.OnIn{Name: "ticks", Digest: a.Latest}, nil)
	said := func() string {
		var r wire.Run
		w.must(w.Call(t.Context(), "automation.run", wire.BeginIn{Name: "ticks", Input: map[string]any{"word": "kept/word"}}, &r))
		testenv.Eventually(t, "the run ends", time.Minute, func() bool {
			w.must(w.Call(t.Context(), "automation.trace", wire.RunIn{ID: r.ID}, &r))
			return !r.EndedAt.IsZero()
		})
		text, _ := r.Steps[0].Output["text"].(string)
		return text
	}
	if got := said(); got != "canary" {
		t.Errorf("before the denial it said %q", got)
	}
	w.present("grant.add", book.GrantIn{Principal: "local:local", Effect: "deny", Resource: "folder:" + folder + "/kept",
		Permissions: []string{"view", "read", "edit"}, Classes: []string{"*"}}, nil)
	if got := said(); got != "" {
		t.Errorf("who may not read it was told %q", got)
	}
}
