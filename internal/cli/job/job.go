// Package job holds the commands for code work from a task to a merged change.
package job

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/cli/space"
	"tandem/internal/fault"
	forge "tandem/internal/forge/wire"
	"tandem/internal/job/wire"
	"tandem/internal/models"
	"tandem/internal/op"
	"tandem/internal/space/peer"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	cmd := &cobra.Command{Use: "job", Short: "Code work from a task to a merged change",
		Long: "A job is one piece of code work. An agent works in a checkout of its own; when it ends its turn, tandem " +
			"commits what it changed and runs the job's check on a clean checkout, in a box without the network. " +
			"A red check goes back to the agent. A green one waits for a person, who looks and merges."}
	cmd.AddCommand(newStart(k), newList(k), newShow(k), newDiff(k), newWait(k), newSend(k), newComment(k), newBack(k),
		newReview(k), newStop(k), newMerge(k), newPost(k), newPull(k), newPrepare(k), newAttach(k),
		verb(k, "check", "Run a job's check again, on its newest commit", wire.Check),
		newResume(k))
	return []*cobra.Command{cmd}
}

func newStart(k *kit.Kit) *cobra.Command {
	var in wire.StartIn
	var budget string
	var wait bool
	cmd := &cobra.Command{
		Use: "start [TASK]", Short: "Start a job",
		Example: "  tandem job start \"fix the login redirect\" --check \"go test ./...\"\n" +
			"  tandem job start \"fix the login redirect\" -C ~/code/app --agent claude --check \"make test\" --wait\n" +
			"  tandem job start --from T-a1b2c3 --repo app\n  tandem job start --from work#12 --check \"go test ./...\"\n" +
			"  tandem job start \"test the redirect, too\" --on job_01j… --check \"go test ./...\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Task = strings.Join(args, " ")
			if in.Task == "" && in.From == "" {
				return kit.Usagef("say what is to be done, or name a task of a board or an issue of a forge: --from TASK")
			}
			if err := place(cmd, k, &in); err != nil {
				return err
			}
			which, err := space.Chosen(k, cmd, peer.Which{})
			if err != nil {
				return err
			}
			if _, issue := forge.ParseIssue(in.From); in.From != "" && !issue {
				in.Space = which.Space
			}
			if in.Budget, err = wire.ParseBudget(budget); err != nil {
				return err
			}
			j, err := op.Do(cmd.Context(), k, wire.Start, in)
			if err != nil {
				return err
			}
			if !wait && j.Reason == "" { // what is wrong with the folder or the agent shows at once
				j, err = op.Do(cmd.Context(), k, wire.Wait, wire.WaitIn{ID: j.ID, Seconds: 20, Begun: true})
			}
			if err == nil && j.Agent == models.Default {
				fmt.Fprintf(k.Err, "%s works, which repeats what it is told and changes nothing; a real model needs a key: "+
					"tandem provider key PROVIDER; a program is named: --agent claude\n", j.Agent)
			}
			return shown(cmd, k, j, err, wait)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&in.Folder, "cwd", "C", "", "a folder in the git checkout (this one)")
	f.StringVar(&in.Repo, "repo", "", "a repository that this server serves, by its name, instead of a folder")
	f.StringVar(&in.From, "from", "", "a task of a space's board, or an issue of a forge (work#12), whose words are the job's")
	space.Choose(cmd)
	f.StringVar(&in.Onto, "onto", "", "the branch that it is for and begins at (the one that is checked out there)")
	f.StringVar(&in.On, "on", "", "a job that is not merged yet: it begins with what that one made, and is merged after it")
	f.StringVar(&in.Agent, "agent", "", "claude, codex, opencode, or a model as provider/model (the default model)")
	f.StringVar(&in.Check, "check", "", "a command that says by its exit code whether the work is good")
	f.Int64Var(&in.Seconds, "check-seconds", 0, "how long the check may last (600, at most 3600)")
	f.Int64Var(&in.Bound, "bound", 0, "how many red checks in a row stop it (3)")
	f.StringVar(&budget, "budget", "", "what the agent may use up: 3usd, 200000tokens or 10turns, several with commas")
	f.BoolVar(&wait, "wait", false, "wait until it needs somebody or is over")
	return cmd
}

// place makes the folder a whole path, where no repository is named.
func place(cmd *cobra.Command, k *kit.Kit, in *wire.StartIn) (err error) {
	if in.Repo == "" && in.On == "" || cmd.Flags().Changed("cwd") {
		in.Folder, err = k.Checkout(cmd.Context(), cmp.Or(in.Folder, "."))
	}
	return err
}

// shown prints a job, after waiting for it where that was wanted. One that stopped is a failure.
func shown(cmd *cobra.Command, k *kit.Kit, j *wire.Job, err error, wait bool) error {
	for err == nil && wait && !j.State.Waits() && len(j.Needs) == 0 {
		j, err = op.Do(cmd.Context(), k, wire.Wait, wire.WaitIn{ID: j.ID})
	}
	if err != nil {
		return err
	}
	if err := k.Show(j, func(w io.Writer) { show(w, j) }); err != nil {
		return err
	}
	if j.State == wire.Stopped {
		f := fault.New(fault.Conflict, "job", "the job is stopped")
		if k.JSON { // else the lines above say it
			f = f.WithNext("%s", stopped(j))
		}
		return f
	}
	if wait && len(j.Needs) > 0 {
		return fault.New(fault.Pending, "job", "its agent waits for your answer").WithNext("answer, then wait on: tandem job wait %s", j.ID)
	}
	return nil
}

func newList(k *kit.Kit) *cobra.Command {
	var in wire.ListIn
	cmd := &cobra.Command{
		Use: "list", Short: "List jobs", Args: cobra.NoArgs, Example: "  tandem job list\n  tandem job list --state \"in review\"",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, wire.List, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Jobs) == 0 {
					fmt.Fprintln(w, "there are no jobs; start one: tandem job start TASK")
					return
				}
				t := kit.Table(w)
				fmt.Fprintln(t, "JOB\tSTATE\tCHECK\tTASK")
				for _, j := range out.Jobs {
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", j.ID, stands(j), j.Known(), kit.VisibleLine(j.Title())+on(j))
				}
				t.Flush()
			})
		},
	}
	cmd.Flags().StringVar((*string)(&in.State), "state", "", "only those that stand there: working, in review, stopped …")
	cmd.Flags().IntVar(&in.Limit, "limit", 0, "at most this many (50)")
	return cmd
}

// on says which job holds another one up.
func on(j *wire.Job) string {
	if !j.Held || j.On == "" {
		return ""
	}
	return fmt.Sprintf("  (on %s)", j.On)
}

// stands is a job's state, and of a merged one whether its person still has to take it into the branch.
func stands(j *wire.Job) string {
	if j.State == wire.Merged && j.Next != "" {
		return fmt.Sprintf("merged, not in %s yet", kit.VisibleLine(j.Onto))
	}
	return string(j.State)
}

func newShow(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "show JOB", Short: "Show where a job stands, and the evidence of its checks", Args: cobra.ExactArgs(1),
		Example: "  tandem job show job_01j…",
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := op.Do(cmd.Context(), k, wire.Get, wire.IDIn{ID: args[0]})
			if err != nil {
				return err
			}
			return k.Show(j, func(w io.Writer) { show(w, j) })
		},
	}
}

func newWait(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "wait JOB", Short: "Wait until a job needs somebody or is over", Args: cobra.ExactArgs(1), Example: "  tandem job wait job_01j…",
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := op.Do(cmd.Context(), k, wire.Get, wire.IDIn{ID: args[0]})
			return shown(cmd, k, j, err, true)
		},
	}
}

// takes names the agent that takes a job over.
func takes(cmd *cobra.Command, agent *string) {
	cmd.Flags().StringVar(agent, "agent", "", "who goes on, in the same files: claude, codex, opencode, or a model as provider/model")
}

func newResume(k *kit.Kit) *cobra.Command {
	var in wire.ResumeIn
	var wait bool
	cmd := &cobra.Command{
		Use: "resume JOB", Short: "Let a stopped job go on, in the same conversation and the same files", Args: cobra.ExactArgs(1),
		Long: "Let a stopped job go on, in the same conversation and the same files. With --agent another agent takes it over: in the same " +
			"files, on the same branch, with what is left of the budget, and in a conversation of its own.",
		Example: "  tandem job resume job_01j…\n  tandem job resume job_01j… --agent codex",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID = args[0]
			j, err := op.Do(cmd.Context(), k, wire.Resume, in)
			return shown(cmd, k, j, err, wait)
		},
	}
	takes(cmd, &in.Agent)
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until it needs somebody or is over")
	return cmd
}

func newSend(k *kit.Kit) *cobra.Command {
	var agent string
	var wait bool
	cmd := &cobra.Command{
		Use: "send JOB TEXT", Short: "Tell a job's agent something, with its next turn", Args: cobra.MinimumNArgs(2),
		Example: "  tandem job send job_01j… \"also mend the docs\"\n  tandem job send job_01j… --agent codex \"do it the other way round\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := op.Do(cmd.Context(), k, wire.Send, wire.SendIn{ID: args[0], Text: strings.Join(args[1:], " "), Agent: agent})
			return shown(cmd, k, j, err, wait)
		},
	}
	takes(cmd, &agent)
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until it needs somebody or is over")
	return cmd
}

func newStop(k *kit.Kit) *cobra.Command {
	var in wire.StopIn
	cmd := &cobra.Command{
		Use: "stop JOB", Short: "Stop a job; its workspace stays unless it is discarded", Args: cobra.ExactArgs(1),
		Example: "  tandem job stop job_01j…\n  tandem job stop job_01j… --discard",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID = args[0]
			j, err := op.Do(cmd.Context(), k, wire.Stop, in)
			if err != nil {
				return err
			}
			return k.Show(j, func(w io.Writer) { show(w, j) })
		},
	}
	cmd.Flags().BoolVar(&in.Discard, "discard", false, "also take its workspace away; what was not merged is gone")
	return cmd
}

func newMerge(k *kit.Kit) *cobra.Command {
	var in wire.MergeIn
	cmd := &cobra.Command{
		Use: "merge JOB", Short: "Merge a job into its repository", Args: cobra.ExactArgs(1),
		Long: "Merge a job's commit into its repository: a person says so, present, about the commit that they looked at.\n" +
			"The line with that commit is at the end of: tandem job diff JOB\n" +
			"A branch that is checked out somewhere is not moved; then the line to type is printed.",
		Example: "  tandem job merge job_01j… --commit 4f2a…",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID = args[0]
			if in.Commit == "" {
				return fault.New(fault.Invalid, "job.merge", "say which commit you looked at").
					WithNext("look, and type the line at the end: tandem job diff %s", in.ID)
			}
			j, err := op.Do(cmd.Context(), k, wire.Merge, in)
			if err != nil {
				return err
			}
			return k.Show(j, func(w io.Writer) { show(w, j) })
		},
	}
	cmd.Flags().StringVar(&in.Commit, "commit", "", "the commit that you looked at, whole; another one is refused")
	return cmd
}

func verb(k *kit.Kit, name, short string, d op.Def[wire.IDIn, *wire.Job]) *cobra.Command {
	var wait bool
	cmd := &cobra.Command{
		Use: name + " JOB", Short: short, Args: cobra.ExactArgs(1), Example: "  tandem job " + name + " job_01j…",
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := op.Do(cmd.Context(), k, d, wire.IDIn{ID: args[0]})
			return shown(cmd, k, j, err, wait)
		},
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until it needs somebody or is over")
	return cmd
}
