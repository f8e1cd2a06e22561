package memory

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/cli/source"
	"tandem/internal/memory/wire"
	"tandem/internal/op"
	"tandem/internal/told"
)

func narrowed(cmd *cobra.Command, f *wire.Filter) {
	cmd.Flags().StringVar((*string)(&f.Kind), "kind", "", "only facts, decisions, lessons, preferences or notes")
	cmd.Flags().StringVar(&f.Label, "label", "", "only what has this label")
	place(cmd, &f.Tier, &f.Of, "only what reaches so far")
}

func newSearch(k *kit.Kit) *cobra.Command {
	var in wire.SearchIn
	cmd := &cobra.Command{
		Use: "search WORDS…", Short: "Search what is remembered, and the documents of sources", Args: cobra.MinimumNArgs(1),
		Long: `Search what is remembered: words, "phrases in quotes" and beginnings*. The best come first; what is new or was useful
stands a little higher. Beside records it finds passages of the documents of sources (tandem source), each quoted with its file and
place; --only leaves one of the two out, and --kind, --label and --tier speak of records alone. Without a phrase or a beginning it also
finds records that mean the same in other words, and says so. You find what you may read, and nothing else changes what you find.`,
		Example: "  tandem memory search release day\n  tandem memory search '\"merge queue\" retr*' --kind lesson\n" +
			"  tandem memory search release day --only passages",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Query = strings.Join(args, " ")
			out, err := op.Do(cmd.Context(), k, wire.Search, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Hits)+len(out.Passages) == 0 {
					fmt.Fprintln(w, "nothing is known of that here")
				}
				for _, h := range out.Hits {
					line(w, h.Record)
					if h.By != wire.ByWords && h.By != wire.ByBoth {
						fmt.Fprintf(w, "    found by %s\n", h.By)
					}
				}
				if len(out.Hits) > 0 {
					fmt.Fprintf(w, "found %s\n", out.How)
				}
				quoted(w, out.Passages)
			})
		},
	}
	cmd.Flags().IntVar(&in.Limit, "limit", 0, "at most this many of each (10 records, 5 passages)")
	cmd.Flags().StringVar((*string)(&in.Only), "only", "", "records or passages (both)")
	narrowed(cmd, &in.Filter)
	return cmd
}

// quoted are passages of documents: where each stands, what it says, how old it is and that nobody answers for it.
func quoted(w io.Writer, passages []wire.Passage) {
	for _, p := range passages {
		fmt.Fprintf(w, "%s\n", kit.VisibleLine(source.Cited(p.Passage)))
		for _, l := range source.Excerpt(p.Text) {
			fmt.Fprintf(w, "    > %s\n", kit.VisibleLine(l))
		}
		fmt.Fprintf(w, "    passage of the source %s, %s, read %s\n", kit.VisibleLine(p.Source), p.Trust, ago(p.At))
	}
}

func ago(t time.Time) string {
	if age := kit.Age(t); age != "now" {
		return age + " ago"
	}
	return "now"
}

// line is a record in a list: what it says, and who answers for it.
func line(w io.Writer, r wire.Record) {
	text, more, cut := strings.Cut(strings.TrimSpace(r.Text), "\n")
	if cut && more != "" {
		text += " …"
	}
	if r.State == wire.Forgotten {
		text = "(forgotten)"
	}
	fmt.Fprintf(w, "%s  %s\n    %s\n", r.ID, kit.VisibleLine(text), kit.VisibleLine(about(r)))
}

// about says what a record is, who answers for it, how old it is and where it comes from.
func about(r wire.Record) string {
	reach := string(r.Tier)
	if r.Of != "" {
		reach += " " + r.Of
	}
	parts := []string{string(r.Kind), reach, string(r.State), string(r.Trust), "by " + told.By(r.Owner)}
	if age := kit.Age(r.ChangedAt); age != "" {
		parts = append(parts, age)
	}
	if len(r.Labels) > 0 {
		parts = append(parts, strings.Join(r.Labels, " "))
	}
	for _, s := range r.Sources {
		parts = append(parts, strings.TrimSpace("from "+s.Kind+" "+s.Ref+" "+s.Place))
	}
	return strings.Join(parts, ", ")
}

func newList(k *kit.Kit) *cobra.Command {
	var in wire.ListIn
	cmd := &cobra.Command{
		Use: "list", Short: "List what is remembered, or what is proposed", Args: cobra.NoArgs,
		Example: "  tandem memory list\n  tandem memory list --state proposed",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, wire.List, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Records) == 0 {
					fmt.Fprintln(w, "nothing")
				}
				for _, r := range out.Records {
					line(w, r)
				}
				if out.More {
					fmt.Fprintf(w, "more: tandem memory list --before %s\n", out.Records[len(out.Records)-1].ID)
				}
			})
		},
	}
	f := cmd.Flags()
	f.StringVar((*string)(&in.State), "state", "", "proposed, live, superseded or forgotten (live)")
	f.StringVar(&in.Before, "before", "", "only those older than this id")
	f.IntVar(&in.Limit, "limit", 0, "at most this many (50)")
	narrowed(cmd, &in.Filter)
	return cmd
}

func newShow(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "show MEMORY", Short: "Read a record with its sources", Args: cobra.ExactArgs(1), Example: "  tandem memory show mem_01j9z",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, wire.Show, wire.IDIn{ID: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { whole(w, out) })
		},
	}
}

func whole(w io.Writer, r wire.Record) {
	if r.Text != "" {
		fmt.Fprintf(w, "%s\n\n", kit.Visible(r.Text))
	}
	fmt.Fprintf(w, "%s, version %d: %s\n", r.ID, r.Version, kit.VisibleLine(about(r)))
	if r.ReplacedBy != "" {
		fmt.Fprintf(w, "replaced by %s\n", r.ReplacedBy)
	}
	if r.Replaces != "" {
		fmt.Fprintf(w, "replaces %s\n", r.Replaces)
	}
	if !r.ExpiresAt.IsZero() {
		fmt.Fprintf(w, "until %s\n", r.ExpiresAt.Local().Format("2006-01-02 15:04"))
	}
}

func newHistory(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "history MEMORY", Short: "Read every version of a record", Args: cobra.ExactArgs(1), Example: "  tandem memory history mem_01j9z",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, wire.History, wire.IDIn{ID: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				last := ""
				for _, v := range out.Versions {
					fmt.Fprintf(w, "%d  %s  %s by %s\n", v.Version, v.At.Local().Format("2006-01-02 15:04"), kit.VisibleLine(v.What),
						kit.VisibleLine(told.By(v.By)))
					if v.Text != last {
						fmt.Fprintf(w, "%s\n", kit.Visible(v.Text))
					}
					last = v.Text
				}
			})
		},
	}
}
