package cli

import (
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tandem/internal/cli/kit"
)

//go:generate go test -run TestReference -args -update

// Reference writes every command of tandem's own, with its flags and examples,
// as Markdown: docs/cli.md.
func Reference(w io.Writer) {
	root := newRoot(&kit.Kit{Out: io.Discard, Err: io.Discard, Flags: map[string]string{}})
	fmt.Fprint(w, `# Commands

Every command of tandem's own, generated from the program (`+"`make generate`"+`). The commands of jj (`+"`tandem log`, `tandem new` "+
		"…"+`) are in [jj.md](jj.md), and the
words that are ours in [glossary.md](glossary.md). Every command takes `+"`--json`"+` (print the result as JSON), `+"`--data`, "+
		"`--control-socket`, `--no-color`"+` and `+"`--help`"+`. Exit codes: 0 done, 1 failed, 2 wrong usage,
8 waiting for an approval.

<!-- every block: story: cli agents relay people job team tenant -->

`)
	describe(w, root, "")
}

func describe(w io.Writer, cmd *cobra.Command, path string) {
	for _, c := range cmd.Commands() {
		if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		name := strings.TrimSpace(path + " " + c.Name())
		if !c.HasSubCommands() {
			command(w, c, name)
		} else if path == "" {
			fmt.Fprintf(w, "## %s\n\n%s.\n\n", name, strings.TrimSuffix(c.Short, "."))
			if c.Example != "" { // it does something by itself
				command(w, c, name)
			}
		}
		describe(w, c, name)
	}
}

func command(w io.Writer, c *cobra.Command, name string) {
	usage := strings.TrimSpace("tandem " + name + " " + strings.TrimSpace(strings.TrimPrefix(c.Use, c.Name())))
	fmt.Fprintf(w, "### `%s`\n\n", usage)
	text := c.Long
	if text == "" {
		text = c.Short
	}
	fmt.Fprintf(w, "%s\n\n", strings.TrimSuffix(strings.TrimSpace(text), ".")+".")
	var flags []string
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		short := ""
		if f.Shorthand != "" {
			short = "-" + f.Shorthand + ", "
		}
		flags = append(flags, fmt.Sprintf("- `%s--%s`: %s", short, f.Name, f.Usage))
	})
	sort.Strings(flags)
	if len(flags) > 0 {
		fmt.Fprintf(w, "%s\n\n", strings.Join(flags, "\n"))
	}
	if c.Example != "" {
		fmt.Fprintf(w, "```\n%s\n```\n\n", dedent(c.Example))
	}
}

func dedent(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}
