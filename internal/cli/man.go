package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tandem/internal/cli/kit"
)

// manEntry writes the manual for man: a page for each command.
func manEntry(k *kit.Kit) []*cobra.Command {
	return []*cobra.Command{{
		Use: "man FOLDER", Short: "Write the manual pages into a folder", Args: cobra.ExactArgs(1),
		Long: "Write a manual page for every command into FOLDER/man1, as man reads them: tandem.1, tandem-session.1, " +
			"tandem-session-open.1 and so on. " +
			"scripts/install puts them where man looks.",
		Example: "  tandem man ~/.local/share/man\n  man tandem-session-open",
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := manual(cmd.Root(), filepath.Join(args[0], "man1"))
			if err != nil {
				return err
			}
			return k.Show(map[string]any{"folder": args[0], "pages": n}, func(w io.Writer) { fmt.Fprintf(w, "%d pages are in %s\n", n, args[0]) })
		},
	}}
}

// manual writes the pages of a command and of those below it, and says how many they are.
func manual(c *cobra.Command, dir string) (pages int, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	if err := os.WriteFile(filepath.Join(dir, name+".1"), []byte(manPage(c)), 0o644); err != nil {
		return 0, err
	}
	pages = 1
	for _, sub := range manned(c) {
		n, err := manual(sub, dir)
		if err != nil {
			return 0, err
		}
		pages += n
	}
	return pages, nil
}

// manned are the commands below one that have a page.
func manned(c *cobra.Command) (all []*cobra.Command) {
	for _, sub := range c.Commands() {
		if !sub.Hidden && sub.Name() != "help" && sub.Name() != "completion" {
			all = append(all, sub)
		}
	}
	return all
}

// manPage is the page of a command, in the macros of man(7). It holds no date, so that two builds of one version are alike.
func manPage(c *cobra.Command) string {
	var b strings.Builder
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"tandem\" \"Commands of tandem\"\n.SH NAME\n%s \\- %s\n", quoteMan(strings.ToUpper(name)), roff(name),
		roff(strings.TrimSuffix(c.Short, ".")))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(c.CommandPath()))
	if rest := strings.TrimSpace(strings.TrimPrefix(c.Use, c.Name())); rest != "" {
		fmt.Fprintln(&b, roff(rest))
	}
	text := c.Long
	if text == "" {
		text = c.Short
	}
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", roff(strings.TrimSuffix(strings.TrimSpace(text), ".")+"."))
	manFlags(&b, "OPTIONS", c.LocalNonPersistentFlags())
	if subs := manned(c); len(subs) > 0 {
		fmt.Fprintln(&b, ".SH COMMANDS")
		for _, s := range subs {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(s.Name()), roff(s.Short))
		}
	}
	if c.HasParent() {
		manFlags(&b, "OPTIONS OF EVERY COMMAND", c.Root().PersistentFlags())
	} else {
		manFlags(&b, "OPTIONS OF EVERY COMMAND", c.PersistentFlags())
		fmt.Fprint(&b, ".SH EXIT STATUS\n0 done, 1 failed, 2 wrong usage, 8 waiting for an approval, 130 interrupted.\n")
	}
	if c.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(dedent(c.Example)))
	}
	var see []string
	if p := c.Parent(); p != nil {
		see = append(see, p.CommandPath())
	}
	for _, s := range manned(c) {
		see = append(see, s.CommandPath())
	}
	if len(see) > 0 {
		for i, s := range see {
			see[i] = ".BR " + roff(strings.ReplaceAll(s, " ", "-")) + " (1)"
		}
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", strings.Join(see, ",\n"))
	}
	return b.String()
}

func manFlags(w io.Writer, title string, flags *pflag.FlagSet) {
	var all []string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" || f.Name == "version" {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		all = append(all, fmt.Sprintf(".TP\n.B %s\n%s\n", roff(name), roff(f.Usage)))
	})
	if len(all) > 0 {
		sort.Strings(all)
		fmt.Fprintf(w, ".SH %s\n%s", title, strings.Join(all, ""))
	}
}

// roff is text in which man finds no commands of its own.
func roff(s string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}

func quoteMan(s string) string { return `"` + roff(s) + `"` }
