package automation

import (
	"context"
	"strings"
	"testing"

	"tandem/internal/automation/run"
	"tandem/internal/automation/spec"
	"tandem/internal/op"
)

// A check looks at what a value says, and not at how JSON writes it.
func TestChecksLookAtTheText(t *testing.T) {
	for _, one := range []struct {
		artifact, check string
		v               any
		want            string
	}{
		{"json", "no-secrets", map[string]any{"text": "Found:\nAKIA" + "ABCDEFGHIJKLMNOP"}, "an AWS key"},
		{"", "no-secrets", "Found:\nAKIA" + "ABCDEFGHIJKLMNOP", "an AWS key"},
		{"json", "no-active-content", map[string]any{"html": "<script>alert(1)</script>"}, "a script"},
		{"", "no-active-content", []any{"<img src=x onerror=y>"}, "an event handler"},
		{"", "citations", "It grew [1].\n\n[1] Report https://example.com/r", ""},
	} {
		_, wrong := (&Room{}).looked("t", &spec.Output{Artifact: one.artifact, Checks: []string{one.check}}, one.v)
		if got := strings.Join(wrong, "; "); (got == "") != (one.want == "") || !strings.Contains(got, one.want) {
			t.Errorf("%s of %v says %q, not %q", one.check, one.v, got, one.want)
		}
	}
}

// A turn is told the form of a document also where that is all it gives.
func TestATurnIsToldTheForm(t *testing.T) {
	j := &job{node: &spec.Node{Output: map[string]spec.Output{"outline": {Artifact: "json", Checks: []string{"document"}}}}}
	j.body = &spec.Body{Turn: &spec.Turn{System: "Be short."}}
	if said := j.system(); !strings.HasPrefix(said, "Be short.") || !strings.Contains(said, `"sections"`) {
		t.Errorf("it is told %q", said)
	}
}

// An object that a person gave in the place of an artifact is what it is, and names none.
func TestAnAcceptedObjectIsNoArtifact(t *testing.T) {
	r := &Room{Text: func(context.Context, string, string, string) (string, bool, error) { return "kept", true, nil }}
	j := &job{inputs: map[string]any{"said": map[string]any{"a": 1}, "made": map[string]any{"artifact": "art_1"}},
		artifacts: map[string]bool{"said": true, "made": true}}
	if err := r.readArtifacts(t.Context(), j); err != nil || j.inputs["made"] != "kept" || j.inputs["said"].(map[string]any)["a"] != 1 {
		t.Errorf("it is given %v, %v", j.inputs, err)
	}
}

// An output that nobody can make is refused before its turn is paid, also where it was switched on by an older server.
func TestAnOutputThatNobodyMakes(t *testing.T) {
	for _, out := range []spec.Output{{Artifact: "pptx"}, {Artifact: "markdown", Checks: []string{"tests"}}} {
		j := &job{node: &spec.Node{ID: "write", Output: map[string]spec.Output{"slides": out}}, body: &spec.Body{Operation: &spec.Operation{}}}
		r := &Room{Find: func(string) *op.Op { return nil }}
		if res := r.act(t.Context(), j, op.Caller{}); res.Kind != run.Failure || res.Class != "invalid" {
			t.Errorf("%+v: %+v", out, res.Event)
		}
	}
}

// What a sender chose began with a dash, and tar took it for an option, of which some run what they say. The step fails before anything
// runs.
func TestAChosenValueIsNoOption(t *testing.T) {
	j := &job{name: "unpack", node: &spec.Node{ID: "unpack"}, inputs: map[string]any{"file": "--to-command=id"},
		body: &spec.Body{Command: &spec.Command{Run: []string{"tar", "-x", "-f", "a.tar", "{{file}}"}}}}
	if res := (&Room{}).act(t.Context(), j, op.Caller{}); res.Kind != run.Failure || !strings.Contains(res.Text, "begin with a dash") {
		t.Errorf("%+v", res.Event)
	}
}
