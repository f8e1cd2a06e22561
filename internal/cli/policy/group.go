package policy

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/policy/book"
)

func newGroup(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "group", Short: "Groups of people, for grants and for who answers",
		Long: "A group is people under one name. Groups may be in groups, eight deep. Grants, rules and approvers name one as group:NAME, " +
			"and what is said of it holds for everybody in it."}
	cmd.AddCommand(newGroupList(k), newGroupShow(k), groupVerb(k, book.GroupAdd, "add GROUP NAME…",
		"Put people and groups into a group; needs your PIN",
		"  tandem group add reviewers anna ben\n  tandem group add staff group:reviewers", 2),
		groupVerb(k, book.GroupRemove, "remove GROUP [NAME…]", "Take members out of a group, or the group away; needs your PIN",
			"  tandem group remove reviewers ben\n  tandem group remove reviewers", 1))
	return cmd
}

func newGroupList(k *kit.Kit) *cobra.Command {
	var in book.GroupsIn
	cmd := &cobra.Command{
		Use: "list", Short: "List the groups and who is in each", Args: cobra.NoArgs,
		Example: "  tandem group list\n  tandem group list --after reviewers",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, book.GroupList, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				t := kit.Table(w)
				fmt.Fprintln(t, "GROUP\tPEOPLE\tMEMBERS")
				for _, g := range out.Groups {
					fmt.Fprintf(t, "%s\t%d\t%s\n", g.Name, len(g.People), strings.Join(g.Members, ", "))
				}
				t.Flush()
				if out.More {
					fmt.Fprintf(w, "more: tandem group list --after %s\n", out.Groups[len(out.Groups)-1].Name)
				}
			})
		},
	}
	cmd.Flags().StringVar(&in.After, "after", "", "only groups behind this one")
	cmd.Flags().IntVar(&in.Limit, "limit", 0, "at most this many (500)")
	return cmd
}

func newGroupShow(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "show GROUP", Short: "Show a group: its members, and everybody in it through others", Args: cobra.ExactArgs(1),
		Example: "  tandem group show reviewers",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, book.GroupShow, book.GroupNameIn{Name: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { group(w, out.GroupView) })
		},
	}
}

func group(w io.Writer, g book.GroupView) {
	if len(g.Members) == 0 {
		fmt.Fprintf(w, "%s has no members, and is gone\n", g.Name)
		return
	}
	fmt.Fprintf(w, "%s\nmembers: %s\npeople:  %s\n", g.Name, strings.Join(g.Members, ", "), strings.Join(g.People, ", "))
}

func groupVerb(k *kit.Kit, do op.Def[book.GroupIn, book.GroupOut], use, short, example string, least int) *cobra.Command {
	var in book.GroupIn
	cmd := &cobra.Command{Use: use, Short: short, Example: example, Args: cobra.MinimumNArgs(least),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Name, in.Members = args[0], args[1:]
			out, err := op.Do(cmd.Context(), k, do, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { group(w, out.GroupView) })
		},
	}
	cmd.Flags().StringVar(&in.Note, "note", "", "why, for the history")
	return cmd
}
