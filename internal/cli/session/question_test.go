package session

import (
	"bytes"
	"encoding/json"
	"testing"

	room "tandem/internal/session"
)

// The options of a question were not shown, so nobody knew what was offered.
func TestAQuestionShowsItsOptions(t *testing.T) {
	var q room.Question
	if err := json.Unmarshal([]byte(`{"questions":[{"question":"Which database?","options":[{"label":"SQLite","description":"a `+
		`file"},{"label":"Postgres\u001b[2J"}]}]}`), &q); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	showQuestion(&out, &q)
	if got := out.String(); got != "Which database?\n  1  SQLite: a file\n  2  Postgres<U+001B>[2J\n" {
		t.Errorf("%q", got)
	}
	for typed, want := range map[string]string{"1": "SQLite", "3": "3", "the first": "the first", "1,2": "1,2"} {
		if got := chosen(&q, 0, typed); got != want {
			t.Errorf("%q is %q", typed, got)
		}
	}
	q.Questions[0].Multiple = true
	if got := chosen(&q, 0, "1, 2"); got != "SQLite, Postgres\x1b[2J" {
		t.Errorf("%q", got)
	}
}
