package automation

import (
	"os"
	"strings"
	"testing"

	"tandem/internal/automation/spec"
)

// The example of the documents is a definition, and a server does all that it asks for.
func TestTheExampleIsRight(t *testing.T) {
	page, err := os.ReadFile("../../docs/automation.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "```toml\n")
	text, _, end := strings.Cut(rest, "```")
	if !ok || !end {
		t.Fatal("the page has no example")
	}
	a, err := spec.Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if no := unbuilt(a); len(no) > 0 {
		t.Errorf("it asks for what is not built: %v", no)
	}
	if got := needs(a); len(got) != 3 {
		t.Errorf("it is granted %+v", got)
	}
}
