package cli

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
)

// shortID is the form that lists and names of workspaces show: the prefix and at least the last four characters of an id. A whole
// one has 26, and is passed on as it is.
var shortID = regexp.MustCompile(`^[a-z]+_[0-9a-z]{4,25}$`)

// takeShort lets every argument that names a thing by its id be typed by the end of the id.
func takeShort(k *kit.Kit, cmd *cobra.Command, path string, holds []placeholder) {
	run := cmd.RunE
	if run == nil {
		return
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		args = slices.Clone(args)
		for n, word := range args {
			from, _ := named(path, holds, n)
			if from == nil || !shortID.MatchString(word) {
				continue
			}
			whole, err := lengthen(cmd.Context(), k, from, word)
			if err != nil {
				return err
			}
			args[n] = whole
		}
		return run(cmd, args)
	}
}

// lengthen is the id that ends as the word does. A word that no id ends with, or that is itself a name, is left to the command.
func lengthen(ctx context.Context, k *kit.Kit, from []source, word string) (string, error) {
	prefix, tail, _ := strings.Cut(word, "_")
	var found []string
	for _, s := range from {
		var answer map[string]any
		if err := k.Call(ctx, s.op, s.in, &answer); err != nil {
			continue // the command itself says what is wrong
		}
		for name := range s.listed(answer) {
			if name == word {
				return word, nil
			}
			if strings.HasPrefix(name, prefix+"_") && strings.HasSuffix(name, tail) && !slices.Contains(found, name) {
				found = append(found, name)
			}
		}
	}
	switch len(found) {
	case 0:
		return word, nil
	case 1:
		return found[0], nil
	}
	return "", fault.New(fault.Invalid, "id", "%s could be %d things: %s", word, len(found), strings.Join(found[:min(len(found), 5)], ", ")).
		WithNext("give more of the id")
}
