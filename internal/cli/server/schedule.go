package server

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/schedule/wire"
)

// nightly is when things are done unless somebody says otherwise.
const nightly = "every day at 3:00"

func newSchedule(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "schedule", Short: "What the server does by itself at set times: copies, forgetting"}
	cmd.AddCommand(newScheduleBackup(k), newScheduleForget(k), newScheduleList(k), newScheduleNow(k), newScheduleRemove(k))
	return cmd
}

func newScheduleBackup(k *kit.Kit) *cobra.Command {
	in := wire.SetIn{Kind: wire.Backup}
	var recipient string
	cmd := &cobra.Command{
		Use: "backup", Short: "Copy everything into a folder at set times; needs your PIN", Args: cobra.NoArgs,
		Long: `Copy everything into a folder at set times, as tandem server backup does. Copies are
in the folder tandem.scheduled there; each takes the room of what is new, and the oldest
go when there are more than are kept. What was missed while the server was down is made up for once. A copy
that fails is tried again every hour, and named by the log, tandem inbox, tandem doctor
and /metrics until it succeeds.

Your PIN grants the server this one thing: tandem grant list shows it, and revoking it,
or tandem server schedule remove backup, ends it.`,
		Example: "  tandem server schedule backup --to /mnt/copies --recipient-file ~/copies.recipient\n" +
			"  tandem server schedule backup --to /mnt/copies --recipient-file ~/copies.recipient --when 'every 6h' --keep 28",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if in.Path == "" {
				return fault.New(fault.Invalid, "schedule.set", "say where copies go").WithNext("name a folder: --to FOLDER")
			}
			if in.Path, err = filepath.Abs(in.Path); err != nil {
				return err
			}
			if recipient != "" {
				if in.Recipient, err = firstLine(recipient); err != nil {
					return err
				}
			}
			return setSchedule(cmd, k, in)
		},
	}
	cmd.Flags().StringVar(&in.Path, "to", "", "folder for the copies; it is there already")
	cmd.Flags().StringVar(&recipient, "recipient-file", "",
		"lock copies to the recipient in the first line of this file (tandem server backup-key)")
	cmd.Flags().BoolVar(&in.Unlocked, "unlocked", false, "do not lock copies, though they hold the server's keys")
	cmd.Flags().StringVar(&in.When, "when", nightly, "when: 'every day at 3:00', 'every 6h', '0 3 * * *'")
	cmd.Flags().IntVar(&in.Keep, "keep", 14, "how many copies stay")
	cmd.Flags().StringVar(&in.Repos, "repos", "content", "content copies the served repositories, reference only names them")
	return cmd
}

func newScheduleForget(k *kit.Kit) *cobra.Command {
	in := wire.SetIn{Kind: wire.Forget}
	var older time.Duration
	cmd := &cobra.Command{
		Use: "forget", Short: "Delete old payloads of the journal at set times; needs your PIN", Args: cobra.NoArgs,
		Long:    "Delete the payloads of old events at set times, as tandem audit forget does. The events, their order and every proof stay.",
		Example: "  tandem server schedule forget --older-than 8760h",
		RunE: func(cmd *cobra.Command, _ []string) error {
			in.OlderThan = int64(older / time.Hour)
			return setSchedule(cmd, k, in)
		},
	}
	cmd.Flags().DurationVar(&older, "older-than", 0, "age of the events, in hours: 8760h is a year")
	cmd.Flags().StringVar(&in.When, "when", nightly, "when: 'every day at 3:00', 'every 6h', '0 3 * * *'")
	return cmd
}

func setSchedule(cmd *cobra.Command, k *kit.Kit, in wire.SetIn) error {
	var out wire.Schedule
	if err := k.Call(cmd.Context(), string(wire.Set), in, &out); err != nil {
		return err
	}
	return k.Show(out, func(w io.Writer) {
		fmt.Fprintf(w, "%s is scheduled, %s; next at %s\n", out.Kind, out.When, clockTime(out.Next))
		fmt.Fprintf(w, "next:  see at once whether it works: tandem server schedule now %s\n", out.Kind)
	})
}

func clockTime(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

func newScheduleList(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List what is scheduled, and what became of it", Args: cobra.NoArgs, Example: "  tandem server schedule list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var out wire.ListOut
			if err := k.Call(cmd.Context(), string(wire.List), nil, &out); err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Schedules) == 0 {
					fmt.Fprintln(w, "nothing is scheduled; copies every night: tandem server schedule backup --to FOLDER")
				}
				for _, s := range out.Schedules {
					fmt.Fprintln(w, kit.VisibleLine(scheduleLine(s)))
				}
			})
		},
	}
}

func scheduleLine(s wire.Schedule) string {
	parts := []string{string(s.Kind) + ", " + s.When}
	if s.Kind == wire.Backup {
		parts = append(parts, fmt.Sprintf("to %s, %d kept", s.Path, s.Keep))
	} else {
		parts = append(parts, fmt.Sprintf("older than %dh", s.OlderThan))
	}
	switch {
	case s.Failure != "":
		parts = append(parts, "failed at "+clockTime(s.FailedAt)+": "+s.Failure)
	case s.DoneAt.IsZero():
		parts = append(parts, "not done yet")
	default:
		parts = append(parts, "done at "+clockTime(s.DoneAt))
	}
	return strings.Join(append(parts, "next at "+clockTime(s.Next)), "; ")
}

// lookAgain is how long the wait for what was to be done at once pauses between two looks.
const lookAgain = 300 * time.Millisecond

func newScheduleNow(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "now backup|forget", Short: "Do at once what is scheduled; needs your PIN", Args: cobra.ExactArgs(1),
		Long: `Do at once what is scheduled, also when it failed and would be tried again later, and wait
for what becomes of it. Its set times stay. Interrupted, it goes on: tandem server schedule list.`,
		ValidArgs: []string{"backup", "forget"}, Example: "  tandem server schedule now backup",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			s, err := op.Do(ctx, k, wire.Now, wire.KindIn{Kind: wire.Kind(args[0])})
			for asked := s.AskedAt; err == nil && s.DoneAt.Before(asked) && s.FailedAt.Before(asked); {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(lookAgain):
				}
				var out wire.ListOut
				out, err = op.Do(ctx, k, wire.List, struct{}{})
				i := slices.IndexFunc(out.Schedules, func(o wire.Schedule) bool { return o.Kind == s.Kind })
				if err == nil && i < 0 {
					return fault.New(fault.Conflict, "schedule.now", "%s was taken from the schedule meanwhile", s.Kind)
				} else if err == nil {
					s = out.Schedules[i]
				}
			}
			if err != nil {
				return err
			}
			if s.Failure != "" {
				return fault.New(fault.Unavailable, "schedule.now", "%s", s.Failure).
					WithNext("mend the cause, and again: tandem server schedule now %s", s.Kind)
			}
			return k.Show(s, func(w io.Writer) { fmt.Fprintln(w, kit.VisibleLine(scheduleLine(s))) })
		},
	}
}

func newScheduleRemove(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "remove backup|forget", Short: "Do something no longer; needs your PIN", Args: cobra.ExactArgs(1),
		ValidArgs: []string{"backup", "forget"}, Example: "  tandem server schedule remove backup",
		RunE: func(cmd *cobra.Command, args []string) error {
			var out wire.OK
			if err := k.Call(cmd.Context(), string(wire.Remove), wire.KindIn{Kind: wire.Kind(args[0])}, &out); err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s is not scheduled any more\n", args[0]) })
		},
	}
}
