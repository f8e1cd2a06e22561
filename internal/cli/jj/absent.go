package jj

import (
	"tandem/internal/repo"
	"tandem/internal/repo/text"
)

func absorbCommand() *command          { return absentCommand("absorb") }
func diffeditCommand() *command        { return absentCommand("diffedit") }
func evologCommand() *command          { return absentCommand("evolog") }
func interdiffCommand() *command       { return absentCommand("interdiff") }
func metaeditCommand() *command        { return absentCommand("metaedit") }
func parallelizeCommand() *command     { return absentCommand("parallelize") }
func resolveCommand() *command         { return absentCommand("resolve") }
func simplifyParentsCommand() *command { return absentCommand("simplify-parents") }
func sparseCommand() *command          { return absentCommand("sparse") }
func tagCommand() *command             { return absentCommand("tag") }
func utilCommand() *command            { return absentCommand("util") }
func debugCommand() *command           { c := absentCommand("debug"); c.hidden = true; return c }
func configCommand() *command          { return absentCommand("config") }
func nextCommand() *command            { return absentCommand("next") }
func prevCommand() *command            { return absentCommand("prev") }
func runOpDiff(*env, *parsed) error    { return missing("`jj op diff`") }
func runOpShow(*env, *parsed) error    { return missing("`jj op show`") }
func runOpAbandon(*env, *parsed) error { return missing("`jj op abandon`") }
func gitCommand() *command {
	return &command{name: "git", about: "Commands for working with Git remotes and the underlying Git repo", subs: []*command{gitInitCommand()}}
}

func (w *wsEnv) opDiffOf(o *text.Text, op *repo.Operation, d *differ, plain bool, in string, width int) error {
	return missing("`jj op log --op-diff`")
}
