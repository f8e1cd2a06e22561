package cli

import (
	"io"
	"testing"

	"tandem/internal/cli/kit"
)

// A command that is in no chapter would stand under "Additional Commands",
// where nobody looks; a chapter that names what is gone would go unnoticed.
func TestEveryCommandHasItsChapter(t *testing.T) {
	root := newRoot(&kit.Kit{Out: io.Discard, Err: io.Discard, Flags: map[string]string{}})
	there := map[string]bool{}
	for _, c := range root.Commands() {
		there[c.Name()] = true
		if !c.Hidden && c.GroupID == "" {
			t.Errorf("tandem %s is in no chapter of the help", c.Name())
		}
	}
	seen := map[string]bool{}
	for _, chapter := range chapters {
		for _, name := range chapter.commands {
			if !there[name] {
				t.Errorf("%q names %s, which is no command", chapter.title, name)
			}
			if seen[name] {
				t.Errorf("%s is in two chapters", name)
			}
			seen[name] = true
		}
	}
}
