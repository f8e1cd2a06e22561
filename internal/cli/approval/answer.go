package approval

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	room "tandem/internal/approval"
	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

func newApprove(k *kit.Kit) *cobra.Command {
	cmd := newAnswer(k, room.Approve, "approve [ID…]", "Approve an ask, or several alike; needs your PIN",
		"  tandem approvals approve ask_x4k2p9\n  tandem approvals approve ask_x4k2p9 --always\n  tandem approvals approve ask_x4k2p9 "+
			"--always --scope folder --for 48h")
	var always bool
	var scope string
	var life time.Duration
	once := cmd.RunE
	cmd.Long = "Approve an ask. It is shown whole first, page by page; of several, each. With --always, calls like it pass without an ask " +
		"from now on: the pattern is shown before you type the PIN, it has you as its owner, and it ends by itself."
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !always {
			if cmd.Flags().Changed("scope") || cmd.Flags().Changed("for") {
				return kit.Usagef("--scope and --for belong to --always")
			}
			return once(cmd, args)
		}
		if len(args) > 1 {
			return kit.Usagef("--always is for one ask at a time")
		}
		a, err := find(cmd.Context(), k, args)
		if err != nil {
			return err
		}
		pages, err := lookAt(cmd.Context(), k, a)
		if err != nil {
			return err
		}
		secs, err := kit.Life(cmd, "for", life, time.Second)
		if err != nil {
			return err
		}
		out, err := op.Do(cmd.Context(), k, room.AskAlways,
			room.AlwaysIn{ID: a.ID, Scope: room.Scope(scope), TTL: secs, Digest: a.Digest, Pages: pages})
		if err != nil {
			return err
		}
		return k.Show(out, func(w io.Writer) {
			fmt.Fprintf(w, "%s is approved; %s passes until %s\nend it earlier: tandem approvals forget %s\n", id.Short(out.Ask.ID),
				kit.VisibleLine(out.Rule.Pattern),
				out.Rule.ExpiresAt.Local().Format("2006-01-02 15:04"), out.Rule.ID)
		})
	}
	cmd.Flags().BoolVar(&always, "always", false, "let calls like it pass from now on")
	cmd.Flags().StringVar(&scope, "scope", string(room.InSession),
		"where: session, or folder for every session of the same people that stays in the call's folder")
	cmd.Flags().DurationVar(&life, "for", room.RuleLife, "how long, 30 days at most")
	return cmd
}

func newRework(k *kit.Kit) *cobra.Command {
	return newAnswer(k, room.SendBack, "rework [ID…]", "Send an ask back with feedback; needs your PIN",
		`  tandem approvals rework ask_x4k2p9 --feedback "keep the old flag"`)
}

func newCancel(k *kit.Kit) *cobra.Command {
	cmd := newAnswer(k, room.Cancel, "cancel [ID…]", "Say no to an ask; needs your PIN",
		"  tandem approvals cancel ask_x4k2p9\n  tandem approvals cancel --from 192.0.2.7")
	var from string
	given := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if from == "" {
			return given(cmd, args)
		}
		if len(args) > 0 {
			return kit.Usagef("name asks, or where they come from")
		}
		return cancelFrom(cmd.Context(), k, from)
	}
	cmd.Flags().StringVar(&from, "from", "", "all that wait of newcomers from one address, as the list shows it")
	return cmd
}

// cancelFrom says no to everybody who asks from one place and whom nobody knows yet.
func cancelFrom(ctx context.Context, k *kit.Kit, from string) error {
	in := room.SeveralIn{Verdict: room.Cancel, Feedback: "all from " + from + " were cleared"}
	for page := (room.ListIn{Limit: 500}); ; {
		out, err := op.Do(ctx, k, room.AskList, page)
		if err != nil {
			return err
		}
		for _, a := range out.Asks {
			if page.After = a.ID; a.From == from && len(in.Asks) < room.MaxSeveral {
				fmt.Fprintln(k.Err, kit.SeenLine(a.Title))
				in.Asks = append(in.Asks, room.Looked{ID: a.ID, Digest: a.Digest})
			}
		}
		if !out.More {
			break
		}
	}
	if len(in.Asks) == 0 {
		return fault.New(fault.NotFound, "approval.decide_several", "nobody whom you do not know asks from %s", from).
			WithNext("see what waits, and from where: tandem approvals")
	}
	out, err := op.Do(ctx, k, room.AskDecideSeveral, in)
	if err != nil {
		return err
	}
	return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%d asks from %s are cancelled\n", len(out.Asks), from) })
}

// newDeny is cancel by the word that people try first.
func newDeny(k *kit.Kit) *cobra.Command {
	return newAnswer(k, room.Cancel, "deny [ID…]", "Say no to an ask, the same as cancel; needs your PIN",
		"  tandem approvals deny ask_x4k2p9")
}

// newAnswer shows the asks, each whole, before it asks for the PIN, and answers exactly what it showed.
func newAnswer(k *kit.Kit, v room.Verdict, use, short, example string) *cobra.Command {
	var feedback string
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.ArbitraryArgs, Example: example,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := room.CheckVerdict(v, feedback); err != nil {
				return err
			}
			if len(args) > 1 {
				return answerSeveral(cmd.Context(), k, args, room.SeveralIn{Verdict: v, Feedback: feedback})
			}
			a, err := find(cmd.Context(), k, args)
			if err != nil {
				return err
			}
			pages, err := lookAt(cmd.Context(), k, a)
			if err != nil {
				return err
			}
			out, err := op.Do(cmd.Context(), k, room.AskDecide,
				room.DecideIn{ID: a.ID, Verdict: v, Feedback: feedback, Digest: a.Digest, Pages: pages})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s is %s\n", id.Short(out.ID), stands(out)) })
		},
	}
	cmd.Flags().StringVar(&feedback, "feedback", "", "a word to the asker")
	return cmd
}

// answerSeveral shows each ask whole and answers all of them alike, or none.
func answerSeveral(ctx context.Context, k *kit.Kit, names []string, in room.SeveralIn) error {
	for i, name := range names {
		a, err := find(ctx, k, []string{name})
		if err != nil {
			return err
		}
		fmt.Fprintf(k.Err, "--- %d of %d\n", i+1, len(names))
		pages, err := lookAt(ctx, k, a)
		if err != nil {
			return err
		}
		in.Asks = append(in.Asks, room.Looked{ID: a.ID, Digest: a.Digest, Pages: pages})
	}
	out, err := op.Do(ctx, k, room.AskDecideSeveral, in)
	if err != nil {
		return err
	}
	return k.Show(out, func(w io.Writer) {
		for _, a := range out.Asks {
			fmt.Fprintf(w, "%s is %s\n", id.Short(a.ID), stands(a))
		}
	})
}

// lookAt shows a whole ask before its answer, and gives the digests of its pages.
func lookAt(ctx context.Context, k *kit.Kit, a *room.Ask) ([]string, error) {
	describe(k.Err, a)
	if a.State != room.Pending {
		f := fault.New(fault.Conflict, "approval.decide", "%s is %s already%s", id.Short(a.ID), a.State, because(a))
		if a.Successor != "" {
			f = f.WithNext("the same call waits in another ask: tandem approve %s", id.Short(a.Successor))
		}
		return nil, f
	}
	return k.Look(ctx, a)
}

// because is the word that an answer came with.
func because(a *room.Ask) string {
	if a.Feedback == "" {
		return ""
	}
	return ": " + kit.SeenLine(a.Feedback)
}

// newSave writes an argument that is not text into a file, to be opened with a program that knows its kind.
func newSave(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "save ID ARGUMENT FILE", Short: "Save an argument of an ask that is not text", Args: cobra.ExactArgs(3),
		Example: "  tandem approvals save ask_x4k2p9 args.content picture.png",
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := find(cmd.Context(), k, args[:1])
			if err != nil {
				return err
			}
			out, err := op.Do(cmd.Context(), k, room.AskContent, room.ContentIn{ID: a.ID, Name: args[1]})
			if err != nil {
				return err
			}
			f, err := os.OpenFile(args[2], os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // never over a file that is there
			if err != nil {
				return err
			}
			if _, err := f.Write(out.Data); err != nil {
				f.Close()
				return err
			}
			if err := f.Close(); err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s: %s\n", args[2], kit.SeenLine(out.About)) })
		},
	}
}
