package identity

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	room "tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/told"
)

func newTenantLimit(k *kit.Kit) *cobra.Command {
	var in room.TenantLimitIn
	var money, storage string
	var sessions int64
	cmd := &cobra.Command{
		Use: "limit NAME", Short: "Set what a tenant may use up; needs your PIN", Args: cobra.ExactArgs(1),
		Long: "Set what a tenant may use up: what its models may cost, ever or in a day or a month (in UTC), how many sessions it keeps, " +
			"and how many bytes: of sessions, artifacts, memory, keys and all else, without the journal. " +
			"Its own people see it and do not change it. What is left out stays as it was; none or 0 takes a limit away.",
		Example: "  tandem tenant limit acme --money 20usd --sessions 50 --storage 2gb\n  tandem tenant limit acme --money 5usd --period day\n" +
			"  tandem tenant limit acme --money none",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Name = args[0]
			if cmd.Flags().Changed("money") {
				cents, err := room.ParseMoney(money)
				if err != nil {
					return err
				}
				in.Cents = &cents
			}
			if cmd.Flags().Changed("sessions") {
				in.Sessions = &sessions
			}
			if cmd.Flags().Changed("storage") {
				bytes, err := room.ParseStorage(storage)
				if err != nil {
					return err
				}
				in.Bytes = &bytes
			}
			if in.Cents == nil && in.Sessions == nil && in.Bytes == nil {
				return kit.Usagef("say what is limited: --money 20usd, --sessions 50, --storage 2gb")
			}
			out, err := op.Do(cmd.Context(), k, room.TenantLimit, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s %s\n", out.Name, mayUse(out.Limits)) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&money, "money", "", "what its models may cost, such as 20usd; none for no limit")
	f.StringVar(&in.Period, "period", "", "the period of the money: day, month or ever (the default)")
	f.Int64Var(&sessions, "sessions", 0, "how many sessions it keeps, archived ones too; 0 for no limit")
	f.StringVar(&storage, "storage", "", "how many bytes it keeps, such as 500mb or 2gb; none for no limit")
	return cmd
}

// mayUse says limits in words.
func mayUse(l room.TenantLimits) string {
	var out []string
	if l.Cents > 0 {
		out = append(out, "may use "+room.Money(l.Cents)+per(l.Period))
	}
	if l.Sessions > 0 {
		out = append(out, "may keep "+strconv.FormatInt(l.Sessions, 10)+" sessions")
	}
	if l.Bytes > 0 {
		out = append(out, "may keep "+room.Storage(l.Bytes))
	}
	if len(out) == 0 {
		return "has no limit"
	}
	return strings.Join(out, " and ")
}

func per(period string) string {
	if period == "day" || period == "month" {
		return " a " + period
	}
	return ""
}

// uses says what a tenant used, and of how much.
func uses(w io.Writer, t *room.Tenant) {
	if t.Use == nil {
		return
	}
	of := func(limit int64, said string) string {
		if limit == 0 {
			return ""
		}
		return " of " + said
	}
	fmt.Fprintf(w, "used: %s%s, %d%s sessions, %s%s\n", room.Money(t.Use.Cost/room.NanoOfCent), of(t.Limits.Cents,
		room.Money(t.Limits.Cents)+per(t.Limits.Period)), t.Use.Sessions, of(t.Limits.Sessions, strconv.FormatInt(t.Limits.Sessions, 10)),
		room.Storage(t.Use.Bytes), of(t.Limits.Bytes, room.Storage(t.Limits.Bytes)))
	if !t.Limits.None() {
		fmt.Fprintf(w, "limited by %s, %s\n", told.By(t.Limits.SetBy), when(&t.Limits.SetAt))
	}
}
