package approval

import (
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func person(name string) op.Caller {
	return op.Caller{Tenant: "local", Actor: "act_" + name, Name: name, Kind: op.Person, Present: "pin", Door: op.DoorSocket}
}

func agent(name string) op.Caller {
	return op.Caller{Tenant: "local", Actor: "act_" + name, Name: name, Kind: op.Agent, For: []string{"person:ann"}, Door: op.DoorSocket}
}

func TestWhoMayAnswer(t *testing.T) {
	ask := &Ask{ID: "ask_1", State: Pending, Op: "file.edit", Digest: "d", AskerID: "act_builder", Asker: "builder",
		Approvers: []string{"person:*"}, ExpiresAt: noon.Add(time.Hour)}
	named := *ask
	named.Approvers = []string{"person:ann"}
	own := *ask
	own.AskerID = "act_ann"
	absent, token, mcp, asAgent := person("ann"), person("ann"), person("ann"), person("ann")
	absent.Present = ""
	token.Present, token.Decides = "", true
	mcp.Door = op.DoorMCP
	asAgent.Kind = op.Agent
	for _, x := range []struct {
		name string
		ask  *Ask
		by   op.Caller
		ok   bool
	}{
		{"a present person", ask, person("ann"), true}, {"a deciding token", ask, token, true}, {"a named person", &named, person("ann"), true},
		{"a person who is not named", &named, person("bob"), false}, {"the asker", &own, person("ann"), false},
		{"an absent person", ask, absent, false}, {"over MCP", ask, mcp, false}, {"an agent", ask, asAgent, false},
		{"a stranger", ask, op.Caller{}, false},
	} {
		next, err := x.ask.Decide(x.by, DecideIn{Verdict: Approve, Digest: x.ask.Digest, Pages: x.ask.PageDigests()}, noon, byName)
		if (err == nil) != x.ok || (err != nil && !fault.Is(err, fault.Denied)) {
			t.Errorf("%s: %v", x.name, err)
		}
		if err == nil && (next.State != Approved || next.DecidedBy != "ann" || !next.ExpiresAt.Equal(noon.Add(ShelfLife))) {
			t.Errorf("%s: %+v", x.name, next)
		}
	}
}

func TestAnswersAndTime(t *testing.T) {
	ask := &Ask{ID: "ask_1", State: Pending, Op: "file.edit", Digest: "d", AskerID: "act_builder", Approvers: []string{"person:*"},
		ExpiresAt: noon.Add(time.Hour)}
	for _, x := range []struct {
		v        Verdict
		feedback string
		digest   string
		after    time.Duration
		state    State
		kind     fault.Kind
	}{
		{Approve, "", "d", 0, Approved, 0}, {Approve, "", "", 0, "", fault.Invalid}, {Approve, "fine", "d", 0, Approved, 0},
		{SendBack, "use a flag", "", 0, Rework, 0}, {Cancel, "", "", 0, Cancelled, 0},
		{SendBack, "", "", 0, "", fault.Invalid}, {"maybe", "", "", 0, "", fault.Invalid},
		{Approve, string(make([]byte, MaxFeedback+1)), "", 0, "", fault.Invalid},
		{Approve, "", "other", 0, "", fault.Conflict}, {Approve, "", "", time.Hour, "", fault.Conflict},
	} {
		next, err := ask.Decide(person("ann"), DecideIn{Verdict: x.v, Feedback: x.feedback, Digest: x.digest, Pages: ask.PageDigests()},
			noon.Add(x.after), byName)
		switch {
		case x.state == "" && !fault.Is(err, x.kind):
			t.Errorf("%s %.10q after %v: %v", x.v, x.feedback, x.after, err)
		case x.state != "" && (err != nil || next.State != x.state || next.Feedback != x.feedback):
			t.Errorf("%s: %+v %v", x.v, next, err)
		}
		if x.state == "" || next == nil {
			continue
		}
		if _, err := next.Decide(person("bob"), DecideIn{Verdict: Approve}, noon, byName); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s is answered twice: %v", x.v, err)
		}
		if want := map[State]fault.Kind{Approved: fault.Pending, Rework: fault.Denied, Cancelled: fault.Denied}[next.State]; next.Answer().
			Kind != want || next.Answer().Next == "" {
			t.Errorf("%s answers %v", next.State, next.Answer())
		}
	}
	if ask.State != Pending || ask.DecidedBy != "" {
		t.Error("deciding changed the ask itself")
	}
}
