package wire

// Kind says what sort of thing is remembered.
type Kind string

// The kinds.
const (
	Fact       Kind = "fact"
	Decision   Kind = "decision"
	Lesson     Kind = "lesson"
	Preference Kind = "preference"
	Note       Kind = "note"
)

// Kinds are all of them.
var Kinds = []Kind{Fact, Decision, Lesson, Preference, Note}

// Tier says how far a record reaches.
type Tier string

// The tiers, narrowest first.
const (
	OfSession Tier = "session"
	OfProject Tier = "project"
	OfTeam    Tier = "team"
	Curated   Tier = "curated"
)

// Tiers are all of them, narrowest first.
var Tiers = []Tier{OfSession, OfProject, OfTeam, Curated}

// State is what becomes of a record.
type State string

// The states. Only what is live is found and told.
const (
	Proposed   State = "proposed"
	Live       State = "live"
	Superseded State = "superseded"
	Forgotten  State = "forgotten"
)

// States are all of them.
var States = []State{Proposed, Live, Superseded, Forgotten}

// Trust says who answers for a record.
type Trust string

// The degrees of trust, least first.
const (
	Untrusted Trust = "untrusted" // an agent wrote it, or it follows from what one wrote
	Approved  Trust = "approved"  // a person read it and made it live
	Stated    Trust = "stated"    // a person wrote it
)

// By says what found a record.
type By string

// What finds records.
const (
	ByWords     By = "words"
	ByMeaning   By = "meaning"
	ByBoth      By = "words and meaning"
	ByNeighbour By = "neighbour" // it stands beside what was found, in a session's memory
)

// Only says what is looked for, when it is not both.
type Only string

// What is looked for.
const (
	OnlyRecords  Only = "records"
	OnlyPassages Only = "passages"
)

// Source is where a record comes from.
type Source struct {
	Kind   string `json:"kind" jsonschema:"turn, file, commit, task, message, url, person or memory"`
	Ref    string `json:"ref" jsonschema:"its id, path, address or name"`
	Digest string `json:"digest,omitempty" jsonschema:"the SHA-256 of what was read there, in hex"`
	Place  string `json:"place,omitempty" jsonschema:"where in it: a line, a page, a heading"`
}

// SourceKinds are what a source can be.
var SourceKinds = []string{"turn", "file", "commit", "task", "message", "url", "person", FromMemory}

// FromMemory is the kind of a source that is itself a record: what follows from it is trusted no more than it is.
const FromMemory = "memory"
