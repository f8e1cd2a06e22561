package jj

import (
	"tandem/internal/repo"
	"tandem/internal/repo/text"
)

func absorbCommand() *command          { return absentCommand("absorb") }
func utilCommand() *command            { return absentCommand("util") }
func runOpDiff(*env, *parsed) error    { return missing("`jj op diff`") }
func runOpShow(*env, *parsed) error    { return missing("`jj op show`") }
func runOpAbandon(*env, *parsed) error { return missing("`jj op abandon`") }

func (w *wsEnv) opDiffOf(o *text.Text, op *repo.Operation, d *differ, plain bool, in string, width int) error {
	return missing("`jj op log --op-diff`")
}
