package session

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/tool"
)

// QuestionsOut lists what agents ask.
type QuestionsOut struct {
	Questions []*Question `json:"questions"`
}

// AnswerIn answers a question.
type AnswerIn struct {
	ID      string   `json:"id" jsonschema:"the question's id, que_…"`
	Answer  string   `json:"answer,omitempty" jsonschema:"the answer, in words"`
	Answers []string `json:"answers,omitempty" jsonschema:"where several things are asked at once: an answer for each, in their order"`
	Reject  bool     `json:"reject,omitempty" jsonschema:"say that it will not be answered"`
}

// answers fits what a person said to what was asked, and says how it reads.
func (in AnswerIn) answers(q *Question) (all []string, text string, err error) {
	all = in.Answers
	if len(all) == 0 && in.Answer != "" && (len(q.Questions) == 1 || in.Reject) {
		all = []string{in.Answer}
	}
	switch {
	case in.Reject:
		return nil, in.Answer, nil
	case len(all) == 0 && in.Answer == "":
		return nil, "", fault.New(fault.Invalid, "question.answer", "the answer is empty")
	case len(all) != len(q.Questions):
		var asked []string
		for _, one := range q.Questions {
			asked = append(asked, one.Question)
		}
		return nil, "", fault.New(fault.Invalid, "question.answer", "%d things are asked at once, and each wants an answer of its own: %s",
			len(q.Questions), strings.Join(asked, " · ")).
			WithNext("give one for each, in this order: tandem session answer %s %s", q.ID,
				strings.TrimSpace(strings.Repeat("\"…\" ", len(q.Questions))))
	}
	for i, a := range all {
		if strings.TrimSpace(a) == "" {
			return nil, "", fault.New(fault.Invalid, "question.answer", "the answer to %q is empty", q.Questions[i].Question)
		}
	}
	if len(all) == 1 {
		return all, all[0], nil
	}
	for i, a := range all {
		text += "\n- " + q.Questions[i].Question + " " + a
	}
	return all, text, nil
}

func (r *Room) questionOps() []op.Op {
	return []op.Op{
		QuestionList.Read(op.Spec{Right: "session.read", Masked: true, Method: "GET", Path: "/questions",
			Doc: "List the questions of agents that wait for an answer."},
			func(Nothing) op.Resource { return at("") }, r.questions),
		op.Placing(QuestionAnswer.State(op.Spec{Right: "session.prompt", Method: "POST", Path: "/questions/{id}/answer",
			Doc: "Answer an agent's question, or refuse to. The answer reaches the agent as the result of its call.\nNobody answers a session's " +
				"question who is that session, opened it or was opened by it."},
			nil, r.answer), func(ctx context.Context, in AnswerIn) op.Resource { return at(r.sessionOf(ctx, in.ID)) }),
	}
}

// sessionOf finds whose question it is, so that whoever may prompt the session may answer it.
func (r *Room) sessionOf(ctx context.Context, question string) string {
	var s string
	tenant := op.CallerFrom(ctx).Tenant
	if err := r.db.QueryRow(ctx, "SELECT session FROM session_question WHERE tenant = ? AND id = ?", tenant, question).Scan(&s); err != nil {
		return ""
	}
	return s
}

func (r *Room) questions(ctx context.Context, _ Nothing) (QuestionsOut, error) {
	rows, err := r.db.Query(ctx, "SELECT "+questionColumns+
		" FROM session_question WHERE tenant = ? AND state = 'pending' ORDER BY id LIMIT 500", op.CallerFrom(ctx).Tenant)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (*Question, error) { return scanQuestion(rows) })
	out := QuestionsOut{Questions: []*Question{}}
	for _, q := range all {
		if op.May(ctx, "session.read", at(q.Session)) {
			q.Called = r.Called(ctx, op.CallerFrom(ctx).Tenant, q.Session)
			out.Questions = append(out.Questions, q)
		}
	}
	return out, err
}

func (r *Room) answer(ctx context.Context, tx *db.Tx, in AnswerIn) (*Question, error) {
	c := op.CallerFrom(ctx)
	q, err := scanQuestion(tx.QueryRow("SELECT "+questionColumns+" FROM session_question WHERE tenant = ? AND id = ?"+tx.ForUpdate(), c.Tenant,
		in.ID))
	if db.NoRows(err) {
		return nil, fault.New(fault.NotFound, "question.answer", "there is no question %.60s", in.ID)
	}
	if err != nil {
		return nil, err
	}
	if err := mayAnswer(tx, c, q.Session); err != nil {
		return nil, err
	}
	if q.State != QuestionPending {
		return nil, fault.New(fault.Conflict, "question.answer", "%s was %s already", q.ID, q.State)
	}
	q.State = QuestionAnswered
	if q.Answers, q.Answer, err = in.answers(q); err != nil {
		return nil, err
	}
	result := &tool.Result{Text: answerer(c) + " answers: " + q.Answer}
	if in.Reject {
		q.State = QuestionRejected
		result = &tool.Result{Text: answerer(c) + " does not want to answer this.", Error: true}
		if in.Answer != "" {
			result.Text += " " + in.Answer
		}
	}
	s, err := r.change(tx, c.Tenant, q.Session, func(s *Session) error {
		call, err := loadCall(inTx{tx}, c.Tenant, q.Call)
		if err != nil {
			return err
		}
		t, err := loadTurn(inTx{tx}, c.Tenant, q.Turn)
		if err != nil {
			return err
		}
		if err := r.steered(ctx, tx, s, t); err != nil {
			return err
		}
		return r.keepRows(tx, s, t, q.answered(call, result, tx.Now()))
	})
	if err != nil {
		return nil, err
	}
	tx.AfterCommit(func() { r.wake(s) })
	return q, nil
}

// steered has a turn act on the words of whoever answered it, too.
func (r *Room) steered(ctx context.Context, tx *db.Tx, s *Session, t *Turn) error {
	told := s.prompted(t.prompted, op.CallerFrom(ctx))
	if len(told) == 0 || t.State.Ended() {
		return nil
	}
	if err := r.turnCounts(tx, t); err != nil {
		return err
	}
	t.prompted = told
	if err := saveTurn(tx, t); err != nil {
		return err
	}
	op.Row(ctx, t.seal())
	return nil
}

// answered are the rows of a question that has its answer: it is the result of the call that asked.
func (q *Question) answered(call *Call, result *tool.Result, now time.Time) []any {
	at := stand{now: now}
	at.end(call, CallDone, result)
	return []any{q, call}
}

// Withdraw takes back a question that has its answer elsewhere, or that nobody waits for.
func (r *Room) Withdraw(ctx context.Context, tenant, session, question string) error {
	return r.db.Write(ctx, func(tx *db.Tx) error {
		_, err := r.change(tx, tenant, session, func(s *Session) error { return r.withdraw(tx, s, question) })
		return err
	})
}

func (r *Room) withdraw(tx *db.Tx, s *Session, question string) error {
	q, err := scanQuestion(tx.QueryRow("SELECT "+questionColumns+" FROM session_question WHERE tenant = ? AND id = ? AND state = ?"+
		tx.ForUpdate(), s.Tenant, question, QuestionPending))
	if db.NoRows(err) {
		return nil
	}
	if err != nil {
		return err
	}
	q.State = QuestionWithdrawn
	return r.keepQuestion(tx, s, q)
}

// keepQuestion writes a question and tells of it.
func (r *Room) keepQuestion(tx *db.Tx, s *Session, q *Question) error {
	answers := ""
	if len(q.Answers) > 0 {
		answers = encode(q.Answers)
	}
	if _, err := tx.Exec("INSERT INTO session_question (tenant, "+questionColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (tenant, id) DO UPDATE SET state = excluded.state, answer = excluded.answer, answers = excluded.answers`,
		s.Tenant, q.ID, q.Session, q.Turn, q.Call, encode(q.Questions), q.State, q.Answer, answers, q.CreatedAt); err != nil {
		return err
	}
	if q.State == QuestionPending && r.Questioned != nil {
		if err := r.Questioned(tx, s, q); err != nil {
			return err
		}
	}
	return tell(tx, s, q.Turn, EventQuestion, q)
}

func (r *Room) setTodos(ctx context.Context, s *Session, turn string, list []tool.Todo) error {
	return r.db.Write(ctx, func(tx *db.Tx) error {
		_, err := r.change(tx, s.Tenant, s.ID, func(s *Session) error {
			s.Todos = list
			return tell(tx, s, turn, EventTodos, list)
		})
		return err
	})
}
