package automation

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tandem/internal/automation/wire"
	"tandem/internal/cli/kit"
	"tandem/internal/op"
)

func newRepair(k *kit.Kit) *cobra.Command {
	var prompt, system, model, file string
	var in wire.RepairIn
	cmd := &cobra.Command{
		Use: "repair RUN NODE", Short: "Have a node of a run told something else, and go on from there; needs your PIN",
		Args: cobra.ExactArgs(2),
		Long: `Have a node of a run that failed or waits told something else: another prompt, system text or model, or with
--file a definition that differs in what this node is told (a command, an operation's input, a gate's text).
It is shown as a diff, and made with your PIN. A run that failed goes on from that node; what was done is
not done again. The version stays as it is: only this run goes by the repaired one, under a digest of its own.
Without an option it prints what the node is told now.`,
		Example: "  tandem automation repair run_01k… draft\n" +
			"  tandem automation repair run_01k… draft --prompt 'Write the mail in three sentences.'\n" +
			"  tandem automation repair run_01k… draft --model anthropic/claude-sonnet-4-5 --reason 'the other one is away'\n" +
			"  tandem automation repair run_01k… count --file nightly.toml",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID, in.Node = args[0], args[1]
			given := func(name string, text *string) *string {
				if cmd.Flags().Changed(name) {
					return text
				}
				return nil
			}
			in.Prompt, in.System, in.Model = given("prompt", &prompt), given("system", &system), given("model", &model)
			var err error
			if in.Definition, err = written(file); err != nil {
				return err
			}
			look, err := op.Do(cmd.Context(), k, wire.Review, in)
			if err != nil {
				return err
			}
			if look.Digest == "" {
				return k.Show(look, func(w io.Writer) {
					fmt.Fprint(w, kit.Visible(look.Words))
					fmt.Fprintf(w, "change it for this run: tandem automation repair %s %s --prompt TEXT, --model NAME or --file FILE\n", look.Run,
						look.Node)
				})
			}
			if !k.JSON {
				lines(k.Screen(k.Out), "", look.Changes)
			}
			in.Digest = look.Digest
			r, err := op.Do(cmd.Context(), k, wire.Repair, in)
			if err != nil {
				return err
			}
			return k.Show(r, func(w io.Writer) {
				fmt.Fprintf(w, "%s is %s\n", r.ID, r.Status)
				if r.Status == "paused" {
					fmt.Fprintf(w, "let it go on: tandem automation runs resume %s\n", r.ID)
				}
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&prompt, "prompt", "", "of a turn: what it is asked")
	f.StringVar(&system, "system", "", "of a turn: its own text")
	f.StringVar(&model, "model", "", "of a turn: the model; '' is the default one")
	f.StringVar(&file, "file", "", "a definition that differs in what this node is told")
	f.StringVar(&in.Reason, "reason", "", "why, for those who look later")
	return cmd
}
