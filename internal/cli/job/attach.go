package job

import (
	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/cli/session"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
)

func newAttach(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "attach JOB", Short: "Attach to the terminal of a job's agent and type alongside", Args: cobra.ExactArgs(1),
		Long: "Attach to the terminal in which a job's agent works (claude, codex, opencode). A job whose agent is a model has none.\n" +
			"Leave it again without ending anything: the prefix key of tmux, then d.",
		Example: "  tandem job attach job_01j…",
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := op.Do(cmd.Context(), k, wire.Get, wire.IDIn{ID: args[0]})
			if err != nil {
				return err
			}
			switch {
			case j.Session == "" || j.Path == "":
				return fault.New(fault.Conflict, "job.attach", "the job is %s: nobody works on it", j.State).
					WithNext("see where it stands: tandem job show %s", j.ID)
			case !wire.Program(j.Agent):
				return fault.New(fault.Conflict, "job.attach", "%s works without a terminal", j.Agent).
					WithNext("read along: tandem session follow %s", j.Session)
			}
			return session.Attach(cmd.Context(), k, j.Session)
		},
	}
}
