package knowledge

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/id"
	"tandem/internal/knowledge/wire"
	"tandem/internal/op"
	"tandem/internal/told"
)

func newAdd(k *kit.Kit) *cobra.Command {
	var in wire.AddIn
	var typed []string
	cmd := &cobra.Command{
		Use: "add SPACE [TEXT]", Short: "Add an item; it answers nobody until an owner promotes it", Args: cobra.RangeArgs(1, 2),
		Long: `Add an item: a title, the answer in a few sentences (--summary), and the whole of it as TEXT. It answers nobody until an
owner has read and promoted it. When an item with the same --key answers already, promoting this one takes its place.`,
		Example: "  tandem knowledge add handbook 'Releases are cut on Tuesdays.' " +
			"--title 'Release day' --covers release/day --key release-day\n" +
			"  tandem knowledge add handbook --title 'Hotfixes' --summary 'Two people approve a hotfix.' --source file:docs/hotfix.md",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Name = args[0]
			if len(args) == 2 {
				in.Body = args[1]
			}
			for _, s := range typed {
				kind, ref, ok := strings.Cut(s, ":")
				if !ok {
					return kit.Usagef("%q is no source: write KIND:NAME, for example file:docs/deploy.md or url:https://example.com", s)
				}
				in.Sources = append(in.Sources, wire.Source{Kind: kind, Ref: ref})
			}
			return say(cmd, k, wire.Add, in)
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.Title, "title", "", "what it says, in a line")
	f.StringVar(&in.Summary, "summary", "", "the answer in a few sentences")
	f.StringSliceVar(&in.Covers, "covers", nil, "topics that it answers")
	f.StringVar(&in.Key, "key", "", "what it is about, once: it takes the place of the item with this key")
	f.StringSliceVar(&typed, "source", nil, "where it comes from, as KIND:NAME: turn, file, commit, task, message, url, person or memory")
	f.IntVar(&in.Days, "days", 0, "fresh for so many days (as long as its knowledge space says)")
	return cmd
}

// say runs an operation that changes an item and prints what became of it.
func say[In any](cmd *cobra.Command, k *kit.Kit, do op.Def[In, wire.Changed], in In) error {
	out, err := op.Do(cmd.Context(), k, do, in)
	if err != nil {
		return err
	}
	return k.Show(out, func(w io.Writer) {
		switch {
		case out.Known:
			fmt.Fprintf(w, "%s says that already; it is %s\n", out.ID, out.State)
		case out.State == wire.Working:
			fmt.Fprintf(w, "%s waits in %s; let it answer: tandem knowledge promote %s\n", out.ID, out.Space, out.ID)
		default:
			fmt.Fprintf(w, "%s is %s in %s, version %d\n", out.ID, out.State, out.Space, out.Version)
		}
		for _, old := range out.Replaced {
			fmt.Fprintf(w, "%s is deprecated: it has the same key\n", old)
		}
	})
}

func newShow(k *kit.Kit) *cobra.Command {
	var in wire.ShowIn
	cmd := &cobra.Command{
		Use: "show NAME", Short: "Read about a knowledge space and what is in it, or one item", Args: cobra.ExactArgs(1),
		Example: "  tandem knowledge show handbook\n  tandem knowledge show handbook --state working\n  tandem knowledge show kno_01k8z",
		RunE: func(cmd *cobra.Command, args []string) error {
			if isItem(args[0]) {
				i, err := op.Do(cmd.Context(), k, wire.Item, wire.ItemIn{ID: args[0]})
				if err != nil {
					return err
				}
				return k.Show(i, func(w io.Writer) { whole(w, i) })
			}
			in.Name = args[0]
			out, err := op.Do(cmd.Context(), k, wire.Show, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				about(w, out.Space)
				for _, i := range out.Items {
					entry(w, i)
				}
				if out.More {
					fmt.Fprintf(w, "more: tandem knowledge show %s --before %s\n", in.Name, out.Items[len(out.Items)-1].ID)
				}
			})
		},
	}
	cmd.Flags().StringVar((*string)(&in.State), "state", "", "only items that are working, promoted, default or deprecated")
	cmd.Flags().StringVar(&in.Before, "before", "", "only items older than this one")
	cmd.Flags().IntVar(&in.Limit, "limit", 0, "at most this many (50)")
	return cmd
}

func isItem(word string) bool { return id.Check("kno", word) == nil || strings.HasPrefix(word, "kno_") }

// entry is an item in a line.
func entry(w io.Writer, i wire.Entry) {
	fmt.Fprintf(w, "%s  %s  %s", i.ID, i.State, kit.VisibleLine(i.Title))
	if len(i.Covers) > 0 {
		fmt.Fprintf(w, "  (%s)", strings.Join(i.Covers, ", "))
	}
	if i.Stale {
		fmt.Fprint(w, "  stale")
	}
	fmt.Fprintf(w, "  by %s\n", kit.VisibleLine(told.By(i.Author)))
}

// whole is an item with all that it says.
func whole(w io.Writer, i wire.Entry) {
	entry(w, i)
	fmt.Fprintf(w, "    in %s, version %d", i.Space, i.Version)
	if i.Key != "" {
		fmt.Fprintf(w, ", key %s", i.Key)
	}
	if i.By != "" {
		fmt.Fprintf(w, ", %s by %s", i.State, kit.VisibleLine(told.By(i.By)))
	}
	if !i.FreshUntil.IsZero() {
		fmt.Fprintf(w, ", fresh until %s", i.FreshUntil.Format("2006-01-02"))
	}
	fmt.Fprintln(w)
	if i.Reason != "" {
		fmt.Fprintf(w, "    %s\n", kit.VisibleLine(i.Reason))
	}
	if i.ReplacedBy != "" {
		fmt.Fprintf(w, "    in its place: tandem knowledge show %s\n", i.ReplacedBy)
	}
	origins(w, i)
	for _, text := range []string{i.Summary, i.Body} {
		if text != "" {
			fmt.Fprintf(w, "\n%s\n", kit.Visible(text))
		}
	}
}

func newPromote(k *kit.Kit) *cobra.Command {
	var in wire.PromoteIn
	cmd := &cobra.Command{
		Use: "promote ITEM", Short: "Let an item answer, as read by you; needs your PIN", Args: cobra.ExactArgs(1),
		Long: `Let an item answer, as read by you. With --default it is the default of its topics, and weighs more. An item that answers
already is fresh again. What has the same key is deprecated.`,
		Example: "  tandem knowledge promote kno_01k8z\n  tandem knowledge promote kno_01k8z --default",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID = args[0]
			i, err := op.Do(cmd.Context(), k, wire.Item, wire.ItemIn{ID: in.ID})
			if err != nil {
				return err
			}
			if in.Version == 0 { // what is promoted is what was read here
				in.Version = i.Version
			}
			if !k.JSON {
				whole(k.Screen(k.Out), i)
			}
			return say(cmd, k, wire.Promote, in)
		},
	}
	cmd.Flags().BoolVar(&in.Default, "default", false, "it is the default of the topics that it covers, and weighs more")
	cmd.Flags().Int64Var(&in.Version, "version", 0, "only when it is at this version: the one that you read")
	return cmd
}

func newDeprecate(k *kit.Kit) *cobra.Command {
	var in wire.DeprecateIn
	cmd := &cobra.Command{
		Use: "deprecate ITEM", Short: "Take an item out of answers; it stays, with the reason", Args: cobra.ExactArgs(1),
		Example: "  tandem knowledge deprecate kno_01k8z --reason 'releases moved to Thursdays'",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID = args[0]
			return say(cmd, k, wire.Deprecate, in)
		},
	}
	cmd.Flags().StringVar(&in.Reason, "reason", "", "why it should not be used any more")
	return cmd
}

func newRemove(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Delete an item, or a knowledge space with all of its items; needs your PIN", Args: cobra.ExactArgs(1),
		Example: "  tandem knowledge remove kno_01k8z\n  tandem knowledge remove handbook",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			var out wire.RemoveOut
			if isItem(args[0]) {
				out, err = op.Do(cmd.Context(), k, wire.Remove, wire.ItemIn{ID: args[0]})
			} else {
				out, err = op.Do(cmd.Context(), k, wire.Close, wire.NameIn{Name: args[0]})
			}
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s is deleted, %s\n", args[0], kit.Count(out.Removed, "item"))
				for _, where := range out.Beyond {
					fmt.Fprintf(w, "it may still be in %s\n", where)
				}
			})
		},
	}
}
