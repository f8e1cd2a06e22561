package screen

import "testing"

// The row of a crashed program had codes and frames of its screen in it, and not what it said.
func TestLastWords(t *testing.T) {
	for text, want := range map[string]string{
		"\x1b[31merror:\x1b[0m no such model\n\n": "error: no such model",
		"╭────────╮\n│ > hello │\n╰────────╯\nAPI Error: 500\n^[[?1;2c^[[I\nPane is dead": "> hello\nAPI Error: 500",
		"^[]11;rgb:0000/0000/0000^[\\$ cat\n": "$ cat",
		"one\ntwo\nthree":                     "two\nthree",
		"────\n\n":                            "",
	} {
		if got := LastWords(text, 2); got != want {
			t.Errorf("%q left %q, not %q", text, got, want)
		}
	}
}
