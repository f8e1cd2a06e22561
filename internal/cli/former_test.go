package cli

import (
	"bytes"
	"strings"
	"testing"
)

// Called by the name of a program whose place it takes, and with that program's words, it answers or says what took their place. Those
// words were read as jj's.
func TestFormerCommandLines(t *testing.T) {
	for line, want := range map[string]string{
		"tandem install panel":         "the panel is built in",
		"tandem-engine tool list":      "tandem run",
		"tandem-engine parallel x y":   "tandem session open",
		"tandem-engine smoke --help":   "tandem doctor",
		"tandem-engine config check":   "log.level",
		"tandem panel init --help":     "tandem up",
		"tandem-engine token generate": "api",
	} {
		if now, says, _ := formerly(strings.Fields(line)[0], strings.Fields(line)[1:]); len(now) == 0 && says == "" {
			t.Errorf("nothing answers to %q", line)
		}
		if strings.HasSuffix(line, "generate") {
			continue // it would ask a server
		}
		var out bytes.Buffer
		Main(strings.Fields(line), []string{"HOME=" + t.TempDir()}, strings.NewReader(""), &out, &out)
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s answers\n%s", line, out.String())
		}
	}
}

// A word of tandem's own that was mistyped gets a tip with tandem's words; it got jj's.
func TestMistypedWords(t *testing.T) {
	for line, want := range map[string]string{
		"tandem sesion list":    `there is no command "sesion"; did you mean tandem session?`,
		"tandem aproval":        "did you mean tandem approvals?",
		"tandem folder grant .": `there is no command "folder"; did you mean tandem grant folder?`,
		"tandem bookmark lst":   "unrecognized subcommand 'lst'",
		"tandem parallelise":    "unrecognized subcommand",
	} {
		var out bytes.Buffer
		code := Main(strings.Fields(line), []string{"HOME=" + t.TempDir()}, strings.NewReader(""), &out, &out)
		if code != 2 || !strings.Contains(out.String(), want) {
			t.Errorf("%s: %d\n%s", line, code, out.String())
		}
	}
}
