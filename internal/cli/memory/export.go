package memory

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/memory/wire"
	"tandem/internal/op"
)

func newExport(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "export", Short: "Print everything that is remembered; needs your PIN", Args: cobra.NoArgs,
		Long:    "Print everything that is remembered, one record a line, as JSON. What was forgotten is not there.",
		Example: "  tandem memory export > memory.jsonl",
		RunE: func(cmd *cobra.Command, _ []string) error {
			enc := json.NewEncoder(k.Out)
			enc.SetEscapeHTML(false)
			for in := (wire.ExportIn{}); ; {
				out, err := op.Do(cmd.Context(), k, wire.Export, in)
				if err != nil {
					return err
				}
				for _, r := range out.Records {
					if err := enc.Encode(r); err != nil {
						return err
					}
				}
				if !out.More {
					return nil
				}
				in.After = out.Last
			}
		},
	}
}

// batch is how many records are brought with one call.
const batch = 100

func newImport(k *kit.Kit) *cobra.Command {
	var in wire.ImportIn
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Add the records of an export; needs your PIN", Args: cobra.ExactArgs(1),
		Long: `Add the records of an export (- is standard input). They are proposed, unless you say --live and they
were live there; nobody here wrote them, so they are approved at most. What is there already is
not added again, so an import that broke off is simply repeated.`,
		Example: "  tandem memory import memory.jsonl\n  tandem memory import memory.jsonl --live",
		RunE: func(cmd *cobra.Command, args []string) error {
			var from io.Reader = k.In
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return kit.Usagef("%w", err)
				}
				defer f.Close()
				from = f
			}
			var all wire.ImportOut
			dec := json.NewDecoder(bufio.NewReader(from))
			for n, more := 1, true; more; {
				in.Records = nil
				for ; len(in.Records) < batch; n++ {
					var r wire.Record
					if err := dec.Decode(&r); errors.Is(err, io.EOF) {
						more = false
						break
					} else if err != nil {
						return kit.Usagef("record %d of %s cannot be read: %w", n, args[0], err)
					}
					in.Records = append(in.Records, r)
				}
				out, err := op.Do(cmd.Context(), k, wire.Import, in)
				if err != nil {
					return err
				}
				all.Added, all.Known, all.Left = all.Added+out.Added, all.Known+out.Known, all.Left+out.Left
			}
			return k.Show(all, func(w io.Writer) {
				fmt.Fprintf(w, "%d added, %d known already, %d superseded or forgotten and left out\n", all.Added, all.Known, all.Left)
			})
		},
	}
	cmd.Flags().BoolVar(&in.Live, "live", false, "those that were live are live at once")
	return cmd
}
