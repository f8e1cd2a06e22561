package screen

import "testing"

func TestPlain(t *testing.T) {
	for _, c := range [][2]string{
		{"Set model to \x1b[1mSonnet\x1b[22m", "Set model to Sonnet"},
		{"\x1b[38;5;12mblue\x1b[0m \x1b]8;;https://x\x07link\x1b]8;;\x07", "blue link"},
		{"no codes [1m here", "no codes [1m here"},
	} {
		if got := Plain(c[0]); got != c[1] {
			t.Errorf("%q became %q", c[0], got)
		}
	}
}
