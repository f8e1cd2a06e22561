package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
)

// usageErrors makes every wrong number of arguments exit with 2, and every
// word that a group of commands does not have.
func usageErrors(cmd *cobra.Command) {
	if cmd.HasSubCommands() && !cmd.Runnable() {
		cmd.SuggestionsMinimumDistance = 2
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				return kit.Usagef("there is no %s %s; did you mean %s?", cmd.CommandPath(), args[0], strings.Join(near, " or "))
			}
			return kit.Usagef("there is no %s %s; see: %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())
		}
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			var usage kit.Usage
			if err == nil || errors.As(err, &usage) {
				return err
			}
			return wrongArguments(cmd, args, err)
		}
	}
	for _, c := range cmd.Commands() {
		usageErrors(c)
	}
}

// wrongArguments says which argument a command lacks, and where those are listed that there are.
func wrongArguments(cmd *cobra.Command, args []string, err error) error {
	_, arguments, _ := strings.Cut(cmd.Use, " ")
	usage := strings.TrimSpace(cmd.CommandPath() + " " + arguments)
	needs := needed(arguments)
	if len(args) >= len(needs) {
		return kit.Usagef("%s; usage: %s", strings.ToLower(err.Error()), usage)
	}
	path, where := strings.TrimPrefix(cmd.CommandPath(), "tandem "), ""
	if from, _ := named(path, placeholders(cmd.Use), len(args)); from != nil && !fresh[path] {
		for _, beside := range cmd.Parent().Commands() {
			if beside.Name() == "list" {
				where = "; which there are: " + beside.CommandPath()
			}
		}
	}
	return kit.Usagef("%s is missing%s; usage: %s", needs[len(args)], where, usage)
}

// needed are the words of a usage that have to be typed: those before the first that may be left out.
func needed(arguments string) (out []string) {
	words := strings.Fields(arguments)
	for i := 0; i < len(words) && !strings.HasPrefix(words[i], "["); i++ {
		switch {
		case strings.HasPrefix(words[i], "-"): // an option and what it takes
			i++
		case words[i] != "…":
			out = append(out, strings.TrimSuffix(words[i], "…"))
		}
	}
	return out
}
