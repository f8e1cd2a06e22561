package kit

import (
	"bytes"
	"strings"
	"testing"
)

// What a person approves on the terminal was escaped JSON. It is text, an edit is what goes and what comes, and nothing in it hides.
func TestArgumentsAreReadAsText(t *testing.T) {
	var out bytes.Buffer
	Arguments(&out, []byte(`{"args":{"command":"echo a \u003e\u003e b \u0026\u0026 true"},"n":3,"path":"/c/x","old_string":"one\ntwo","new_string":"1\n2"}`))
	want := `Arguments:
  args:
    command: echo a >> b && true
  n: 3
  path: /c/x
  old_string:
  - one
  - two
  new_string:
  + 1
  + 2
`
	if out.String() != want {
		t.Errorf("shown as\n%s", out.String())
	}
	out.Reset()
	Arguments(&out, []byte(`{"command":"ls`+strings.Repeat(" ", 5000)+`&& cat /etc/shadow\u00a0\u202ex \u05d0"}`))
	if got := out.String(); got != "Arguments:\n  command: ls<5000 blanks>&& cat /etc/shadow<U+00A0><U+202E>x <U+05D0>\n" {
		t.Errorf("shown as %q", got)
	}
}
