package terminal

import (
	"context"
	"encoding/json"
	"errors"

	"tandem/internal/fault"
	"tandem/internal/policy"
	"tandem/internal/session/agents"
	"tandem/internal/tool"
)

// asked carries a permission to people, while the dialog in the terminal stays usable. The first answer wins.
func (s *spoken) asked(ctx context.Context, link agents.Link, e agents.Event) {
	if s.row.Probe {
		if err := link.Decide(ctx, e.Ask, false, "this was only a check"); err != nil {
			s.d.log.Debug("answer a probe's request", "session", s.row.Session, "err", err)
		}
		return
	}
	h := hooked{Tool: e.Tool, ToolInput: e.Input, ToolUse: e.Ask}
	d, err := s.d.gate.Weigh(ctx, string(SessionTool), s.use(h))
	switch {
	case err != nil:
	case named(d): // before anybody can press a key
		err = fault.New(fault.Denied, string(SessionTool), "%s", s.unkept(d))
	case d.Effect == policy.Ask && s.passed(h): // people were asked about it a moment ago, when its hook ran
	default:
		err = s.ask(ctx, "ask "+e.Ask, h)
	}
	switch {
	case errors.Is(err, errElsewhere) || ctx.Err() != nil:
		return // the dialog has its answer, or stays for one
	case err == nil:
		err = link.Decide(ctx, e.Ask, true, "")
	case fault.Is(err, fault.Denied), fault.Is(err, fault.NotFound):
		err = link.Decide(ctx, e.Ask, false, fault.Public(err).Msg)
	}
	if err != nil {
		s.d.log.Error("answer a program's request", "session", s.row.Session, "err", err)
	}
}

// questioned carries a question to people.
func (s *spoken) questioned(ctx context.Context, link agents.Link, e agents.Event) {
	if len(e.Questions) == 0 {
		return
	}
	var qs []tool.Question
	for _, q := range e.Questions {
		one := tool.Question{Header: q.Header, Question: q.Text, Multiple: q.Multiple}
		for _, o := range q.Options {
			one.Options = append(one.Options, tool.Option{Label: o.Label, Description: o.Description})
		}
		qs = append(qs, one)
	}
	input, err := json.Marshal(map[string]any{"questions": qs})
	if err != nil {
		return
	}
	given, why, err := s.inquire(ctx, "ask "+e.Ask, hooked{Tool: e.Tool, ToolInput: input, ToolUse: e.Ask}, qs)
	switch {
	case ctx.Err() != nil: // the program asks again when the server is back
		return
	case err != nil:
		s.d.log.Error("carry a question", "session", s.row.Session, "err", err)
	case given != nil:
		err = link.Answer(ctx, e.Ask, given)
	case why != "": // rejected
		err = link.Answer(ctx, e.Ask, nil)
	}
	if err != nil {
		s.d.log.Error("answer a program's question", "session", s.row.Session, "err", err)
	}
}
