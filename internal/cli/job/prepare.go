package job

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
)

func newPrepare(k *kit.Kit) *cobra.Command {
	var in wire.PrepareIn
	var wait bool
	cmd := &cobra.Command{
		Use: "prepare JOB", Short: "Let what a job's changed lock files name be fetched for its check", Args: cobra.ExactArgs(1),
		Long: "A job that changed a lock file (go.sum, package-lock.json) stops before its check: what is new there was chosen by its agent.\n" +
			"A person says, present, that it is fetched from the registries of the setting job_registries, once for each lock file.\n" +
			"What is new, and the line to type, are in: tandem job show JOB",
		Example: "  tandem job prepare job_01j… --lock 9c1e…",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID = args[0]
			if in.Lock == "" {
				return fault.New(fault.Invalid, "job.prepare", "say which lock files you looked at").
					WithNext("look, and type the line there: tandem job show %s", in.ID)
			}
			j, err := op.Do(cmd.Context(), k, wire.Prepare, in)
			return shown(cmd, k, j, err, wait)
		},
	}
	cmd.Flags().StringVar(&in.Lock, "lock", "", "the digest of the lock files that you looked at, whole")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until it needs somebody or is over")
	return cmd
}

// locked says which dependencies wait for a person's word.
func locked(w io.Writer, j *wire.Job) {
	if j.Lock == nil {
		return
	}
	for _, n := range j.Lock.New {
		fmt.Fprintf(w, "new: %s\n", kit.VisibleLine(n))
	}
	fmt.Fprintf(w, "have it fetched: tandem job prepare %s --lock %s\n", j.ID, j.Lock.Digest)
}
