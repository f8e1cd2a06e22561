package session

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/op"
	room "tandem/internal/session"
)

func newAnswer(k *kit.Kit) *cobra.Command {
	var in room.AnswerIn
	cmd := &cobra.Command{
		Use: "answer [QUESTION [TEXT...]]", Short: "Answer an agent's question, or list what is asked",
		Long: "Answer an agent's question. QUESTION is its id, or the name of the session that asks. Where several things are asked at once, " +
			"give an answer for each, in their order. " +
			"Without QUESTION, list what waits for an answer, with the answers that are offered.",
		Example: "  tandem session answer\n  tandem session answer que_01j… \"the blue one\"\n  tandem session answer que_01j… --reject",
		RunE: func(cmd *cobra.Command, args []string) error {
			open, err := op.Do(cmd.Context(), k, room.QuestionList, room.Nothing{})
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return k.Show(open, func(w io.Writer) {
					if len(open.Questions) == 0 {
						fmt.Fprintln(w, "nothing is asked")
					}
					for _, q := range open.Questions {
						fmt.Fprintf(w, "%s  (%s)\n", q.ID, q.Session)
						showQuestion(w, q)
					}
				})
			}
			q, err := questionOf(cmd.Context(), k, open.Questions, args[0])
			if err != nil {
				return err
			}
			in.ID = q.ID
			if len(q.Questions) > 1 && !in.Reject {
				in.Answers = args[1:]
			} else {
				in.Answer = strings.Join(args[1:], " ")
			}
			out, err := op.Do(cmd.Context(), k, room.QuestionAnswer, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s is %s\n", out.ID, out.State) })
		},
	}
	cmd.Flags().BoolVar(&in.Reject, "reject", false, "say that it will not be answered")
	return cmd
}

// questionOf is the question that somebody named by its id or by its session. One that does not wait any more is told so by the server.
func questionOf(ctx context.Context, k *kit.Kit, open []*room.Question, named string) (*room.Question, error) {
	if strings.HasPrefix(named, "que_") {
		for _, q := range open {
			if q.ID == named {
				return q, nil
			}
		}
		return &room.Question{ID: named}, nil
	}
	id, err := sessionID(ctx, k, named)
	if err != nil {
		return nil, err
	}
	for _, q := range open {
		if q.Session == id {
			return q, nil
		}
	}
	return nil, fault.New(fault.NotFound, "question.answer", "%s asks nothing", named).WithNext("list what is asked: tandem session answer")
}
