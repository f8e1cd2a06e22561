package audit

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/journal"
	"tandem/internal/op"
)

func newProve(k *kit.Kit) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "prove SEQ", Short: "Make a receipt of an event", Args: cobra.ExactArgs(1),
		Long:    "Make a receipt: a signed proof that an event is in the journal. Anybody checks it with the public key alone.",
		Example: "  tandem audit prove 17 --out receipt.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			seq, err := number(args[0])
			if err != nil {
				return err
			}
			r, err := op.Do(cmd.Context(), k, journal.AuditProve, journal.SeqIn{Seq: seq})
			if err != nil {
				return err
			}
			write := func(w io.Writer) error {
				enc := json.NewEncoder(w)
				enc.SetIndent("", "  ")
				return enc.Encode(r)
			}
			if file == "" {
				return write(k.Out)
			}
			if err := save(file, write); err != nil {
				return err
			}
			return k.Show(r, func(w io.Writer) {
				fmt.Fprintf(w, "check it anywhere: tandem audit verify --receipt %s --key %s\n", file, r.Key)
			})
		},
	}
	cmd.Flags().StringVarP(&file, "out", "o", "", "write it to this file")
	return cmd
}

func newAnchor(k *kit.Kit) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "anchor", Short: "Sign the journal as it stands", Args: cobra.NoArgs,
		Long: "Sign the journal as it stands and print the checkpoint. Keep it where this server's disk is not: " +
			"on paper, in a mail, in another\n" +
			"repository. audit verify --anchor then shows that nothing before it was changed since, not even by this server.",
		Example: "  tandem audit anchor --out ~/usb/anchor-2026-11.txt",
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := op.Do(cmd.Context(), k, journal.AuditAnchor, struct{}{})
			if err != nil {
				return err
			}
			if file != "" {
				if err := save(file, func(w io.Writer) error { _, err := io.WriteString(w, a.Checkpoint); return err }); err != nil {
					return err
				}
				return k.Show(a, func(w io.Writer) {
					fmt.Fprintf(w, "%d entries are anchored in %s\nkey: %s\n", a.Size, file, a.Key)
				})
			}
			err = k.Show(a, func(w io.Writer) { fmt.Fprint(w, a.Checkpoint) })
			if !k.JSON {
				fmt.Fprintf(k.Err, "key: %s\n", a.Key)
			}
			return err
		},
	}
	cmd.Flags().StringVarP(&file, "out", "o", "", "write it to this file")
	return cmd
}

func newExport(k *kit.Kit) *cobra.Command {
	var file string
	var former int64
	cmd := &cobra.Command{
		Use: "export", Short: "Export the journal as NDJSON", Args: cobra.NoArgs,
		Long:    "Export the journal, one JSON object a line. It verifies offline and holds every payload, so a person must be present.",
		Example: "  tandem audit export --out journal.ndjson\n  tandem audit verify --export journal.ndjson --key tandem.localhost/journal/…",
		RunE: func(cmd *cobra.Command, _ []string) error {
			write := func(w io.Writer) error {
				in := journal.ExportIn{Former: former}
				for {
					p, err := op.Do(cmd.Context(), k, journal.AuditExport, in)
					if err != nil {
						return err
					}
					for _, l := range p.Lines {
						if _, err := fmt.Fprintf(w, "%s\n", l); err != nil {
							return err
						}
					}
					if p.Next == 0 {
						return nil
					}
					in.After, in.Size = p.Next, p.Size
				}
			}
			if file == "" {
				return write(k.Out)
			}
			return save(file, write)
		},
	}
	cmd.Flags().Int64Var(&former, "former", 0, "the journal that this tenant had on another server; the first is 1")
	cmd.Flags().StringVarP(&file, "out", "o", "", "write it to this file")
	return cmd
}

func newForget(k *kit.Kit) *cobra.Command {
	var age time.Duration
	cmd := &cobra.Command{
		Use: "forget", Short: "Delete the details of old events", Args: cobra.NoArgs,
		Long: "Delete the payloads of events that are older than --older-than. The events, their order and every proof stay. " +
			"With SQLite the file is written anew a moment later: what was forgotten is not in it any more, and its room is given back. " +
			"A person must be present.",
		Example: "  tandem audit forget --older-than 8760h",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if age <= 0 {
				return kit.Usagef("--older-than is needed, e.g. --older-than 8760h")
			}
			out, err := op.Do(cmd.Context(), k, journal.AuditForget, journal.ForgetIn{Before: time.Now().Add(-age)})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "the details of %d events are gone\n", out.Forgotten) })
		},
	}
	cmd.Flags().DurationVar(&age, "older-than", 0, "events at least this old")
	return cmd
}
