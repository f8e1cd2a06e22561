// Package wire is what the operations of knowledge spaces take and answer, with a handle for each. It holds no service: doors and
// commands import it.
package wire

import (
	"time"

	"tandem/internal/memory/wire"
	"tandem/internal/op"
)

// The operations of knowledge spaces.
const (
	Create    = op.Def[CreateIn, Space]("knowledge.create")
	Change    = op.Def[ChangeIn, Space]("knowledge.change")
	List      = op.Def[ListIn, ListOut]("knowledge.list")
	Show      = op.Def[ShowIn, ShowOut]("knowledge.show")
	Item      = op.Def[ItemIn, Entry]("knowledge.item")
	Add       = op.Def[AddIn, Changed]("knowledge.add")
	Promote   = op.Def[PromoteIn, Changed]("knowledge.promote")
	Deprecate = op.Def[DeprecateIn, Changed]("knowledge.deprecate")
	Remove    = op.Def[ItemIn, RemoveOut]("knowledge.remove")
	Close     = op.Def[NameIn, RemoveOut]("knowledge.close")
	Ask       = op.Def[AskIn, AskOut]("knowledge.ask")
)

// State is how far an item is trusted to answer.
type State string

// The states. Promoted and default items answer; a default one weighs more.
const (
	Working    State = "working"
	Promoted   State = "promoted"
	Default    State = "default"
	Deprecated State = "deprecated"
)

// States are all of them, in the order of a life.
var States = []State{Working, Promoted, Default, Deprecated}

// Trust is what an item needs before it answers.
type Trust string

// The degrees of trust of a knowledge space.
const (
	Approved Trust = "approved" // a person who is present read it
	Sourced  Trust = "sourced"  // and it names where it comes from
)

// Source is where an item comes from, as with a memory.
type Source = wire.Source

// Space is a curated collection.
type Space struct {
	Name    string   `json:"name"`
	Purpose string   `json:"purpose" jsonschema:"which questions it answers"`
	Owners  []string `json:"owners" jsonschema:"people who promote, deprecate and remove what is in it"`
	Readers []string `json:"readers,omitempty" jsonschema:"who reads it, as kind:name; whoever policy lets, when there are none"`
	Trust   Trust    `json:"trust" jsonschema:"approved: a person read each item; sourced: and each names where it comes from"`
	Days    int      `json:"days,omitempty" jsonschema:"an item is stale so many days after a person looked at it; 0 never"`

	Answers    int `json:"answers" jsonschema:"how many items answer"`
	Working    int `json:"working" jsonschema:"how many wait for a person"`
	Deprecated int `json:"deprecated"`

	MadeAt    time.Time `json:"made_at"`
	ChangedAt time.Time `json:"changed_at"`
}

// Entry is an item of a knowledge space.
type Entry struct {
	ID      string   `json:"id"`
	Space   string   `json:"space" jsonschema:"the knowledge space"`
	Title   string   `json:"title"`
	Summary string   `json:"summary,omitempty"`
	Body    string   `json:"body,omitempty"`
	Covers  []string `json:"covers,omitempty" jsonschema:"topics that it answers"`
	Key     string   `json:"key,omitempty" jsonschema:"what it is about, once: a newer item with the same key takes its place"`
	Sources []Source `json:"sources,omitempty"`
	State   State    `json:"state" jsonschema:"working, promoted, default or deprecated"`
	Author  string   `json:"author"`
	By      string   `json:"by,omitempty" jsonschema:"who promoted or deprecated it"`
	Reason  string   `json:"reason,omitempty" jsonschema:"why it was deprecated"`
	Stale   bool     `json:"stale,omitempty" jsonschema:"nobody looked at it for longer than its knowledge space allows"`
	Version int64    `json:"version" jsonschema:"raised by one with every change"`

	ReplacedBy string    `json:"replaced_by,omitempty"`
	MadeAt     time.Time `json:"made_at"`
	LookedAt   time.Time `json:"looked_at,omitzero" jsonschema:"when a person promoted it last"`
	FreshUntil time.Time `json:"fresh_until,omitzero"`
}

// CreateIn makes a knowledge space.
type CreateIn struct {
	Name    string   `json:"name" jsonschema:"letters, digits, dots, hyphens and underscores"`
	Purpose string   `json:"purpose" jsonschema:"which questions it answers, in a sentence"`
	Owners  []string `json:"owners,omitempty" jsonschema:"people beside yourself"`
	Readers []string `json:"readers,omitempty" jsonschema:"only these read it: person:NAME, agent:NAME, service:NAME or session:*"`
	Trust   Trust    `json:"trust,omitempty" jsonschema:"approved (when left out) or sourced"`
	Days    int      `json:"days,omitempty" jsonschema:"how long an item is fresh after a person looked at it; 0 always"`
}

// ChangeIn changes a knowledge space; what is left out stays.
type ChangeIn struct {
	Name    string    `json:"name"`
	Purpose *string   `json:"purpose,omitempty"`
	Owners  *[]string `json:"owners,omitempty"`
	Readers *[]string `json:"readers,omitempty"`
	Trust   Trust     `json:"trust,omitempty"`
	Days    *int      `json:"days,omitempty"`
}

// NameIn names a knowledge space.
type NameIn struct {
	Name string `json:"name"`
}

// ListIn asks for all of them.
type ListIn struct {
	Items bool `json:"items,omitempty" jsonschema:"with their newest items, 200 at most"`
}

// ListOut are knowledge spaces by name.
type ListOut struct {
	Spaces []Space `json:"spaces"`
	Items  []Entry `json:"items,omitempty" jsonschema:"of all of them, newest first, without their bodies"`
}

// ShowIn asks for a knowledge space with its items.
type ShowIn struct {
	Name   string `json:"name"`
	State  State  `json:"state,omitempty" jsonschema:"only items in this state; left out, those that answer or wait for a person"`
	Before string `json:"before,omitempty" jsonschema:"only those older than this id: the last of the page before"`
	Limit  int    `json:"limit,omitempty" jsonschema:"at most this many, 50 when left out, 200 at most"`
}

// ShowOut is a knowledge space and a page of its items, newest first, without their bodies.
type ShowOut struct {
	Space
	Items []Entry `json:"items"`
	More  bool    `json:"more"`
}

// ItemIn names an item.
type ItemIn struct {
	ID string `json:"id" jsonschema:"the id of the item, kno_…"`
}

// AddIn is a new item. It is working: it answers nobody until an owner promotes it.
type AddIn struct {
	Name    string   `json:"name" jsonschema:"the knowledge space"`
	Title   string   `json:"title" jsonschema:"what it says, in a line"`
	Summary string   `json:"summary,omitempty" jsonschema:"the answer in a few sentences"`
	Body    string   `json:"body,omitempty" jsonschema:"the whole of it; 64 KB at most"`
	Covers  []string `json:"covers,omitempty" jsonschema:"topics that it answers: small letters, digits, dots, slashes and hyphens"`
	Key     string   `json:"key,omitempty" jsonschema:"what it is about, once: when it is promoted it takes the place of the item with this key"`
	Sources []Source `json:"sources,omitempty" jsonschema:"where it comes from"`
	Days    int      `json:"days,omitempty" jsonschema:"fresh for so many days, in place of what its knowledge space says"`
}

// Changed says what became of an item. It does not repeat its text: answers are kept for a while, and what is removed must be gone.
type Changed struct {
	ID       string   `json:"id"`
	Space    string   `json:"space"`
	State    State    `json:"state"`
	Version  int64    `json:"version"`
	Known    bool     `json:"known,omitempty" jsonschema:"the same was there already, and nothing was added"`
	Replaced []string `json:"replaced,omitempty" jsonschema:"items that it took the place of"`
}

// PromoteIn lets an item answer.
type PromoteIn struct {
	ID      string `json:"id"`
	Default bool   `json:"default,omitempty" jsonschema:"it is the default of the topics that it covers, and weighs more"`
	Version int64  `json:"version,omitempty" jsonschema:"only when it is at this version: the one that you read"`
}

// DeprecateIn takes an item out of answers.
type DeprecateIn struct {
	ID     string `json:"id"`
	Reason string `json:"reason,omitempty" jsonschema:"why it should not be used any more"`
}

// RemoveOut says what is gone and what is not.
type RemoveOut struct {
	Removed int      `json:"removed" jsonschema:"how many items"`
	Beyond  []string `json:"beyond" jsonschema:"where it may still be, out of reach"`
}

// AskIn is a question.
type AskIn struct {
	Question string `json:"question" jsonschema:"in words"`
	Name     string `json:"name,omitempty" jsonschema:"only this knowledge space"`
	Limit    int    `json:"limit,omitempty" jsonschema:"at most this many items, 5 when left out, 20 at most"`
}

// Cited is an item that answers, to be cited by its id.
type Cited struct {
	Entry
	Score float64 `json:"score"`
	Cut   bool    `json:"cut,omitempty" jsonschema:"the body is longer; knowledge_item has all of it"`
}

// AskOut is the answer: items to cite, the best first; or it is not known here.
type AskOut struct {
	Known  bool     `json:"known" jsonschema:"false: it is not known here, and nothing else should be said"`
	Items  []Cited  `json:"items"`
	Looked []string `json:"looked" jsonschema:"the knowledge spaces that were looked at"`
	Stale  bool     `json:"stale,omitempty" jsonschema:"all that answers is stale: somebody should look at it"`
}
