package wire

import (
	"time"

	"tandem/internal/op"
)

// The operations of webhooks.
const (
	MakeHook = op.Def[MakeHookIn, MadeHook]("automation.hook")
	Hooks    = op.Def[NameIn, HooksOut]("automation.hooks")
	Replay   = op.Def[ReplayIn, Delivery]("automation.replay")
	Deliver  = op.Def[DeliverIn, Delivery]("automation.deliver") // the server alone calls it
)

// MakeHookIn makes the address of a webhook trigger, or a new one in place of the one before.
type MakeHookIn struct {
	Name    string `json:"name"`
	Trigger string `json:"trigger,omitempty" jsonschema:"the trigger's id; the only webhook of the automation when left out"`
	Secret  string `json:"secret,omitempty" jsonschema:"what the sender signs with, where the sender made it; one is made when left out"`
}

// MadeHook is shown once.
type MadeHook struct {
	Trigger string `json:"trigger"`
	Scheme  string `json:"scheme"`
	Path    string `json:"path" jsonschema:"where the sender posts to, behind the server's own address or the tunnel's"`
	Secret  string `json:"secret,omitempty" jsonschema:"what the sender signs with, when it was made here"`
}

// HooksOut lists the webhooks of an automation, and what came.
type HooksOut struct {
	Hooks      []Hook     `json:"hooks"`
	Deliveries []Delivery `json:"deliveries" jsonschema:"the newest first, at most 100"`
}

// Hook is the address of a webhook trigger, without what is secret in it.
type Hook struct {
	Trigger  string    `json:"trigger"`
	Scheme   string    `json:"scheme,omitempty" jsonschema:"of the newest version; left out when that has no such trigger"`
	Made     bool      `json:"made" jsonschema:"it has an address"`
	MadeBy   string    `json:"made_by,omitempty"`
	MadeAt   time.Time `json:"made_at,omitzero"`
	Accepted int64     `json:"accepted"`
	Refused  int64     `json:"refused" jsonschema:"messages that were not signed right; nothing of them is kept"`
	// Remembered are messages whose digest is all that is left of them, and Most is how many there is room for.
	Remembered int64 `json:"remembered,omitempty" jsonschema:"messages that are known again for ever, since what their sender signs says no time"`
	Most       int64 `json:"most,omitempty" jsonschema:"how many there is room for; then none is taken until the webhook has another secret"`
}

// DeliverIn is a message whose signature was right.
type DeliverIn struct {
	Name    string `json:"name"`
	Trigger string `json:"trigger"`
	Hook    string `json:"hook"`
	Scheme  string `json:"scheme,omitempty" jsonschema:"how its sender signs"`
	Sender  string `json:"sender,omitempty" jsonschema:"the sender's own id of it"`
	Kind    string `json:"kind,omitempty"`
	Mark    string `json:"mark" jsonschema:"digest of what was signed"`
	Body    string `json:"body"`
}

// Delivery is a message, and what came of it.
type Delivery struct {
	ID        string    `json:"id"`
	Trigger   string    `json:"trigger"`
	Sender    string    `json:"sender,omitempty"`
	Kind      string    `json:"kind,omitempty"`
	Run       string    `json:"run,omitempty"`
	Why       string    `json:"why,omitempty" jsonschema:"why there was no run"`
	At        time.Time `json:"at"`
	Kept      bool      `json:"kept,omitempty" jsonschema:"its body is kept: it can be replayed"`
	Duplicate bool      `json:"duplicate,omitempty" jsonschema:"it came before"`
}

// ReplayIn begins a run with a message that came before.
type ReplayIn struct {
	Name string `json:"name"`
	ID   string `json:"id" jsonschema:"the delivery's id"`
}
