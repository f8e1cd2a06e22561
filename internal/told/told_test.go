package told

import (
	"encoding/json"
	"testing"
)

// The journal showed names of operations and ids; it speaks in sentences, and one that is not known yet is told by its name.
func TestSentences(t *testing.T) {
	for _, c := range []struct {
		kind, phase, resource, payload, how, want string
	}{
		{"resource.put", "done", "resource:/lock/deploy", "", Done, "wrote lock/deploy"},
		{"actor.add", "done", "actor:/", "", Done, "added an actor"},
		{"tool.edit", "asked", "folder:/home/me/a.go", "", Asked, "asks to edit /home/me/a.go"},
		{"tool.bash", "denied", "tool:/bash", `{"reason":"rm is denied"}`, Refused, "may not run a command bash: rm is denied"},
		{"session.model_call", "intent", "session:/ses_1", "", Begun, "began to ask its model"},
		{"session.model_call", "outcome", "session:/ses_1", `{"ok":true}`, Done, "asked its model"},
		{"server.backup", "outcome", "server:/", `{"ok":false,"error":"the disk is full"}`, Failed,
			"could not make a copy of everything: the disk is full"},
		{"relay.start", "unknown", "relay:/loop_1", "", Unknown, "began to start a relay loop_1, and nobody knows how it ended"},
		{"board.take_back", "done", "board:/s", "", Done, "took a task back s"},
		{"memory.tidy", "done", "memory:/", "", Done, "tidied a memory"},
	} {
		e := Event{Type: c.kind, Phase: c.phase, Actor: "ses_1", Resource: c.resource, Payload: json.RawMessage(c.payload)}
		if e.How() != c.how || e.Sentence() != c.want {
			t.Errorf("%s %s: %s, %q and not %q", c.kind, c.phase, e.How(), e.Sentence(), c.want)
		}
	}
}

// What began and ended is one thing that happened.
func TestFoldingIntentsIntoOutcomes(t *testing.T) {
	all := []Event{{Seq: 4, Phase: "outcome", Cause: 2}, {Seq: 3, Phase: "intent"}, {Seq: 2, Phase: "intent"}, {Seq: 1, Phase: "done"}}
	var left []int64
	for _, e := range Fold(all, func(e Event) Event { return e }) {
		left = append(left, e.Seq)
	}
	if len(left) != 3 || left[0] != 4 || left[1] != 3 || left[2] != 1 {
		t.Errorf("%v", left)
	}
}

// What the terminal of a machine did was told as done by "local": nobody knew whose terminal that is.
func TestWho(t *testing.T) {
	for _, c := range []struct {
		actor    string
		terminal bool
		chain    []string
		want     string
	}{
		{"", false, nil, "a stranger"},
		{"owner", false, nil, "owner"}, // was present
		{"local", false, []string{"person:owner"}, "owner's terminal"},
		{"anna-laptop", true, []string{"person:anna"}, "anna's terminal anna-laptop"},
		{"anna-bot", false, []string{"person:anna"}, "anna-bot"}, // an agent of hers
		{"builder", false, []string{"local:local", "person:owner"}, "builder"},
		{"local", false, nil, "local"},
	} {
		if got := Who(c.actor, c.terminal, c.chain); got != c.want {
			t.Errorf("%s of %v: %q, not %q", c.actor, c.chain, got, c.want)
		}
	}
}

// A row has the name of whoever made it. That of a machine's own terminal names nobody.
func TestBy(t *testing.T) {
	for name, want := range map[string]string{"local": "owner's terminal", "owner": "owner", "anna-laptop": "anna-laptop", "": ""} {
		if got := By(name); got != want {
			t.Errorf("%q: %q, not %q", name, got, want)
		}
	}
}

// A signed-in browser acts for its person, and any program that took its cookie might: the person is named where they were proven.
func TestABrowserIsNotItsPerson(t *testing.T) {
	for _, c := range []struct {
		payload string
		chain   []string
		want    string
	}{
		{`{"door":"panel"}`, nil, "anna's browser"},
		{`{"door":"panel","present":"passkey"}`, nil, "anna"},
		{`{"door":"socket","present":"pin"}`, nil, "anna"},
		{`{"door":"panel"}`, []string{"person:ben"}, "anna"},
	} {
		if got := (Event{Actor: "anna", For: c.chain, Payload: json.RawMessage(c.payload)}).Who(false); got != c.want {
			t.Errorf("%s: %q, not %q", c.payload, got, c.want)
		}
	}
}
