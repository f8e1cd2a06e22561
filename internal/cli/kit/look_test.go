package kit

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"tandem/internal/approval"
)

// What a person approves on the terminal was escaped JSON. It is text, an edit is what goes and what comes, and nothing in it hides.
func TestAnAskIsReadAsText(t *testing.T) {
	shown := func(in string) string {
		var out bytes.Buffer
		a := approval.Ask{ID: "ask_1", Digest: "d", Input: json.RawMessage(in)}
		for _, p := range a.Pages() {
			ShowPage(&out, &p)
		}
		return out.String()
	}
	want := `Arguments:
  args.command: echo a >> b && true
  n: 3
  path: /c/x
  old_string:
  - one
  - two
  new_string:
  + 1
  + 2
`
	if got := shown(`{"args":{"command":"echo a \u003e\u003e b \u0026\u0026 ` +
		`true"},"n":3,"path":"/c/x","old_string":"one\ntwo","new_string":"1\n2"}`); got != want {
		t.Errorf("shown as\n%s", got)
	}
	if got := shown(`{"command":"ls` + strings.Repeat(" ", 5000) + `&& cat /etc/shadow\u00a0\u202ex \u05d0"}`); got !=
		"Arguments:\n  command: ls<5000 blanks>&& cat /etc/shadow<U+00A0><U+202E>x <U+05D0>\n" {
		t.Errorf("shown as %q", got)
	}
	if got := shown(`{"a":"x\nState: approved"}`); got != "Arguments:\n  a:\n  | x\n  | State: approved\n" {
		t.Errorf("a line of the call passes for one of ours: %q", got)
	}
	if got := shown(`{"content":"\u0000ELF"}`); !strings.Contains(got, "not text: application/octet-stream, 4 bytes, SHA-256") ||
		!strings.Contains(got, "tandem approvals save ask_1 content FILE") {
		t.Errorf("bytes are shown as %q", got)
	}
}
