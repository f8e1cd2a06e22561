package spec

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

const telling = `
name = "telling"
[inputs.list]
type = "array"
items = { type = "string" }
[[node]]
id = "draft"
[node.turn]
prompt = "Write."
model = "m"
[[node]]
id = "each"
[node.map]
over = "input.list"
max = 5
parallel = 1
[node.map.command]
run = ["echo", "{{item}}"]
[[node]]
id = "keep"
[node.operation]
name = "resource.put"
input = { key = "k", value = 7, share = 0.5 }
`

// Other words make another definition, whose digest is that of a file that says so; the one that they were changed in stays.
func TestOtherWordsAreAnotherVersion(t *testing.T) {
	a, err := Read([]byte(telling))
	if err != nil {
		t.Fatal(err)
	}
	before := a.Digest()
	for node, change := range map[string][2]string{"draft": {`"Write."`, `"Write less."`}, "each": {`"{{item}}"`, `"-", "{{item}}"`},
		"keep": {`value = 7`, `value = 8`}} {
		file, err := Read([]byte(strings.Replace(telling, change[0], change[1], 1)))
		if err != nil {
			t.Fatal(err)
		}
		w, ok := file.Words(node)
		if !ok {
			t.Fatalf("%s has no words", node)
		}
		stored, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		var again Words // as an event keeps it
		if err := json.Unmarshal(stored, &again); err != nil {
			t.Fatal(err)
		}
		if got := a.Told(node, again); got.Digest() != file.Digest() || got.Digest() == before || got.Wrong() != nil {
			t.Errorf("%s: %.12s, and the file is %.12s: %v", node, got.Digest(), file.Digest(), got.Wrong())
		}
	}
	if a.Digest() != before {
		t.Error("the definition itself was changed")
	}
	if w, _ := a.Words("draft"); a.Told("draft", w).Digest() != before {
		t.Error("the same words are another version")
	}
}

// Words that a file could not say are refused in a repair, too.
func TestWordsAreChecked(t *testing.T) {
	a, err := Read([]byte(telling))
	if err != nil {
		t.Fatal(err)
	}
	for what, to := range map[string]*Automation{
		"an input that is none":  a.Told("draft", Words{Prompt: "Write {{mail}}."}),
		"an empty prompt":        a.Told("draft", Words{}),
		"code with a value":      a.Told("each", Words{Run: []string{"sh", "-c", "{{item}}"}}),
		"no program":             a.Told("each", Words{}),
		"a hole in a map's item": a.Told("each", Words{Run: []string{"echo", "{{other}}"}}),
	} {
		if to.Wrong() == nil {
			t.Errorf("%s is taken", what)
		}
	}
	if _, ok := a.Words("nobody"); ok {
		t.Error("a node that is none has words")
	}
	if w, _ := a.Words("each"); !slices.Equal(w.Run, []string{"echo", "{{item}}"}) {
		t.Errorf("a map's body says %v", w)
	}
}
