package cli

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
)

var update = flag.Bool("update", false, "write the generated files")

func TestReferenceIsCurrent(t *testing.T) {
	const file = "../../docs/cli.md"
	var b bytes.Buffer
	Reference(&b)
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(have, b.Bytes()) {
		t.Errorf("docs/cli.md is not what the commands say: run make generate")
	}
}

func TestEveryCommandHelps(t *testing.T) {
	root := newRoot(&kit.Kit{Flags: map[string]string{}})
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if !c.Runnable() || c.HasSubCommands() || c.Name() == "help" || c.Hidden || c.Parent() != nil && c.Parent().Name() == "completion" ||
			!c.HasParent() {
			return
		}
		if c.Short == "" || c.Example == "" {
			t.Errorf("%s has no short text or no example", c.CommandPath())
		}
	}
	walk(root)
}
