package space

import (
	"errors"
	"regexp"
	"strings"

	"tandem/internal/fault"
)

var (
	toolName = regexp.MustCompile(`intandem_[a-z_]+`)
	endedOf  = regexp.MustCompile(`(?m)^([0-9]+ done or cancelled, not shown: )all=true$`)
	talkOf   = regexp.MustCompile(`(?m)^(  [0-9]+ comments?: )task_id=(T-[0-9a-f]{6}) shows (?:them|it)$`)
	openOf   = regexp.MustCompile(`(?m)^Nothing is open: intandem_add_task adds a task$`)
	joinLine = regexp.MustCompile(`They just tell their agent: Join intandem workspace: (\S+)`)
)

// ofSpace calls a space by its name where a tool says workspace, as the program did that spaces take the place of: here a
// workspace is a checkout.
var ofSpace = strings.NewReplacer("Workspace \"", "Space \"", "  Workspace: ", "  Space: ", "Disconnected from workspace",
	"Disconnected from the space",
	"No saved workspace", "No saved space", "join a workspace first", "join a space first")

// commands are what people type where an agent calls a tool.
var commands = map[string]string{
	"intandem_board": "tandem board", "intandem_add_task": "tandem board add", "intandem_claim_task": "tandem board claim",
	"intandem_unclaim_task": "tandem board unclaim",
	"intandem_edit_task":    "tandem board edit", "intandem_reopen_task": "tandem board reopen", "intandem_cancel_task": "tandem board cancel",
	"intandem_archive_task": "tandem board archive",
	"intandem_comment_task": "tandem board comment", "intandem_depend_task": "tandem board depend",
	"intandem_update_task": "tandem board", "intandem_plan": "tandem board add", "intandem_finding": "tandem board finding",
	"intandem_findings":     "tandem board findings",
	"intandem_activity_log": "tandem space log", "intandem_set_var": "tandem space set", "intandem_get_var": "tandem space get",
	"intandem_spaces": "tandem space list",
}

// spoken is a sentence for a person: it names commands where the one for an
// agent names tools.
func spoken(s string) string {
	s = strings.NewReplacer("intandem_send type=handoff", "tandem space send --type handoff", "intandem_inbox with all=true",
		"tandem space inbox --all", " task_id=", " ", "list all of them with key=*", "list all of them: tandem space get").Replace(s)
	s = joinLine.ReplaceAllString(s, "They type: tandem space join $1\nor tell their agent: Join the intandem space $1")
	s = ofSpace.Replace(s)
	return toolName.ReplaceAllStringFunc(s, func(tool string) string {
		if c, ok := commands[tool]; ok {
			return c
		}
		return "tandem space " + strings.ReplaceAll(strings.TrimPrefix(tool, "intandem_"), "_", "-")
	})
}

// verbatim are the operations whose answers are full of what peers wrote, which
// is shown as they wrote it.
var verbatim = map[string]bool{"space.inbox": true, "space.activity": true, "space.get_var": true, "space.peers": true, "board.show": true,
	"board.findings": true}

// answer is an operation's answer for a person.
func answer(op, text string) string {
	if !verbatim[op] {
		return spoken(text)
	}
	if head, ok := strings.CutSuffix(text, ": call intandem_inbox"); ok {
		text = head + ": tandem space inbox"
	}
	if rest, ok := strings.CutPrefix(text, "Workspace variables:"); ok {
		return "Variables of the space:" + rest
	}
	if op == "board.show" {
		text = openOf.ReplaceAllString(text, "Nothing is open. Add a task: tandem board add TITLE")
		return talkOf.ReplaceAllString(endedOf.ReplaceAllString(text, "${1}tandem board --all"), "${1}tandem board show ${2}")
	}
	if text == "No workspace variables set." {
		return "No variables are set in this space."
	}
	return text
}

// Spoken is a failure for a person: it names commands where the one for an agent names tools.
func Spoken(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	out := *f
	out.Msg, out.Next = spoken(f.Msg), spoken(f.Next)
	return &out
}
