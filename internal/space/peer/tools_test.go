package peer

import (
	"slices"
	"strings"
	"testing"

	"tandem/internal/op"
)

// The seed's tools, with their arguments; what has a ! must be given. Ours may
// take more.
var seedTools = map[string]string{
	"intandem_create": "name max_peers", "intandem_join": "code!", "intandem_send": "type! message! to", "intandem_board": "",
	"intandem_add_task": "title! description priority depends_on", "intandem_claim_task": "task_id!", "intandem_unclaim_task": "task_id!",
	"intandem_update_task": "task_id! status! result", "intandem_plan": "tasks!", "intandem_share": "file! start_line end_line message to",
	"intandem_set_var": "key! value!", "intandem_get_var": "key!", "intandem_activity_log": "limit", "intandem_peers": "",
	"intandem_rejoin": "", "intandem_leave": "",
	"intandem_finding": "service! severity! summary! category count patterns recommendation task_id", "intandem_findings": "severity service",
	"intandem_inbox": "all limit", "intandem_reserve": "path", "intandem_release": "path!",
}

func TestToolsOfTheSeed(t *testing.T) {
	h := newHouse(t)
	tools := map[string]op.Op{}
	for _, o := range h.peers.Ops() {
		tools[o.MCP] = o
	}
	for name, args := range seedTools {
		o, ok := tools[name]
		if !ok {
			t.Errorf("%s is missing", name)
			continue
		}
		var must []string
		for _, arg := range strings.Fields(args) {
			arg, required := strings.CutSuffix(arg, "!")
			if required {
				must = append(must, arg)
			}
			if !slices.ContainsFunc(o.Fields(), func(f op.Field) bool { return f.Name == arg }) {
				t.Errorf("%s does not take %s", name, arg)
			}
		}
		for _, f := range o.Fields() {
			if f.Required != slices.Contains(must, f.Name) {
				t.Errorf("%s: required is %v for %s", name, f.Required, f.Name)
			}
		}
	}
}

// What is too long or makes no sense is refused with a sentence, and nothing is
// changed.
func TestLimitsOfTheSeed(t *testing.T) {
	h := newHouse(t)
	seated(h, "ann", "bob")
	long := func(n int) string { return strings.Repeat("ü", n) }
	for name, tooMuch := range map[string][]any{
		"space.send": {SendIn{Type: "chat", Message: strings.Repeat("x", 65<<10)}, SendIn{Type: "chat", Message: " "},
			SendIn{Type: "gossip", Message: "x"}},
		"space.set_var": {SetVarIn{Key: long(101), Value: "v"}, SetVarIn{Key: "k", Value: long(5001)}, SetVarIn{Key: "", Value: "v"}},
		"board.add": {AddIn{Title: long(501)}, AddIn{Title: "t", Description: long(2001)}, AddIn{Title: " "},
			AddIn{Title: "t", Priority: "urgent"}},
		"board.plan": {PlanIn{}, PlanIn{Tasks: make([]PlanTask, 101)},
			PlanIn{Tasks: []PlanTask{{Title: "a", DependsOn: []string{"later"}}, {Title: "later"}}}},
		"board.update":  {UpdateIn{TaskID: "T-000000", Status: "gone"}, UpdateIn{TaskID: "T-000000", Status: "blocked"}},
		"board.finding": {FindingIn{Service: "s", Severity: "awful", Summary: "x"}},
		"space.share":   {ShareIn{File: "a", Start: 5, End: 2}},
	} {
		for _, in := range tooMuch {
			if _, err := h.gate.Invoke(h.as("ann"), name, in); err == nil {
				t.Errorf("%s took %.60v", name, in)
			}
		}
	}
	do[Said](h, "ann", "space.set_var", SetVarIn{Key: long(100), Value: long(5000)})
	do[Tasked](h, "ann", "board.add", AddIn{Title: long(500), Description: long(2000)})
	if box := do[Inbox](h, "bob", "space.inbox", InboxIn{All: true}); len(box.Messages) != 0 {
		t.Errorf("something went through: %+v", box.Messages)
	}
}

// Mail that waited while members came is sealed again for the new epoch.
func TestQueuedMailIsSealedAgain(t *testing.T) {
	a, b := far(t)
	a.unplug()
	if said := do[Said](b.house, "bob", "space.send", SendIn{Type: "chat", Message: "sealed for two"}); said.State != "queued" {
		t.Fatalf("%+v", said)
	}
	do[Who](a.house, "cy", "space.rename", RenameIn{Name: "cy"})
	code, _, _ := strings.Cut(do[Invited](a.house, "ann", "space.invite", InviteIn{}).Code, "@")
	do[Joined](a.house, "cy", "space.join", JoinIn{Code: code})
	a.listen(nil)
	for _, who := range []string{"ann", "cy"} {
		eventually(t, who+" reading it", func() bool {
			return strings.Count(do[Inbox](a.house, who, "space.inbox", InboxIn{All: true}).Text, "sealed for two") == 1
		})
	}
}
