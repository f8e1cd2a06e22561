package panel

import (
	"time"

	"tandem/internal/panel/ui"
)

// GrantRow is what an actor may do to a resource.
type GrantRow struct {
	ID          string
	Principal   string
	Effect      string // allow, deny
	Permissions []string
	Resource    string
	Tools       []string
	Classes     []string
	Source      string
	Expires     time.Time
}

// PolicyView is the law of the house: grants, rules, and a way to ask it.
type PolicyView struct {
	Now      time.Time
	Version  int64
	By       string
	At       time.Time
	Grants   []GrantRow
	Rules    string
	Versions []ui.Moment
	Ask      ExplainForm
	Answer   *ExplainView
}

// ExplainForm is a question to policy.
type ExplainForm struct {
	Actor, Op, Resource string
	Actors, Ops         []string // known names, to choose from
	Problem             string
}

// ExplainView is policy's answer and the way to it.
type ExplainView struct {
	Answer  string // allow, ask, deny
	Reason  string
	Decider string // the grant or rule that decided
	Steps   []ExplainStep
}

// ExplainStep is a consideration, in the order of evaluation.
type ExplainStep struct {
	Name    string
	Said    string
	Decided bool
}

func answerTone(answer string) ui.Tone {
	switch answer {
	case "allow":
		return ui.Good
	case "ask":
		return ui.Warn
	}
	return ui.Bad
}

func effectTone(effect string) ui.Tone {
	if effect == "deny" {
		return ui.Bad
	}
	return ui.Good
}

func answerWord(answer string) string {
	switch answer {
	case "allow":
		return "Allowed"
	case "ask":
		return "A person must approve"
	}
	return "Refused"
}
