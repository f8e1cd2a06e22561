package session

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/provider"
	"tandem/internal/tool"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func call(ref string, state CallState) *Call {
	c := &Call{ID: "call_" + ref, Turn: "turn_1", Ref: ref, Tool: "edit", State: state, Title: "edit " + ref}
	if state.Ended() {
		c.Result = &tool.Result{Text: "did " + ref}
	}
	return c
}

func asking(ref string, what Awaited, ask string) *Call {
	c := call(ref, CallAsking)
	if what == AwaitsTask {
		c.State = CallRunning
	}
	c.await(what, ask)
	return c
}

// wanting is a reply that wants these calls.
func wanting(refs ...string) provider.Reply {
	var r provider.Reply
	for _, ref := range refs {
		r.Blocks = append(r.Blocks, provider.Block{Kind: provider.CallKind,
			Call: &provider.Call{ID: ref, Name: "edit", Args: json.RawMessage(`{}`)}})
	}
	return r
}

// rowsOf writes what came out, a row a line.
func rowsOf(s *stand) string {
	var out []string
	for _, row := range s.rows {
		switch row := row.(type) {
		case *Turn:
			out = append(out, strings.TrimSpace(fmt.Sprintf("turn %s %s %s", row.State, row.Awaits, row.Ask))+reason(row.Reason))
		case *Call:
			line := strings.TrimSpace(fmt.Sprintf("call %s %s %s %s", row.Ref, row.State, row.Awaits, row.Ask))
			if row.Result != nil {
				line += reason(row.Result.Text)
			}
			out = append(out, line)
		case *Message:
			line := "message " + string(row.Role)
			for _, b := range row.Blocks {
				switch b.Kind {
				case provider.ResultOf:
					line += " " + b.Result.CallID + "=" + b.Result.Text
				case provider.CallKind:
					line += " wants " + b.Call.ID
				default:
					line += " " + b.Text
				}
			}
			out = append(out, line)
		case *Question:
			out = append(out, "question "+row.ID+" "+row.State)
		case Retry:
			out = append(out, fmt.Sprintf("retry %d", row.Attempt))
		case dropped:
			out = append(out, "dropped "+string(row))
		case unasked:
			out = append(out, "unasked "+string(row))
		}
	}
	return strings.Join(out, "\n")
}

func reason(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

func TestATurnIsAMachine(t *testing.T) {
	text := []provider.Block{{Kind: provider.Text, Text: "go"}}
	begunAt := noon.Add(-time.Minute)
	running := Turn{ID: "turn_1", State: Running, StartedAt: &begunAt}
	waiting := Turn{ID: "turn_1", State: Waiting, StartedAt: &begunAt, Awaits: AwaitsApproval, Ask: "ask_1", Reason: "needs permission"}
	told := &Message{Role: RoleTool, Blocks: []provider.Block{{Kind: provider.ResultOf, Result: &provider.Result{CallID: "a"}}}}
	asks := func(r provider.Reply) *Message { return &Message{Role: RoleAssistant, Blocks: r.Blocks} }
	for name, c := range map[string]struct {
		turn  Turn
		calls []*Call
		said  []*Message
		h     happening
		want  string
		over  bool
	}{
		"the first start tells the prompt": {turn: Turn{ID: "turn_1", State: Queued, prompt: text}, h: started{},
			want: "message user go\nturn running"},
		"a start after an answer forgets what was awaited": {turn: waiting, h: started{}, want: "turn running"},
		"a turn waits for people": {turn: running, h: parked{AwaitsApproval, "ask_2", "needs permission"},
			want: "turn waiting approval ask_2: needs permission"},
		"a call waits for people, and its turn with it": {turn: running, h: callAsked{call("a", CallProposed), "ask_2", "needs permission"},
			want: "call a asking approval ask_2\nturn waiting approval ask_2: needs permission"},
		"an allowed call runs": {turn: running, h: callBegan{asking("a", AwaitsApproval, "ask_1")}, want: "call a running"},
		"a question": {turn: running, h: questioned{call("a", CallRunning), []tool.Question{{Question: "red?"}}},
			want: "question que_1 pending\ncall a asking question que_1\nturn waiting question que_1: the agent asks: red?"},
		"a task is handed on": {turn: running, h: delegated{call("a", CallRunning), "turn_9"},
			want: "call a running task turn_9\nturn waiting task turn_9: a child session does edit a"},
		"a reply that wants nothing ends the turn": {turn: running, h: replied{msg: "msg_9", reply: provider.Reply{Blocks: text}},
			want: "message assistant go\nturn done", over: true},
		"a reply that was cut says so": {turn: running, h: replied{reply: provider.Reply{Blocks: text, Stop: provider.StopLength}},
			want: "message assistant go\nturn done: the reply reached its limit of tokens", over: true},
		"a reply that pauses says so": {turn: running, h: replied{reply: provider.Reply{Blocks: text, Stop: provider.StopPause}},
			want: "message assistant go\nturn done: the provider paused before the reply was whole: prompt again to let it go on", over: true},
		"a reply that wants calls": {turn: running, h: replied{reply: wanting("a", "b")},
			want: "message assistant wants a wants b\ncall a proposed\ncall b proposed"},
		"the first of two calls ends": {turn: running, calls: []*Call{call("b", CallProposed)},
			h: callEnded{call("a", CallRunning), CallDone, &tool.Result{Text: "one"}}, want: "call a done: one"},
		"the last of two calls ends": {turn: running, calls: []*Call{call("a", CallDone), call("b", CallRunning)},
			said: []*Message{asks(wanting("a", "b"))}, h: callEnded{call("b", CallRunning), CallFailed, &tool.Result{Text: "two"}},
			want: "call b failed: two\nmessage tool a=did a b=two"},
		"what the model saw is not told again": {turn: running, calls: []*Call{call("a", CallDone)},
			said: []*Message{asks(wanting("a")), told}, h: gathered{}},
		"what it did not see is": {turn: running, calls: []*Call{call("a", CallDone)}, said: []*Message{asks(wanting("a"))}, h: gathered{},
			want: "message tool a=did a"},
		"a refused call": {turn: running,
			h:    callRefused{asking("a", AwaitsApproval, "ask_1"), fault.New(fault.Denied, "x", "no").WithNext("ask")},
			want: "call a failed: no. Next: ask"},
		"an end answers open calls, and drops their tasks": {turn: running,
			calls: []*Call{call("a", CallDone), call("b", CallDone), asking("c", AwaitsTask, "turn_9")}, said: []*Message{told},
			h: finished{Failed, "broken", ""}, over: true,
			want: "dropped turn_9\ncall c failed  turn_9: the turn ended before this call ran\n" +
				"message tool b=did b c=the turn ended before this call ran\nturn failed: broken"},
		"a turn that waits is cancelled at once": {turn: waiting, calls: []*Call{asking("a", AwaitsApproval, "ask_1")}, h: cancelled{},
			want: "call a failed  ask_1: the turn was cancelled\nmessage tool a=the turn was cancelled\nturn cancelled: cancelled"},
		"a question of a turn that is cancelled waits for nobody": {turn: waiting, calls: []*Call{asking("a", AwaitsAnswer, "que_1")},
			h: cancelled{}, want: "unasked que_1\ncall a failed  que_1: the turn was cancelled\n" +
				"message tool a=the turn was cancelled\nturn cancelled: cancelled"},
		"one that runs is told to stop": {turn: running, h: cancelled{}},
		"a model call is tried again":   {turn: running, h: retried{Retry{Attempt: 2}}, want: "retry 2"},
		"a program speaks, and its turn goes on": {turn: running, h: said{msg: "msg_9", text: "hello"},
			want: "message assistant hello"},
		"a program's tool and its outcome, told at once": {turn: running,
			h:    acted{act: Act{Ref: "a", Tool: "Bash", Args: json.RawMessage(`{}`), Result: &tool.Result{Text: "ok"}}},
			want: "message assistant wants a\ncall a proposed\nmessage tool a=ok\ncall a done: ok"},
		"its outcome alone": {turn: running, h: acted{act: Act{Ref: "a", Result: &tool.Result{Text: "bad", Error: true}},
			known: call("a", CallProposed)}, want: "message tool a=bad\ncall a failed: bad"},
		"told a second time": {turn: running, h: acted{act: Act{Ref: "a", Tool: "Bash", Result: &tool.Result{Text: "ok"}},
			known: call("a", CallDone)}},
		"an outcome of a call that nobody told": {turn: running, h: acted{act: Act{Ref: "a", Result: &tool.Result{Text: "ok"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			made := map[string]int{}
			s := &stand{turn: &c.turn, calls: c.calls, said: c.said, now: noon, mint: func(kind string) string {
				made[kind]++
				return fmt.Sprintf("%s_%d", kind, made[kind])
			}}
			if err := s.apply(c.h); err != nil {
				t.Fatal(err)
			}
			if got := rowsOf(s); got != c.want || s.over != c.over {
				t.Errorf("over %v, rows:\n%s\nwant over %v:\n%s", s.over, got, c.over, c.want)
			}
		})
	}
}

func TestNothingHappensToATurnThatEnded(t *testing.T) {
	for _, state := range []TurnState{Done, Failed, Cancelled} {
		s := &stand{turn: &Turn{State: state}, now: noon}
		if err := s.apply(finished{Failed, "late", ""}); !fault.Is(err, fault.Conflict) || s.turn.State != state || len(s.rows) > 0 {
			t.Errorf("%s: %v, %s, %d rows", state, err, s.turn.State, len(s.rows))
		}
	}
}

func TestWhatATurnUsedIsCounted(t *testing.T) {
	s := &stand{turn: &Turn{State: Running}, now: noon, mint: func(kind string) string { return kind }}
	for _, h := range []happening{spent{provider.Usage{Input: 3}, 5}, replied{reply: provider.Reply{Usage: provider.Usage{Input: 4},
		Blocks: wanting("a", "b").Blocks}, cost: 6}} {
		if err := s.apply(h); err != nil {
			t.Fatal(err)
		}
	}
	if u := s.turn; u.Attempts != 2 || u.Steps != 1 || u.Calls != 2 || u.Usage.Input != 7 || u.Cost != 11 {
		t.Errorf("%+v", u)
	}
}

// The machine reads no clock, no database and no file.
func TestTheMachineIsPure(t *testing.T) {
	files, err := filepath.Glob("machine*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			switch path := strings.Trim(i.Path.Value, `"`); path {
			case "context", "os", "sync", "math/rand/v2", "tandem/internal/db", "tandem/internal/journal", "tandem/internal/id":
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
}
