package terminal

import (
	"context"
	"encoding/json"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/provider"
	"tandem/internal/session"
	"tandem/internal/tool"
)

// question carries the program's question to people. Whoever may prompt the session may answer, here or at the terminal.
func (s *seat) question(ctx context.Context, h hooked) (HookOut, error) {
	var in struct {
		Questions []struct {
			Header      string        `json:"header"`
			Question    string        `json:"question"`
			MultiSelect bool          `json:"multiSelect"`
			Options     []tool.Option `json:"options"`
		} `json:"questions"`
	}
	if err := json.Unmarshal(h.ToolInput, &in); err != nil || len(in.Questions) == 0 {
		return HookOut{}, nil // the dialog stays for whoever is at the terminal
	}
	var qs []tool.Question
	for _, q := range in.Questions {
		qs = append(qs, tool.Question{Header: q.Header, Question: q.Question, Options: q.Options, Multiple: q.MultiSelect})
	}
	given, why, err := s.inquire(ctx, keyOf(h), h, qs)
	switch {
	case err != nil:
		return HookOut{}, err
	case given != nil:
		answers := map[string]string{}
		for i, one := range qs {
			answers[one.Question] = given[i]
		}
		var input map[string]any
		if err := json.Unmarshal(h.ToolInput, &input); err != nil {
			return HookOut{}, err
		}
		input["answers"] = answers
		return decision(map[string]any{"behavior": "allow", "updatedInput": input}), nil
	case why != "":
		return decision(map[string]any{"behavior": "deny", "message": why}), nil
	}
	return HookOut{}, nil
}

// inquire asks people and waits. given are their answers, one for each question; without them, why says why nobody will, or is empty
// when the question was answered at the terminal or is gone.
func (s *seat) inquire(ctx context.Context, key string, h hooked, qs []tool.Question) (given []string, why string, err error) {
	t, err := s.d.room.Next(ctx, s.row.Tenant, s.row.Session)
	if err != nil || t == nil {
		return nil, "", err
	}
	id, err := s.file(ctx, t, h, qs)
	if err != nil {
		return nil, "", err
	}
	w := &wait{tool: h.Tool, local: make(chan struct{}), question: true, ask: id, detail: qs[0].Question}
	s.openWait(key, w)
	defer s.closeWait(key, w)
	defer func() { s.resume(context.WithoutCancel(ctx)) }()
	moves := s.d.room.Moves(s.row.Tenant, s.row.Session)
	defer moves.Close()
	for {
		next := moves.Next()
		q, err := s.d.room.Question(ctx, s.row.Tenant, id)
		if err != nil {
			return nil, "", err
		}
		switch q.State {
		case session.QuestionAnswered:
			given = q.Answers
			for len(given) < len(qs) { // of a server that knew one answer only
				given = append(given, q.Answer)
			}
			return given, "", nil
		case session.QuestionWithdrawn:
			return nil, "", nil
		case session.QuestionRejected:
			return nil, strings.TrimSpace("The person does not want to answer this. " + q.Answer), nil
		}
		select {
		case <-w.local:
			return nil, "", s.d.room.Withdraw(context.WithoutCancel(ctx), s.row.Tenant, s.row.Session, id)
		case <-ctx.Done(): // whoever waits asks again, unless it is gone
			return nil, "", fault.New(fault.Unavailable, "session.question", "the server stops before anybody answered")
		case <-next:
		}
	}
}

// file stores the question as a call of the turn, or finds it again after a restart.
func (s *seat) file(ctx context.Context, t *session.Turn, h hooked, qs []tool.Question) (string, error) {
	calls, err := s.d.room.Calls(ctx, t)
	if err != nil {
		return "", err
	}
	ref := h.ToolUse
	if ref == "" {
		ref = hash(h.ToolInput) + h.Nonce
	}
	for _, c := range calls {
		// One that is asked again by the same hook may have its answer, which the hook did not get.
		if c.Ref == ref && (c.State == session.CallAsking || c.Ask != "" && (h.ToolUse != "" || h.Nonce != "")) {
			return c.Ask, nil
		}
	}
	reply := provider.Reply{Blocks: []provider.Block{{Kind: provider.CallKind,
		Call: &provider.Call{ID: ref, Name: "question", Args: h.ToolInput}}}}
	if t, err = s.d.room.Reply(ctx, t, messageID(newConversation()), reply, "", 0, nil, ""); err != nil {
		return "", err
	}
	if calls, err = s.d.room.Calls(ctx, t); err != nil {
		return "", err
	}
	for _, c := range calls {
		if c.Ref == ref && !c.State.Ended() {
			if _, err := s.d.room.Ask(ctx, t, c, qs); err != nil {
				return "", err
			}
			return c.Ask, nil
		}
	}
	return "", fault.New(fault.Conflict, "session.question", "the turn has ended")
}

// park shows that the turn waits for an ask, resume that it goes on.
func (s *seat) park(ctx context.Context, w *wait) {
	if t, err := s.d.room.Next(ctx, s.row.Tenant, s.row.Session); err == nil && t != nil && t.State == session.Running {
		if _, err := s.d.room.Park(ctx, t, w.ask, "needs permission: "+w.detail); err != nil {
			s.d.log.Error("park a turn", "session", s.row.Session, "err", err)
		}
	}
}

func (s *seat) resume(ctx context.Context) {
	if s.d.stops() { // what it waits for is still there
		return
	}
	if t, err := s.d.room.Next(ctx, s.row.Tenant, s.row.Session); err == nil && t != nil && t.State == session.Waiting {
		if _, err := s.d.room.Start(ctx, t); err != nil && !fault.Is(err, fault.Conflict) {
			s.d.log.Error("resume a turn", "session", s.row.Session, "err", err)
		}
	}
}
