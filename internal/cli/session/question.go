package session

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/op"
	room "tandem/internal/session"
)

// question reads what an agent asks, with the answers that it offers.
func (v *viewer) question(id string) (*room.Question, error) {
	out, err := op.Do(v.ctx, v.k, room.QuestionList, room.Nothing{})
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(out.Questions, func(q *room.Question) bool { return q.ID == id }); i >= 0 {
		return out.Questions[i], nil
	}
	return nil, fault.New(fault.NotFound, "question", "%s was answered already", id)
}

// showQuestion shows an agent's questions, or those of them that are named, and what it offers for an answer, numbered.
func showQuestion(w io.Writer, q *room.Question, which ...int) {
	for n, one := range q.Questions {
		if len(which) > 0 && !slices.Contains(which, n) {
			continue
		}
		kit.Paint(w, kit.Bold, kit.SeenLine(one.Question))
		if one.Multiple {
			fmt.Fprint(w, " (several may be chosen)")
		}
		fmt.Fprintln(w)
		for i, o := range one.Options {
			fmt.Fprintf(w, "  %d  %s", i+1, kit.SeenLine(o.Label))
			if o.Description != "" {
				fmt.Fprintf(w, ": %s", kit.SeenLine(o.Description))
			}
			fmt.Fprintln(w)
		}
	}
}

// chosen is an answer in words: a number, or several behind commas, stands for what was offered.
func chosen(q *room.Question, which int, typed string) string {
	one := q.Questions[which]
	var words []string
	for part := range strings.SplitSeq(typed, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > len(one.Options) {
			return typed
		}
		words = append(words, one.Options[n-1].Label)
	}
	if len(words) > 1 && !one.Multiple {
		return typed
	}
	return strings.Join(words, ", ")
}

// answer asks the person at the terminal what the agent asks, question by question.
func (v *viewer) answer(t *room.Turn) error {
	q, err := v.question(t.Ask)
	if err != nil {
		return err
	}
	var said []string
	for n, one := range q.Questions {
		v.newline()
		showQuestion(v.k.Screen(v.k.Err), q, n)
		prompt := "your answer (empty to refuse): "
		if len(one.Options) > 0 {
			prompt = "a number or your own words (empty to refuse): "
		}
		line, answered, err := v.k.Ask(prompt)
		switch {
		case err != nil:
			return err
		case !answered:
			return v.leave(t)
		case line == "":
			_, err := op.Do(v.ctx, v.k, room.QuestionAnswer, room.AnswerIn{ID: t.Ask, Reject: true})
			return err
		}
		said = append(said, chosen(q, n, line))
	}
	_, err = op.Do(v.ctx, v.k, room.QuestionAnswer, room.AnswerIn{ID: t.Ask, Answers: said})
	return err
}
