package session

import (
	"encoding/json"
	"slices"

	"tandem/internal/fault"
	"tandem/internal/provider"
	"tandem/internal/tool"
)

// What happens to the calls of a turn.

// callBegan: the call runs.
type callBegan struct{ call *Call }

func (e callBegan) to(s *stand) {
	e.call.State = CallRunning
	e.call.await("", "")
	s.leave(e.call)
}

// callAsked: people have to allow the call, and the turn waits for them.
type callAsked struct {
	call        *Call
	ask, reason string
}

func (e callAsked) to(s *stand) {
	e.call.State = CallAsking
	e.call.await(AwaitsApproval, e.ask)
	s.leave(e.call)
	parked{AwaitsApproval, e.ask, e.reason}.to(s)
}

// callEnded: the call brought this. The last call of a reply to end gives the model the results of all of them.
type callEnded struct {
	call   *Call
	state  CallState
	result *tool.Result
}

func (e callEnded) to(s *stand) {
	s.end(e.call, e.state, e.result)
	e.call.await("", "")
	s.leave(e.call)
	for i, c := range s.calls {
		if c.ID == e.call.ID {
			s.calls[i] = e.call
		}
	}
	s.answer()
}

// callRefused: the call can never run.
type callRefused struct {
	call *Call
	why  *fault.Error
}

func (e callRefused) to(s *stand) {
	s.end(e.call, CallFailed, Refusal(e.why))
	e.call.await("", "")
	s.leave(e.call)
}

// Refusal is what an agent reads in the place of a result: why not, and what it can do.
func Refusal(why *fault.Error) *tool.Result {
	text := why.Msg
	if why.Next != "" {
		text += ". Next: " + why.Next
	}
	return &tool.Result{Text: text, Error: true, Meta: map[string]any{"kind": why.Kind.String()}}
}

// gathered: every call of the last reply has ended, and the model has not seen what they brought.
type gathered struct{}

func (gathered) to(s *stand) { s.answer() }

// acted: an agent program used a tool that it has of its own. known is the call as it was told before, nil the first time.
type acted struct {
	act   Act
	known *Call
	model string
	usage provider.Usage
}

func (e acted) to(s *stand) {
	c := e.known
	if c == nil && e.act.Tool == "" {
		return // an outcome whose call was never told
	}
	if c == nil {
		args := e.act.Args
		if len(args) > maxActArgs || !json.Valid(args) {
			args = json.RawMessage(encode(map[string]string{"cut": middle(string(args), maxActArgs/2)}))
		}
		s.turn.Usage = s.turn.Usage.Add(e.usage)
		c = s.propose(e.act.Ref, e.act.Tool, args)
		s.leave(&Message{ID: s.mint("msg"), Turn: s.turn.ID, Role: RoleAssistant, Model: e.model, Blocks: []provider.Block{
			{Kind: provider.CallKind, Call: &provider.Call{ID: e.act.Ref, Name: e.act.Tool, Args: args}}}}, c)
	}
	if e.act.Result == nil || c.State.Ended() {
		return
	}
	if e.known == nil { // the row before says that it was proposed
		settled := *c
		c = &settled
	}
	result := *e.act.Result
	result.Text = middle(result.Text, maxActResult)
	s.end(c, endOf(result), &result)
	s.leave(&Message{ID: s.mint("msg"), Turn: s.turn.ID, Role: RoleTool, Blocks: []provider.Block{resultBlock(c)}}, c)
}

// propose is a new call of the turn.
func (s *stand) propose(ref, name string, args json.RawMessage) *Call {
	s.turn.Calls++
	return &Call{ID: s.mint("call"), Tenant: s.turn.Tenant, Session: s.turn.Session, Turn: s.turn.ID, Position: s.turn.Calls, Ref: ref,
		Tool: name, Args: args, State: CallProposed, CreatedAt: s.now}
}

// end gives a call its result. What it asked stays known; that it waits does not.
func (s *stand) end(c *Call, state CallState, result *tool.Result) {
	now := s.now
	if c.Awaits == AwaitsAnswer {
		s.leave(unasked(c.Ask))
	}
	c.State, c.EndedAt, c.Result, c.Awaits = state, &now, result, ""
}

// endOf is how a call ended that brought such a result.
func endOf(r tool.Result) CallState {
	if r.Error {
		return CallFailed
	}
	return CallDone
}

// closeCalls gives calls that will never run a result that says so: a conversation with an unanswered call cannot go on. Calls of the
// same reply that did end answer together with these.
func (s *stand) closeCalls(why string) {
	var open []provider.Block
	var before []*Call
	for _, c := range s.calls {
		if c.State.Ended() {
			before = append(before, c)
			continue
		}
		if c.Awaits == AwaitsTask {
			s.leave(dropped(c.Ask))
		}
		s.end(c, CallFailed, &tool.Result{Text: why, Error: true})
		s.leave(c)
		open = append(open, resultBlock(c))
	}
	if len(open) > 0 {
		s.tell(append(untold(s.said, before), open...))
	}
}

// answer adds the message with the results of the last reply's calls once all of them have ended.
func (s *stand) answer() {
	if slices.ContainsFunc(s.calls, func(c *Call) bool { return !c.State.Ended() }) {
		return
	}
	if blocks := untold(s.said, s.calls); len(blocks) > 0 {
		s.tell(blocks)
	}
}

func (s *stand) tell(results []provider.Block) {
	s.leave(&Message{ID: s.mint("msg"), Turn: s.turn.ID, Role: RoleTool, Blocks: results})
}

// untold are the results of ended calls that none of these messages carries.
func untold(ms []*Message, calls []*Call) (out []provider.Block) {
	told := map[string]bool{}
	for _, m := range ms {
		for _, b := range m.Blocks {
			if b.Kind == provider.ResultOf {
				told[b.Result.CallID] = true
			}
		}
	}
	for _, c := range calls {
		if c.State.Ended() && !told[c.Ref] {
			out = append(out, resultBlock(c))
		}
	}
	return out
}

func resultBlock(c *Call) provider.Block {
	return provider.Block{Kind: provider.ResultOf, Result: &provider.Result{CallID: c.Ref, Name: c.Tool, Text: c.Result.Text,
		Error: c.Result.Error}}
}
