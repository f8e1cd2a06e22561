// Package approval holds the commands of the inbox: what waits for an answer, and the answers.
package approval

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	room "tandem/internal/approval"
	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
	"tandem/internal/told"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	list := newList(k)
	cmd := &cobra.Command{
		Use: "approvals", Aliases: []string{"approval"}, Short: "What waits for an approval, and the answers", Args: cobra.NoArgs,
		Long: "The inbox of calls that wait for an approval. Whoever asks does not answer, and answering asks for your PIN. " +
			"The first answer counts, and an approval is used once.",
		Example: "  tandem approvals\n  tandem approvals show ask_x4k2p9\n  tandem approvals approve ask_x4k2p9",
		RunE:    list.RunE,
	}
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(list, newShow(k), newWait(k), newApprove(k), newRework(k), newCancel(k), newDeny(k), newSave(k), newRules(k), newForget(k))
	return []*cobra.Command{cmd, alone(newApprove(k), "approve"), alone(newDeny(k), "deny")}
}

// alone is a verb of the group as a command of its own: tandem deny is tandem approvals deny.
func alone(cmd *cobra.Command, verb string) *cobra.Command {
	cmd.Example = "  tandem " + verb + " ask_x4k2p9"
	return cmd
}

func newList(k *kit.Kit) *cobra.Command {
	var in room.ListIn
	cmd := &cobra.Command{
		Use: "list", Short: "List what waits, oldest first", Args: cobra.NoArgs,
		Example: "  tandem approvals list\n  tandem approvals list --state all",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, room.AskList, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Asks) == 0 {
					fmt.Fprintln(w, "nothing waits for an approval")
					return
				}
				t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
				fmt.Fprintln(t, "ID\tSTATE\tASKER\tSINCE\tWHAT")
				for _, a := range out.Asks {
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", id.Short(a.ID), a.State, kit.VisibleLine(who(a)), a.CreatedAt.Local().Format("01-02 15:04"),
						kit.SeenLine(a.Title))
				}
				t.Flush()
				if out.More {
					fmt.Fprintf(w, "more: tandem approvals list --after %s\n", out.Asks[len(out.Asks)-1].ID)
				}
			})
		},
	}
	cmd.Flags().StringVar(&in.State, "state", "", "pending, approved, rework, cancelled, expired, spent or all (pending)")
	cmd.Flags().StringVar(&in.After, "after", "", "only asks behind this one")
	cmd.Flags().IntVar(&in.Limit, "limit", 0, "at most this many (100)")
	return cmd
}

func newShow(k *kit.Kit) *cobra.Command {
	var page int
	cmd := &cobra.Command{
		Use: "show [ID]", Short: "Show one ask: what would be done, and why it waits", Args: cobra.MaximumNArgs(1),
		Example: "  tandem approvals show ask_x4k2p9\n  tandem approvals show ask_x4k2p9 --page 2",
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := find(cmd.Context(), k, args)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("page") {
				p, err := op.Do(cmd.Context(), k, room.AskPage, room.PageIn{ID: a.ID, Page: page})
				if err != nil {
					return err
				}
				return k.Show(p, func(w io.Writer) { turnPage(w, &p) })
			}
			return k.Show(a, func(w io.Writer) {
				describe(w, a)
				turnPage(w, a.First)
			})
		},
	}
	cmd.Flags().IntVar(&page, "page", 1, "which page of a long one")
	return cmd
}

// turnPage shows a page and where the next one is.
func turnPage(w io.Writer, p *room.Page) {
	kit.ShowPage(w, p)
	if p.Number < p.Of {
		fmt.Fprintf(w, "go on: tandem approvals show %s --page %d\n", p.Ask, p.Number+1)
	}
}

func newWait(k *kit.Kit) *cobra.Command {
	var life time.Duration
	cmd := &cobra.Command{
		Use: "wait [ID]", Short: "Wait for the answer to an ask", Args: cobra.MaximumNArgs(1),
		Example: "  tandem approvals wait ask_x4k2p9 --timeout 5m",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), life)
			defer cancel()
			a, err := find(ctx, k, args)
			if err != nil {
				return err
			}
			for {
				left := time.Until(deadline(ctx))
				in := room.WaitIn{ID: a.ID, Timeout: min(60, max(1, int(left.Seconds())))}
				out, err := op.Do(cmd.Context(), k, room.AskWait, in)
				if err != nil {
					return err
				}
				if out.Answered || left <= time.Second {
					err := k.Show(out, func(w io.Writer) { describe(w, &out.Ask) })
					if err == nil && !out.Answered {
						err = kit.Silent{Code: 8}
					}
					return err
				}
			}
		},
	}
	cmd.Flags().DurationVar(&life, "timeout", time.Minute, "give up after this long")
	return cmd
}

func deadline(ctx context.Context) time.Time {
	t, _ := ctx.Deadline()
	return t
}

// find reads an ask where it is: at the server that the person is logged in at, or on this machine.
func find(ctx context.Context, k *kit.Kit, args []string) (a *room.Ask, err error) {
	err = k.Seek(ctx, func() (err error) { a, err = findThere(ctx, k, args); return err })
	return a, err
}

// findThere reads an ask by its id, or by the short form that lists show. Without either it is the one that waits, if there is
// just one.
func findThere(ctx context.Context, k *kit.Kit, args []string) (*room.Ask, error) {
	if len(args) == 0 {
		out, err := op.Do(ctx, k, room.AskList, room.ListIn{Limit: 2})
		if err != nil {
			return nil, err
		}
		if len(out.Asks) != 1 {
			return nil, fault.New(fault.Invalid, "approvals", "which one? %s",
				map[bool]string{true: "nothing waits", false: "several wait"}[len(out.Asks) == 0]).
				WithNext("list what waits: tandem approvals; then name one")
		}
		return get(ctx, k, out.Asks[0].ID)
	}
	name := args[0]
	if id.Check("ask", name) == nil {
		return get(ctx, k, name)
	}
	matches, err := ending(ctx, k, "pending", name)
	if err == nil && len(matches) == 0 { // it is seldom about an old one, and there may be many of those
		matches, err = ending(ctx, k, "all", name)
	}
	if err != nil {
		return nil, err
	}
	switch len(matches) {
	case 1:
		return get(ctx, k, matches[0].ID)
	case 0:
		return nil, fault.New(fault.NotFound, "approvals", "there is no ask %s", name).WithNext("list what waits: tandem approvals")
	}
	return nil, fault.New(fault.Invalid, "approvals", "%s could be %d asks", name, len(matches)).WithNext("give more of the id")
}

// get reads an ask whole: a list may have left out arguments.
func get(ctx context.Context, k *kit.Kit, name string) (*room.Ask, error) {
	return op.Do(ctx, k, room.AskGet, room.IDIn{ID: name})
}

// ending finds the asks in a state by the end of their ids.
func ending(ctx context.Context, k *kit.Kit, state, name string) (matches []*room.Ask, err error) {
	tail := strings.TrimPrefix(name, "ask_")
	for in := (room.ListIn{State: state, Limit: 1000}); len(tail) >= 4; {
		out, err := op.Do(ctx, k, room.AskList, in)
		if err != nil {
			return nil, err
		}
		for _, a := range out.Asks {
			if strings.HasSuffix(a.ID, tail) {
				matches = append(matches, a)
			}
			in.After = a.ID
		}
		if !out.More {
			break
		}
	}
	return matches, nil
}

func describe(w io.Writer, a *room.Ask) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(t, "%s:\t%s\n", name, kit.VisibleLine(value))
		}
	}
	line("Ask", a.ID)
	line("State", string(a.State))
	line("Session", a.Called)
	line("Asker", who(a)+" ("+string(a.AskerKind)+")")
	line("For", strings.Join(a.For, ", "))
	line("Operation", a.Op)
	line("Resource", a.Resource)
	line("Why", a.Reason)
	line("Rule", a.By)
	line("May answer", a.Answerers())
	for _, n := range a.Answers {
		line("Agreed", agreed(n))
	}
	line("Until", a.ExpiresAt.Local().Format("2006-01-02 15:04:05"))
	if a.DecidedAt != nil {
		line("Answered", told.By(a.DecidedBy)+" at "+a.DecidedAt.Local().Format("2006-01-02 15:04:05"))
	}
	line("Feedback", a.Feedback)
	if a.Successor != "" {
		line("Waits now as", a.Successor)
	}
	line("Digest", a.Digest)
	if a.State == room.Pending {
		line("Always here", a.Always)
	}
	t.Flush()
}

// agreed is one person's yes.
func agreed(n room.Answer) string {
	text := n.By + ", by " + n.Present
	if n.As != "" {
		text += ", standing in for " + n.As
	}
	if n.Confirms {
		text += ", confirming what their own terminal asked"
	}
	return text + " at " + n.At.Local().Format("2006-01-02 15:04:05")
}

// stands is how an ask stands after an answer.
func stands(a *room.Ask) string {
	if a.State == room.Pending && len(a.Answers) == 1 {
		return "approved by you, and still pending: somebody else has to approve it, too"
	}
	if a.State == room.Cancelled && !a.Unanswered() {
		return "denied"
	}
	return string(a.State)
}

// who asks, by the name that people know.
func who(a *room.Ask) string {
	if a.Called != "" {
		return a.Called
	}
	if a.From != "" {
		return told.By(a.Asker) + " from " + a.From
	}
	return a.Who()
}
