package peer

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tandem/internal/board"
	"tandem/internal/board/lists"
)

// Labels are words of up to fifty letters, each once; what a member sends that is none is left out, and so is what is too much.
func TestLabels(t *testing.T) {
	for given, want := range map[string]string{"billing|easy": "billing|easy", " a b |A B": "a b", "": "!", "a,b": "!", "a\nb": "!",
		strings.Repeat("ü", MaxLabel): strings.Repeat("ü", MaxLabel), strings.Repeat("ü", MaxLabel+1): "!"} {
		got, err := checkLabels(strings.Split(given, "|"))
		if s := strings.Join(got, "|"); err != nil && want != "!" || err == nil && s != want {
			t.Errorf("%q: %q, %v", given, s, err)
		}
	}
	var many []string
	for i := range 2 * MaxLabels {
		many = append(many, fmt.Sprint("l", i))
	}
	if _, err := checkLabels(many); err == nil {
		t.Error("a task may have any number of labels")
	}
	if got := labelled([]string{"a"}, append([]string{"x,y", "", "A"}, many...)); len(got) != MaxLabels || got[1] != "l0" {
		t.Errorf("%v", got)
	}
	if got := unlabelled([]string{"a", "b c"}, []string{" B C", "d"}); strings.Join(got, "|") != "a" {
		t.Errorf("%v", got)
	}
}

// A member's program of before has the same task, without what it does not know.
func TestAnEditIsReadByAnOlderProgram(t *testing.T) {
	data, err := json.Marshal(EditWords{TaskWords: TaskWords{Title: "new", Labels: []string{"a"}}, Unlabel: []string{"b"}})
	if err != nil {
		t.Fatal(err)
	}
	var old struct{ Title, Description, Result, Reason string }
	if err := json.Unmarshal(data, &old); err != nil || old.Title != "new" {
		t.Errorf("%s: %+v %v", data, old, err)
	}
	w := TaskWords{Title: "was", Labels: []string{"b", "c"}, Reason: "waits"}
	var n EditWords
	if err := json.Unmarshal(data, &n); err != nil {
		t.Fatal(err)
	}
	w.Labels = unlabelled(w.Labels, n.Unlabel)
	w = w.after(board.Event{Kind: board.KindEdit}, n.TaskWords, 1)
	if w.Title != "new" || strings.Join(w.Labels, "|") != "c|a" || w.Reason != "waits" {
		t.Errorf("%+v", w)
	}
}

// What is too long for a title goes on in the description, and what is no label is made one.
func TestAListedTaskFitsIntoAPlan(t *testing.T) {
	long := strings.Repeat("ä", 2*MaxTitle)
	p := Planning(lists.Task{Ref: "#1", Title: long, Description: "more", Labels: []string{"a, b", "\t", strings.Repeat("x", 2*MaxLabel)}})
	if !strings.HasSuffix(p.Title, "…") || len([]rune(p.Title)) != MaxTitle || !strings.HasPrefix(p.Description, long+"\n\nmore") {
		t.Errorf("%+v", p)
	}
	if strings.Join(p.Labels, "|") != "a b|"+strings.Repeat("x", MaxLabel) {
		t.Errorf("%q", p.Labels)
	}
}
