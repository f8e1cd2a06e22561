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
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	list := newList(k)
	cmd := &cobra.Command{
		Use: "approvals", Aliases: []string{"approval"}, Short: "What waits for an approval, and the answers", Args: cobra.NoArgs,
		Long:    "The inbox of calls that wait for an approval. Whoever asks does not answer, and answering asks for your PIN. The first answer counts, and an approval is used once.",
		Example: "  tandem approvals\n  tandem approvals show ask_x4k2p9\n  tandem approvals approve ask_x4k2p9",
		RunE:    list.RunE,
	}
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(list, newShow(k), newWait(k), newApprove(k), newRework(k), newCancel(k), newDeny(k), newRules(k), newForget(k))
	return []*cobra.Command{cmd}
}

func newList(k *kit.Kit) *cobra.Command {
	var in room.ListIn
	cmd := &cobra.Command{
		Use: "list", Short: "List what waits, oldest first", Args: cobra.NoArgs, Example: "  tandem approvals list\n  tandem approvals list --state all",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var out room.ListOut
			if err := k.Call(cmd.Context(), "approval.list", in, &out); err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Asks) == 0 {
					fmt.Fprintln(w, "nothing waits for an approval")
					return
				}
				t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
				fmt.Fprintln(t, "ID\tSTATE\tASKER\tOPERATION\tRESOURCE\tSINCE\tWHAT")
				for _, a := range out.Asks {
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", id.Short(a.ID), a.State, kit.VisibleLine(a.Asker), a.Op, kit.VisibleLine(a.Resource),
						a.CreatedAt.Local().Format("01-02 15:04"), kit.Seen(what(a)))
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
	return &cobra.Command{
		Use: "show [ID]", Short: "Show one ask: what would be done, and why it waits", Args: cobra.MaximumNArgs(1), Example: "  tandem approvals show ask_x4k2p9",
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := find(cmd.Context(), k, args)
			if err != nil {
				return err
			}
			return k.Show(a, func(w io.Writer) { describe(w, a) })
		},
	}
}

func newWait(k *kit.Kit) *cobra.Command {
	var life time.Duration
	cmd := &cobra.Command{
		Use: "wait [ID]", Short: "Wait for the answer to an ask", Args: cobra.MaximumNArgs(1), Example: "  tandem approvals wait ask_x4k2p9 --timeout 5m",
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
				var out room.WaitOut
				if err := k.Call(cmd.Context(), "approval.wait", in, &out); err != nil {
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

func newApprove(k *kit.Kit) *cobra.Command {
	cmd := newAnswer(k, room.Approve, "approve [ID]", "Approve an ask; needs your PIN",
		"  tandem approvals approve ask_x4k2p9\n  tandem approvals approve ask_x4k2p9 --always\n  tandem approvals approve ask_x4k2p9 --always --scope folder --for 48h")
	var always bool
	var scope string
	var life time.Duration
	once := cmd.RunE
	cmd.Long = "Approve an ask. With --always, calls like it pass without an ask from now on: the pattern is shown before you type the PIN, it has you as its owner, and it ends by itself."
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !always {
			if cmd.Flags().Changed("scope") || cmd.Flags().Changed("for") {
				return kit.Usagef("--scope and --for belong to --always")
			}
			return once(cmd, args)
		}
		a, err := find(cmd.Context(), k, args)
		if err != nil {
			return err
		}
		describe(k.Err, a)
		secs, err := kit.Life(cmd, "for", life, time.Second)
		if err != nil {
			return err
		}
		var out room.AlwaysOut
		if err := k.Call(cmd.Context(), "approval.always", room.AlwaysIn{ID: a.ID, Scope: room.Scope(scope), TTL: secs, Digest: a.Digest}, &out); err != nil {
			return err
		}
		return k.Show(out, func(w io.Writer) {
			fmt.Fprintf(w, "%s is approved; %s passes until %s\nend it earlier: tandem approvals forget %s\n", id.Short(out.Ask.ID), kit.VisibleLine(out.Rule.Pattern),
				out.Rule.ExpiresAt.Local().Format("2006-01-02 15:04"), out.Rule.ID)
		})
	}
	cmd.Flags().BoolVar(&always, "always", false, "let calls like it pass from now on")
	cmd.Flags().StringVar(&scope, "scope", string(room.InSession), "where: session, or folder for every session of the same people that stays in the call's folder")
	cmd.Flags().DurationVar(&life, "for", room.RuleLife, "how long, 30 days at most")
	return cmd
}

func newRework(k *kit.Kit) *cobra.Command {
	return newAnswer(k, room.SendBack, "rework [ID]", "Send an ask back with feedback; needs your PIN", `  tandem approvals rework ask_x4k2p9 --feedback "keep the old flag"`)
}

func newCancel(k *kit.Kit) *cobra.Command {
	return newAnswer(k, room.Cancel, "cancel [ID]", "Say no to an ask; needs your PIN", "  tandem approvals cancel ask_x4k2p9")
}

// newDeny is cancel by the word that people try first.
func newDeny(k *kit.Kit) *cobra.Command {
	return newAnswer(k, room.Cancel, "deny [ID]", "Say no to an ask, the same as cancel; needs your PIN", "  tandem approvals deny ask_x4k2p9")
}

// newAnswer shows the ask before it asks for the PIN, and answers exactly what it showed.
func newAnswer(k *kit.Kit, v room.Verdict, use, short, example string) *cobra.Command {
	var feedback string
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.MaximumNArgs(1), Example: example,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := room.CheckVerdict(v, feedback); err != nil {
				return err
			}
			a, err := find(cmd.Context(), k, args)
			if err != nil {
				return err
			}
			describe(k.Err, a)
			if a.State != room.Pending {
				return fault.New(fault.Conflict, "approval.decide", "%s is %s already", id.Short(a.ID), a.State)
			}
			var out room.Ask
			if err := k.Call(cmd.Context(), "approval.decide", room.DecideIn{ID: a.ID, Verdict: v, Feedback: feedback, Digest: a.Digest}, &out); err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s is %s\n", id.Short(out.ID), out.State) })
		},
	}
	cmd.Flags().StringVar(&feedback, "feedback", "", "a word to the asker")
	return cmd
}

// find reads an ask by its id, or by the short form that lists show. Without either it is the one that waits, if there is
// just one.
func find(ctx context.Context, k *kit.Kit, args []string) (*room.Ask, error) {
	if len(args) == 0 {
		var out room.ListOut
		if err := k.Call(ctx, "approval.list", room.ListIn{Limit: 2}, &out); err != nil {
			return nil, err
		}
		if len(out.Asks) != 1 {
			return nil, fault.New(fault.Invalid, "approvals", "which one? %s", map[bool]string{true: "nothing waits", false: "several wait"}[len(out.Asks) == 0]).
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
	var a room.Ask
	return &a, k.Call(ctx, "approval.get", room.IDIn{ID: name}, &a)
}

// ending finds the asks in a state by the end of their ids.
func ending(ctx context.Context, k *kit.Kit, state, name string) (matches []*room.Ask, err error) {
	tail := strings.TrimPrefix(name, "ask_")
	for in := (room.ListIn{State: state, Limit: 1000}); len(tail) >= 4; {
		var out room.ListOut
		if err := k.Call(ctx, "approval.list", in, &out); err != nil {
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
	line("Asker", fmt.Sprintf("%s (%s)", a.Asker, a.AskerKind))
	line("For", strings.Join(a.For, ", "))
	line("Operation", a.Op)
	line("Resource", a.Resource)
	line("Why", a.Reason)
	line("Rule", a.By)
	line("May answer", strings.Join(a.Approvers, ", "))
	line("Until", a.ExpiresAt.Local().Format("2006-01-02 15:04:05"))
	if a.DecidedAt != nil {
		line("Answered", a.DecidedBy+" at "+a.DecidedAt.Local().Format("2006-01-02 15:04:05"))
	}
	line("Feedback", a.Feedback)
	line("Digest", a.Digest)
	if a.State == room.Pending {
		line("Always here", a.Always)
	}
	t.Flush()
	kit.Arguments(w, a.Input)
}

// what says in a cell what an ask is about, unless the operation and the resource say it already.
func what(a *room.Ask) string {
	if a.Title == strings.TrimSpace(a.Op+" "+a.Resource) {
		return ""
	}
	return a.Title
}
