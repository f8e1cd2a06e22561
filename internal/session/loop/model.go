package loop

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/models"
	"tandem/internal/op"
	"tandem/internal/provider"
	"tandem/internal/provider/catalog"
	"tandem/internal/session"
)

// ModelIn is one call of a model, as the gate records it.
type ModelIn struct {
	Session string `json:"session"`
	Turn    string `json:"turn"`
	Try     string `json:"try" jsonschema:"the name of this one attempt"`
	Model   string `json:"model"`
}

// ModelOut is what a call of a model brought, without its words.
type ModelOut struct {
	Reply string         `json:"reply,omitempty" jsonschema:"the provider's name for the reply"`
	Model string         `json:"model" jsonschema:"the model that answered"`
	Stop  provider.Stop  `json:"stop"`
	Usage provider.Usage `json:"usage"`
}

const modelCall = op.Def[ModelIn, ModelOut]("session.model_call")

// Ops are the driver's own operations.
func (r *Runner) Ops() []op.Op {
	return []op.Op{op.Binding(modelCall.Effect(op.Spec{Right: "session.run", MCP: "-",
		Doc: "Call the model of a session once. Only the session's own turn does this."},
		func(in ModelIn) op.Resource { return op.Resource{Kind: "session", Path: "/" + in.Session} }, r.modelCall, nil),
		func(ctx context.Context, in ModelIn) ([]op.Bound, error) { return r.room.Models.Bind(ctx, in.Model) })}
}

func (r *Runner) modelCall(ctx context.Context, in ModelIn) (ModelOut, error) {
	c := op.CallerFrom(ctx)
	r.mu.Lock()
	run := r.inflight[in.Turn]
	r.mu.Unlock()
	if run == nil || c.Session != in.Session || c.Door != op.DoorInside {
		return ModelOut{}, fault.New(fault.Denied, "session.model_call", "a session's model is called by its own turn")
	}
	return run(ctx)
}

// ask calls the model until it answers, or until trying again makes no sense.
func (r *Runner) ask(ctx context.Context, s *session.Session, t *session.Turn, ms []*session.Message) error {
	models := append([]string{s.Model}, s.Config.Fallback...)
	if t.Options.Model != "" {
		models = append([]string{t.Options.Model}, s.Config.Fallback...)
	}
	var err error
	for _, m := range models {
		for try := 1; try <= r.Tries; try++ {
			rest, e := r.budget(ctx, s, t, m)
			if e != nil {
				return e
			}
			if err = r.attempt(ctx, s, t, ms, m, rest); err == nil || context.Cause(ctx) != nil {
				return err
			}
			wait, again := provider.Backoff(err, try, rand.Float64(), r.Patience)
			if !again || try == r.Tries {
				break
			}
			if e := r.room.Retry(ctx, t, session.Retry{Failure: string(provider.FailureOf(err)), Reason: fault.Public(err).Msg, Attempt: int64(try),
				Seconds: wait.Seconds(), Model: m}); e != nil {
				return e
			}
			if !sleep(ctx, wait) {
				return context.Cause(ctx)
			}
		}
		if f := provider.FailureOf(err); f == "" || f == provider.ContextLength {
			return err
		}
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// budget refuses the call that would exceed one, and says what the call may use.
func (r *Runner) budget(ctx context.Context, s *session.Session, t *session.Turn, model string) (session.Rest, error) {
	accounts, err := r.room.Accounts(ctx, s, t)
	if err != nil {
		return session.Rest{}, err
	}
	p, m, _ := catalog.Split(model)
	_, priced := catalog.PriceOf(p, m)
	return session.Left(accounts, t.Attempts > 0, priced)
}

// within narrows a request to what is left of the budgets: a call whose question alone would exceed them is not made, and
// the answer may be no longer than the rest.
func within(q *provider.Request, rest session.Rest, price provider.Price) error {
	reading := estimate(q)
	limit := int64(-1)
	if rest.Tokens >= 0 {
		if limit = rest.Tokens - reading; limit <= 0 {
			return rest.Beyond("tokens", reading, rest.Tokens)
		}
	}
	if rest.Cost >= 0 {
		asking := price.Of(provider.Usage{Input: reading})
		if asking >= rest.Cost {
			return rest.Beyond("cents", int64(asking/10_000_000)+1, int64(rest.Cost/10_000_000))
		}
		if each := price.Of(provider.Usage{Output: 1_000_000}); each > 0 {
			if n := int64(float64(rest.Cost-asking) / float64(each) * 1_000_000); limit < 0 || n < limit {
				limit = max(n, 1)
			}
		}
	}
	if limit >= 0 && (q.MaxTokens == 0 || int64(q.MaxTokens) > limit) && limit < maxReply {
		q.MaxTokens = int(limit)
	}
	return nil
}

// maxReply is longer than any reply: a rest beyond it needs no bound.
const maxReply = 128_000

// estimate is about how many tokens a request has, at four bytes each: low rather than high, so that nothing is refused that fits.
func estimate(q *provider.Request) int64 {
	n := len(q.System)
	for _, m := range q.Messages {
		for _, b := range m.Blocks {
			n += len(b.Text)
			if b.Call != nil {
				n += len(b.Call.Args)
			}
			if b.Result != nil {
				n += len(b.Result.Text)
			}
		}
	}
	for _, t := range q.Tools {
		n += len(t.Doc) + len(t.Schema)
	}
	return int64(n / 4)
}

// attempt makes one call of a model, through the gate, and stores what it said.
func (r *Runner) attempt(ctx context.Context, s *session.Session, t *session.Turn, ms []*session.Message, model string,
	rest session.Rest) error {
	providerID, name, _ := catalog.Split(model)
	req, err := r.request(ctx, s, t, ms, name)
	if err != nil {
		return err
	}
	price, _ := catalog.PriceOf(providerID, name)
	if err := within(&req, rest, price); err != nil {
		return err
	}
	talk := &talk{r: r, ctx: ctx, s: s, turn: t.ID, msg: id.New("msg")}
	var reply provider.Reply
	run := func(ctx context.Context) (ModelOut, error) {
		ctx, cancel := deadline(ctx, rest.Seconds)
		defer cancel()
		err := r.room.Models.Open(ctx, s.Tenant, providerID, func(m provider.Model) (err error) {
			reply, err = m.Stream(ctx, req, talk.part)
			return err
		})
		if err == nil && talk.err != nil {
			err = talk.err
		}
		if err != nil && errors.Is(context.Cause(ctx), errTime) {
			err = fault.New(fault.Exhausted, "session.budget", "%s", errTime).WithNext("raise the budget and prompt again")
		}
		return ModelOut{reply.ID, reply.Model, reply.Stop, reply.Usage}, models.Explain(err, providerID)
	}
	r.mu.Lock()
	r.inflight[t.ID] = run
	r.mu.Unlock()
	as := s.At(t)
	// A call of a model is never repeated under its name: one that a crash cut off is recorded as unknown, and a new one made.
	_, err = op.Do(op.WithCaller(ctx, as), r.gate, modelCall, ModelIn{s.ID, t.ID, id.New("try"), model})
	r.mu.Lock()
	delete(r.inflight, t.ID)
	r.mu.Unlock()
	cost := price.Of(reply.Usage)
	if err != nil {
		after := context.WithoutCancel(ctx)
		if e := talk.cut(after); e != nil {
			return errors.Join(err, e)
		}
		if reply.Usage.Total() > 0 {
			if _, e := r.room.Spend(after, t, reply.Usage, cost); e != nil {
				return errors.Join(err, e)
			}
		}
		return err
	}
	for i := range reply.Blocks {
		// Some servers leave the id out; without one a result finds no call.
		if b := reply.Blocks[i]; b.Kind == provider.CallKind && b.Call.ID == "" {
			b.Call.ID = id.New("ref")
			reply.Blocks[i].Raw = nil
		}
	}
	if reply.Stop == provider.StopRefusal && len(reply.Blocks) == 0 {
		reply.Blocks = []provider.Block{{Kind: provider.Text, Text: "(the model refused to answer)"}}
	}
	_, err = r.room.Reply(ctx, t, talk.msg, reply, model, cost, talk.open, talk.text.String())
	return err
}

var errTime = errors.New("the budget of time is used up")

// deadline ends what a budget of time allows no longer; negative is no bound.
func deadline(ctx context.Context, seconds int64) (context.Context, context.CancelFunc) {
	if seconds < 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, time.Duration(seconds)*time.Second, errTime)
}

// talk passes the parts of a reply on to watchers: a part of text or reasoning at a time.
type talk struct {
	r     *Runner
	ctx   context.Context
	s     *session.Session
	turn  string
	msg   string
	open  *session.Writer
	index int
	text  strings.Builder
	err   error
}

func (k *talk) part(p provider.Part) {
	if k.err != nil || p.Delta == "" || p.Kind != provider.Text && p.Kind != provider.Reasoning {
		return
	}
	if k.open != nil && k.index != p.Index {
		k.err = k.open.End(k.ctx, false)
		k.open = nil
	}
	if k.open == nil && k.err == nil {
		k.index = p.Index
		k.text.Reset()
		k.open, k.err = k.r.room.StartPart(k.ctx, k.s, k.turn,
			session.Part{ID: fmt.Sprintf("%s.%d", k.msg, p.Index), Message: k.msg, Kind: p.Kind})
	}
	if k.err == nil {
		k.text.WriteString(p.Delta)
		k.open.Add(p.Delta)
	}
}

// cut closes a part that will not be finished.
func (k *talk) cut(ctx context.Context) error {
	if k.open == nil {
		return nil
	}
	return k.open.End(ctx, true)
}
