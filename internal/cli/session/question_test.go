package session

import (
	"bytes"
	"testing"

	room "tandem/internal/session"
	"tandem/internal/tool"
)

// The options of a question were not shown, so nobody knew what was offered.
func TestAQuestionShowsItsOptions(t *testing.T) {
	one := tool.Question{Question: "Which database?", Options: []tool.Option{{Label: "SQLite", Description: "a file"}, {Label: "Postgres\x1b[2J"}}}
	var out bytes.Buffer
	showQuestion(&out, &room.Question{Questions: []tool.Question{one}})
	if got := out.String(); got != "Which database?\n  1  SQLite: a file\n  2  Postgres<U+001B>[2J\n" {
		t.Errorf("%q", got)
	}
	for typed, want := range map[string]string{"1": "SQLite", "3": "3", "the first": "the first", "1,2": "1,2"} {
		if got := chosen(one, typed); got != want {
			t.Errorf("%q is %q", typed, got)
		}
	}
	one.Multiple = true
	if got := chosen(one, "1, 2"); got != "SQLite, Postgres\x1b[2J" {
		t.Errorf("%q", got)
	}
}
