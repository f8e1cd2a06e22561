package session

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	room "tandem/internal/session"
	"tandem/internal/told"
)

func newBudget(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "budget", Aliases: []string{"budgets"}, Short: "What actors, and everybody together, may use up",
		Long: "Budgets of actors and of everybody together, for a day, a month (in UTC) or ever. A session stops before the call that would " +
			"exceed one. A session's own budget is set with its --budget-… flags."}
	cmd.AddCommand(newBudgetList(k), newBudgetSet(k), newBudgetRemove(k))
	return cmd
}

func newBudgetList(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List budgets, and what was used of them", Args: cobra.NoArgs, Example: "  tandem budget list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, room.BudgetList, room.Nothing{})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Limits) == 0 {
					fmt.Fprintln(w, "no budgets")
					return
				}
				t := kit.Table(w)
				fmt.Fprintln(t, "WHOSE\tPERIOD\tUSED OF BUDGET\tSET BY")
				for _, l := range out.Limits {
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", l.Subject, l.Period, used(l), told.By(l.SetBy))
				}
				t.Flush()
			})
		},
	}
}

func used(l room.Limit) string {
	if l.Changed {
		return "changed in the database: set it anew"
	}
	var out []string
	for _, b := range []struct {
		what        string
		used, limit int64
	}{{"tokens", l.Used.Tokens, l.Budget.Tokens}, {"cents", int64(l.Used.Cost / 10_000_000), l.Budget.Cents},
		{"turns", l.Used.Turns, l.Budget.Turns},
		{"calls", l.Used.Calls, l.Budget.Calls}, {"seconds", l.Used.Seconds, l.Budget.Seconds}} {
		if b.limit > 0 {
			out = append(out, fmt.Sprintf("%d of %d %s", b.used, b.limit, b.what))
		}
	}
	return strings.Join(out, ", ")
}

func newBudgetSet(k *kit.Kit) *cobra.Command {
	var in room.LimitIn
	cmd := &cobra.Command{
		Use: "set", Short: "Set a budget; needs your PIN", Args: cobra.NoArgs,
		Example: "  tandem budget set --period day --cents 500\n  tandem budget set --for agent:builder --period month " +
			"--tokens 5000000 --calls 2000",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if in.Budget == (room.Budget{}) {
				return kit.Usagef("a budget needs a bound: --tokens, --cents, --turns, --calls or --seconds")
			}
			out, err := op.Do(cmd.Context(), k, room.BudgetSet, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s may use %s (%s)\n", out.Subject, bounds(out.Budget), out.Period) })
		},
	}
	whose(cmd, &in)
	f := cmd.Flags()
	f.Int64Var(&in.Budget.Tokens, "tokens", 0, "at most so many tokens")
	f.Int64Var(&in.Budget.Cents, "cents", 0, "at most so many hundredths of a US dollar")
	f.Int64Var(&in.Budget.Turns, "turns", 0, "at most so many turns")
	f.Int64Var(&in.Budget.Calls, "calls", 0, "at most so many calls of tools")
	f.Int64Var(&in.Budget.Seconds, "seconds", 0, "at most so many seconds in which turns run")
	return cmd
}

func bounds(b room.Budget) string {
	var out []string
	for _, x := range []struct {
		what string
		n    int64
	}{{"tokens", b.Tokens}, {"cents", b.Cents}, {"turns", b.Turns}, {"calls", b.Calls}, {"seconds", b.Seconds}} {
		if x.n > 0 {
			out = append(out, fmt.Sprintf("%d %s", x.n, x.what))
		}
	}
	return strings.Join(out, ", ")
}

func whose(cmd *cobra.Command, in *room.LimitIn) {
	cmd.Flags().StringVar(&in.Subject, "for", room.Everybody,
		"whose: person:NAME, agent:NAME, service:NAME, local:local, or * for everybody together")
	cmd.Flags().StringVar((*string)(&in.Period), "period", string(room.Ever), "day, month or ever")
}

func newBudgetRemove(k *kit.Kit) *cobra.Command {
	var in room.LimitIn
	cmd := &cobra.Command{
		Use: "remove", Short: "Remove a budget; needs your PIN", Args: cobra.NoArgs,
		Example: "  tandem budget remove --for agent:builder --period month",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, room.BudgetSet, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "the budget of %s (%s) is gone\n", out.Subject, out.Period) })
		},
	}
	whose(cmd, &in)
	return cmd
}
