package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/id"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/told"
)

var phases = []string{journal.Done, journal.Intent, journal.Outcome, journal.Denied, journal.Asked, journal.Unknown}

func newLog(k *kit.Kit) *cobra.Command {
	in := journal.LogIn{Newest: true}
	var since string
	var rows bool
	cmd := &cobra.Command{
		Use: "log", Short: "List what happened, the newest last", Args: cobra.NoArgs,
		Long: "List what happened in sentences, the newest last. What began and ended is one line. " +
			"With --rows every row is shown as it stands: an intent before something outside is done, " +
			"its outcome behind it, type, phase and resource. --json always gives the rows.",
		Example: "  tandem audit log\n  tandem audit log --rows\n  tandem audit log --type 'resource.*' --phase denied --limit 20\n  tandem " +
			"audit log --since 2h --text deploy",
		RunE: func(cmd *cobra.Command, _ []string) error {
			in.Newest = in.After == 0
			if in.Phase != "" && !slices.Contains(phases, in.Phase) {
				return kit.Usagef("there is no phase %q, only %s", in.Phase, strings.Join(phases, ", "))
			}
			var err error
			if in.Since, err = moment(since, time.Now()); err != nil {
				return err
			}
			out, err := read(cmd.Context(), k, in)
			if err != nil {
				return err
			}
			if in.Newest {
				slices.Reverse(out.Entries)
			}
			return k.Show(out, func(w io.Writer) {
				switch {
				case len(out.Entries) == 0:
					fmt.Fprintln(w, "no event matches")
				case rows:
					showRows(w, out.Entries)
				default:
					showSentences(w, out.Entries)
				}
				if out.More && in.Newest {
					fmt.Fprintf(w, "older: the same with --before %d\n", out.At)
				} else if out.More {
					fmt.Fprintf(w, "more: the same with --after %d\n", out.At)
				}
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.Type, "type", "", "only this type; 'resource.*' means all of a noun")
	f.StringVar(&in.Phase, "phase", "", "only this phase: "+strings.Join(phases, ", "))
	f.StringVar(&in.Actor, "actor", "", "only this actor")
	f.StringVar(&in.Resource, "resource", "", "only this resource and what lies below it, e.g. resource:/lock")
	f.StringVar(&in.Request, "request", "", "only this request")
	f.StringVar(&in.Text, "text", "", "only events that show all these words, in any field")
	f.StringVar(&since, "since", "", "only from this time on: 2h, 2026-11-15, or 2026-11-15T16:00:00Z")
	f.Int64Var(&in.After, "after", 0, "only what is behind this number, oldest first")
	f.Int64Var(&in.Before, "before", 0, "only what is before this number")
	f.IntVar(&in.Limit, "limit", 50, "at most this many")
	f.BoolVar(&rows, "rows", false, "every row as it stands: type, phase and resource")
	return cmd
}

func showRows(w io.Writer, entries []journal.Entry) {
	t := kit.Table(w)
	fmt.Fprintln(t, "SEQ\tTIME\tACTOR\tTYPE\tPHASE\tRESOURCE")
	for _, e := range entries {
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\n", e.Seq, e.Time.Local().Format(time.DateTime), who(e), e.Type, e.Phase,
			kit.VisibleLine(e.Resource))
	}
	t.Flush()
}

// showSentences tells what happened, each thing once.
func showSentences(w io.Writer, entries []journal.Entry) {
	t := kit.Table(w)
	fmt.Fprintln(t, "SEQ\tTIME\tEVENT\tWHO AND WHAT")
	for _, e := range told.Fold(entries, toldOf) {
		fmt.Fprintf(t, "%d\t%s\t%s\t%s %s\n", e.Seq, e.Time.Local().Format(time.DateTime), e.Type, shortly(e), kit.SeenLine(toldOf(e).Sentence()))
	}
	t.Flush()
}

func toldOf(e journal.Entry) told.Event {
	return told.Event{Seq: e.Seq, Cause: e.Cause, Type: e.Type, Phase: e.Phase, Actor: e.Actor, For: e.For,
		Resource: e.Resource, Payload: e.Payload}
}

// shortly is who acted, and for which person, without what stands between them.
func shortly(e journal.Entry) string {
	who := toldOf(e).Who(false)
	if who != e.Actor {
		return kit.VisibleLine(who)
	}
	if strings.HasPrefix(who, "ses_") {
		who = id.Short(who)
	}
	if n := len(e.For); n > 0 {
		_, person, _ := strings.Cut(e.For[n-1], ":")
		who += " for " + person
	}
	return kit.VisibleLine(who)
}

// read asks until there are as many entries as were wished for, or no more: one
// call passes only so many by that do not fit.
func read(ctx context.Context, k *kit.Kit, in journal.LogIn) (journal.LogOut, error) {
	limit := in.Limit
	all := journal.LogOut{Entries: []journal.Entry{}}
	for {
		out, err := op.Do(ctx, k, journal.AuditLog, in)
		if err != nil {
			return all, err
		}
		all.Entries = append(all.Entries, out.Entries...)
		all.More, all.At, all.Head = out.More, out.At, out.Head
		if !out.More || limit <= 0 || len(all.Entries) >= limit {
			return all, nil
		}
		if in.Limit = limit - len(all.Entries); in.Newest {
			in.Before = out.At
		} else {
			in.After = out.At
		}
	}
}

// moment is a time as people type it: how long ago, a day, or a full time.
func moment(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	for _, layout := range []string{time.DateOnly, time.DateTime, time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	return time.Time{}, kit.Usagef("--since %q is no time; say how long ago (2h), a day (2026-11-15) or a time (2026-11-15T16:00:00Z)", text)
}

func who(e journal.Entry) string {
	if len(e.For) == 0 {
		return kit.VisibleLine(e.Actor)
	}
	return kit.VisibleLine(e.Actor + " for " + strings.Join(e.For, ", "))
}

func newShow(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "show SEQ", Short: "Show one event with its details", Args: cobra.ExactArgs(1), Example: "  tandem audit show 17",
		RunE: func(cmd *cobra.Command, args []string) error {
			seq, err := number(args[0])
			if err != nil {
				return err
			}
			e, err := op.Do(cmd.Context(), k, journal.AuditShow, journal.SeqIn{Seq: seq})
			if err != nil {
				return err
			}
			return k.Show(e, func(w io.Writer) { describe(w, *e) })
		},
	}
}

func describe(w io.Writer, e journal.Entry) {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-10s%s\n", name, kit.VisibleLine(value))
		}
	}
	line("event", fmt.Sprint(e.Seq))
	line("time", e.Time.Local().Format(time.RFC3339Nano))
	line("type", e.Type)
	line("phase", e.Phase)
	line("actor", e.Actor)
	line("for", strings.Join(e.For, ", "))
	line("resource", e.Resource)
	line("request", e.Request)
	if e.Cause != 0 {
		line("ends", fmt.Sprintf("event %d", e.Cause))
	}
	switch {
	case len(e.Payload) > 0:
		pretty, err := json.MarshalIndent(e.Payload, "", "  ")
		if err != nil {
			pretty = e.Payload
		}
		fmt.Fprintf(w, "%s\n", kit.Visible(string(pretty)))
	case len(e.PayloadHash) > 0:
		line("details", "deleted by retention")
	}
}
