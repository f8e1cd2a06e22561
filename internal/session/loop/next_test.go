package loop

import (
	"encoding/json"
	"strings"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/provider"
	"tandem/internal/session"
	"tandem/internal/tool"
)

func TestWhatATurnWantsNext(t *testing.T) {
	open := &session.Call{State: session.CallProposed}
	for name, c := range map[string]struct {
		turn session.Turn
		open *session.Call
		want want
	}{
		"over":                          {session.Turn{State: session.Done}, open, toRest},
		"over, and cancelled":           {session.Turn{State: session.Done, Cancel: true}, nil, toRest},
		"cancelled with a call":         {session.Turn{State: session.Running, Cancel: true}, open, toStop},
		"a call is open":                {session.Turn{State: session.Running}, open, toCall},
		"none is, so the words decide":  {session.Turn{State: session.Running}, nil, toLook},
		"a turn that begins looks, too": {session.Turn{State: session.Queued}, nil, toLook},
	} {
		if got := next(&c.turn, c.open); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestWhatWasSaidDecides(t *testing.T) {
	said := func(role session.Role, kind provider.Kind) *session.Message {
		return &session.Message{Role: role, Blocks: []provider.Block{{Kind: kind}}}
	}
	same := func(n int, text ...string) (out []*session.Call) {
		for i := range n {
			c := &session.Call{Tool: "read", Args: json.RawMessage(`{}`), Result: &tool.Result{Text: "same"}}
			if len(text) > i {
				c.Result.Text = text[i]
			}
			out = append(out, c)
		}
		return out
	}
	turned := func(brought string) []*session.Call { return same(len(brought), strings.Split(brought, "")...) }
	many := session.Turn{Steps: maxSteps}
	for name, c := range map[string]struct {
		turn   session.Turn
		last   *session.Message
		lately []*session.Call
		want   want
		kind   fault.Kind
	}{
		"a prompt asks the model":          {last: said(session.RoleUser, provider.Text), want: toAsk},
		"results ask it again":             {last: said(session.RoleTool, provider.ResultOf), want: toAsk},
		"a reply with calls wants results": {last: said(session.RoleAssistant, provider.CallKind), want: toGather},
		"a reply in words is the end":      {last: said(session.RoleAssistant, provider.Text), want: toEnd},
		"too many steps":                   {turn: many, last: said(session.RoleUser, provider.Text), kind: fault.Exhausted},
		"the same call again and again":    {last: said(session.RoleTool, provider.ResultOf), lately: same(maxRepeat), kind: fault.Exhausted},
		"the same call, something new":     {last: said(session.RoleTool, provider.ResultOf), lately: same(maxRepeat, "new"), want: toAsk},
		"the same call, but not often":     {last: said(session.RoleTool, provider.ResultOf), lately: same(maxRepeat - 1), want: toAsk},
		"two calls in turn, often":         {last: said(session.RoleTool, provider.ResultOf), lately: turned("ababab"), kind: fault.Exhausted},
		"two calls in turn, not often":     {last: said(session.RoleTool, provider.ResultOf), lately: turned("babab"), want: toAsk},
		"three calls in turn":              {last: said(session.RoleTool, provider.ResultOf), lately: turned("abcabcabc"), kind: fault.Exhausted},
		"a reply ends it, repeated or not": {last: said(session.RoleAssistant, provider.Text), lately: same(maxRepeat), want: toEnd},
	} {
		got, err := after(&c.turn, c.last, c.lately)
		if err == nil && (got != c.want || c.kind != 0) || err != nil && (c.kind == 0 || fault.Public(err).Kind != c.kind) {
			t.Errorf("%s: %d, %v; want %d", name, got, err, c.want)
		}
	}
	if got, err := after(&session.Turn{}, nil, nil); err == nil {
		t.Errorf("a turn in which nothing was said wants %d", got)
	}
}
