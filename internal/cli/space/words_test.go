package space

import (
	"testing"

	"tandem/internal/fault"
)

func TestPeopleAreToldCommands(t *testing.T) {
	for tool, command := range map[string]string{
		"call intandem_create, intandem_join with a code, or intandem_rejoin": "call tandem space create, tandem space join with a " +
			"code, or tandem space rejoin",
		"2 messages, m_1, m_2: call intandem_inbox": "2 messages, m_1, m_2: call tandem space inbox",
		"ask the holder for a handoff with intandem_send type=handoff": "ask the holder for a handoff with tandem " +
			"space send --type handoff",
		"see intandem_activity_log":    "see tandem space log",
		"pick one from intandem_board": "pick one from tandem board",
		"list all of them with key=*":  "list all of them: tandem space get",
	} {
		if got := spoken(tool); got != command {
			t.Errorf("%q became %q", tool, got)
		}
	}
	if got := answer("space.inbox", "  he said: call intandem_send"); got != "  he said: call intandem_send" {
		t.Errorf("a peer's words became %q", got)
	}
	if got := answer("board.show",
		"Task board is empty.\n\n1 message, m_1: call intandem_inbox"); got != "Task board is empty.\n\n1 message, m_1: tandem space inbox" {
		t.Errorf("%q", got)
	}
	for said, want := range map[string]string{
		"Shared Task Board:\nNothing is open: intandem_add_task adds a task": "Shared Task Board:\nNothing is open. " +
			"Add a task: tandem board add TITLE",
		"x\n  1 comment: task_id=T-a1b2c3 shows it":    "x\n  1 comment: tandem board show T-a1b2c3",
		"x\n  2 comments: task_id=T-a1b2c3 shows them": "x\n  2 comments: tandem board show T-a1b2c3",
	} {
		if got := answer("board.show", said); got != want {
			t.Errorf("%q", got)
		}
	}
	err := Spoken(fault.New(fault.Conflict, "space", "Not connected.").WithNext("call intandem_join"))
	if f := fault.Public(err); f.Kind != fault.Conflict || f.Next != "call tandem space join" {
		t.Errorf("%+v", f)
	}
}
