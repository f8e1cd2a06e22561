package session

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/models"
	"tandem/internal/op"
	room "tandem/internal/session"
)

func newRun(k *kit.Kit) *cobra.Command {
	var s settings
	var id string
	var files []string
	cmd := &cobra.Command{
		Use: "run PROMPT", Short: "Give an agent something to do, and watch", Args: cobra.MinimumNArgs(1),
		Long: "Open a session in this folder (or go on in one), give it a prompt and show what happens until it is done. " +
			"Text goes to standard output, everything else to standard error. " +
			"When something needs an approval or an answer, it is asked for on the terminal; " +
			"without one the command ends with exit code 8, and the turn waits. " +
			"With --json every event is a line.",
		Example: "  tandem run \"summarize README.md\"\n  tandem run -m ollama/qwen3 \"what does this do?\"\n  tandem run --session ses_01j… " +
			"\"now the tests\"\n  tandem run -a screenshot.png \"what is wrong here?\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			prompt := room.PromptIn{Text: strings.Join(args, " ")}
			title := firstLine(prompt.Text)
			if err := attach(&prompt, files); err != nil {
				return err
			}
			if id == "" {
				in, err := s.create(ctx, k)
				if err != nil {
					return err
				}
				if in.Title == "" {
					in.Title = title
				}
				if err := offerFolder(ctx, k, in.Directory); err != nil {
					return err
				}
				if err := s.apart(ctx, k, &in); err != nil {
					return err
				}
				out, err := op.Do(ctx, k, room.SessionCreate, in)
				if err != nil {
					return err
				}
				id = out.ID
				if out.Model == models.Default && !cmd.Flags().Changed("model") && !k.JSON {
					fmt.Fprintf(k.Err, "%s answers, which repeats what it is told; a real model needs a key: tandem provider key PROVIDER\n", out.Model)
				}
			}
			id, err := sessionID(ctx, k, id)
			if err != nil {
				return err
			}
			prompt.ID = id
			turn, err := op.Do(ctx, k, room.SessionPrompt, prompt)
			if err != nil {
				return err
			}
			return watch(ctx, k, id, turn.ID)
		},
	}
	s.flags(cmd)
	s.apartFlags(cmd)
	cmd.Flags().StringVarP(&id, "session", "s", "", "go on in this session")
	cmd.Flags().StringSliceVarP(&files, "attach", "a", nil, "files to put beside the prompt: images or text")
	return cmd
}

func newFollow(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "follow SESSION", Short: "Watch a session until its open turn ends", Args: cobra.ExactArgs(1),
		Example: "  tandem session follow builder\n  tandem session follow ses_01j…",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := sessionID(cmd.Context(), k, args[0])
			if err != nil {
				return err
			}
			out, err := op.Do(cmd.Context(), k, room.SessionTurns, room.TurnIn{ID: id})
			if err != nil {
				return err
			}
			if len(out.Turns) == 0 {
				return fault.New(fault.Conflict, "session.follow", "the session has no turn yet").WithNext("give it one: tandem run --session %s \"…\"",
					args[0])
			}
			return watch(cmd.Context(), k, id, running(out.Turns))
		},
	}
}

// running is the turn that is under way, or the oldest that waits for its start; without one the newest that ended.
func running(turns []*room.Turn) string {
	for i := len(turns) - 1; i >= 0; i-- {
		if !turns[i].State.Ended() {
			return turns[i].ID
		}
	}
	return turns[0].ID
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > 60 {
		s = string(r[:60]) + "…"
	}
	return s
}

var errOver = errors.New("over")
