// Package wire is what the operations of memory take and answer, with a handle for each. It holds no service: doors and commands
// import it.
package wire

import (
	"time"

	"tandem/internal/op"
	source "tandem/internal/source/wire"
)

// The operations of memory.
const (
	Add     = op.Def[AddIn, Changed]("memory.add")
	Propose = op.Def[AddIn, Changed]("memory.propose")
	Search  = op.Def[SearchIn, SearchOut]("memory.search")
	Brief   = op.Def[BriefIn, BriefOut]("memory.brief")
	List    = op.Def[ListIn, ListOut]("memory.list")
	Show    = op.Def[IDIn, Record]("memory.show")
	History = op.Def[IDIn, HistoryOut]("memory.history")
	Edit    = op.Def[EditIn, Changed]("memory.edit")
	Promote = op.Def[MoveIn, Changed]("memory.promote")
	Demote  = op.Def[MoveIn, Changed]("memory.demote")
	Forget  = op.Def[IDIn, ForgetOut]("memory.forget")
	Export  = op.Def[ExportIn, ExportOut]("memory.export")
	Import  = op.Def[ImportIn, ImportOut]("memory.import")
)

// Record is something that is remembered.
type Record struct {
	ID      string   `json:"id"`
	Text    string   `json:"text"`
	Kind    Kind     `json:"kind" jsonschema:"fact, decision, lesson, preference or note"`
	Tier    Tier     `json:"tier" jsonschema:"session, project, team or curated"`
	Of      string   `json:"of,omitempty" jsonschema:"which session, project or collection"`
	State   State    `json:"state" jsonschema:"proposed, live, superseded or forgotten; only what is live is found and told"`
	Trust   Trust    `json:"trust" jsonschema:"stated by a person, approved by one, or untrusted"`
	Labels  []string `json:"labels,omitempty"`
	Sources []Source `json:"sources,omitempty"`
	Owner   string   `json:"owner" jsonschema:"who wrote it"`
	Version int64    `json:"version" jsonschema:"raised by one with every change"`
	Uses    int64    `json:"uses" jsonschema:"how many sessions were told it"`

	Replaces   string `json:"replaces,omitempty" jsonschema:"the record that it contradicts and stands for"`
	ReplacedBy string `json:"replaced_by,omitempty"`

	MadeAt    time.Time `json:"made_at"`
	ChangedAt time.Time `json:"changed_at"`
	ExpiresAt time.Time `json:"expires_at,omitzero" jsonschema:"from then on it is neither found nor told"`
}

// AddIn is what somebody wants to be remembered.
type AddIn struct {
	Text     string   `json:"text" jsonschema:"one thing to remember, in plain sentences; 16 KB at most"`
	Kind     Kind     `json:"kind,omitempty" jsonschema:"fact, decision, lesson, preference or note (when left out)"`
	Tier     Tier     `json:"tier,omitempty" jsonschema:"session, project, team (when left out) or curated"`
	Of       string   `json:"of,omitempty" jsonschema:"the project's name, the session's id or the collection's name; a session means itself"`
	Labels   []string `json:"labels,omitempty" jsonschema:"words to find it by: small letters, digits, dots and hyphens"`
	Sources  []Source `json:"sources,omitempty" jsonschema:"where it comes from"`
	Replaces string   `json:"replaces,omitempty" jsonschema:"the id of the record that is wrong now"`
	Days     int      `json:"days,omitempty" jsonschema:"it is forgotten by all readers after so many days; 0 keeps it"`
}

// Changed says what became of a record. It does not repeat its text: answers are kept for a while, and what is forgotten must be gone.
type Changed struct {
	ID      string `json:"id"`
	State   State  `json:"state"`
	Tier    Tier   `json:"tier"`
	Of      string `json:"of,omitempty"`
	Trust   Trust  `json:"trust"`
	Version int64  `json:"version"`
	Known   bool   `json:"known,omitempty" jsonschema:"the same text was there already, and nothing was added"`
}

// IDIn names a record.
type IDIn struct {
	ID string `json:"id" jsonschema:"the id of the record, mem_…"`
}

// EditIn changes a record; what is left out stays.
type EditIn struct {
	ID      string    `json:"id"`
	Text    *string   `json:"text,omitempty"`
	Kind    Kind      `json:"kind,omitempty"`
	Labels  *[]string `json:"labels,omitempty"`
	Version int64     `json:"version,omitempty" jsonschema:"only when it is at this version"`
}

// MoveIn makes a record live or proposed, and may move it to another tier.
type MoveIn struct {
	ID      string `json:"id"`
	Tier    Tier   `json:"tier,omitempty" jsonschema:"where it belongs from now on; left out, it stays where it is"`
	Of      string `json:"of,omitempty"`
	Version int64  `json:"version,omitempty" jsonschema:"only when it is at this version: the one that you read"`
}

// SearchIn is a question.
type SearchIn struct {
	Query string `json:"query" jsonschema:"words, \"phrases in quotes\", and beginnings*"`
	Filter
	Only  Only `json:"only,omitempty" jsonschema:"records, or passages of the documents of sources; left out, both"`
	Limit int  `json:"limit,omitempty" jsonschema:"at most this many of each, 10 records and 5 passages when left out, 50 at most"`
}

// Filter narrows what is looked at. It never widens it: what the caller may not read is not there.
type Filter struct {
	Kind  Kind   `json:"kind,omitempty"`
	Tier  Tier   `json:"tier,omitempty"`
	Of    string `json:"of,omitempty" jsonschema:"the project, session or collection"`
	Label string `json:"label,omitempty"`
}

// Hit is a record that was found.
type Hit struct {
	Record
	Score float64  `json:"score"`
	By    By       `json:"by" jsonschema:"what found it: words, meaning, words and meaning, or what it stands beside"`
	Cut   bool     `json:"cut,omitempty" jsonschema:"the text is longer; memory_show has all of it"`
	Same  []string `json:"same,omitempty" jsonschema:"ids of records that say the same in the same words"`
}

// Passage is a stretch of a document of a source. Whoever writes into the folder wrote it, and nobody here answers for it.
type Passage struct {
	source.Passage
	Trust Trust `json:"trust" jsonschema:"untrusted, always"`
}

// SearchOut is what was found, best first.
type SearchOut struct {
	Hits     []Hit     `json:"hits"`
	How      string    `json:"how" jsonschema:"how it was looked for: by words, and by meaning where vectors are at hand"`
	Passages []Passage `json:"passages,omitempty" jsonschema:"of documents, each with its source, file and place; found by words"`
}

// BriefIn asks for what a session should know at its beginning.
type BriefIn struct {
	About   string `json:"about,omitempty" jsonschema:"the task, in words: what matches it comes first"`
	Project string `json:"project,omitempty" jsonschema:"the project it is about; without one no project's memory is told"`
	Bytes   int    `json:"bytes,omitempty" jsonschema:"at most this long, 4000 when left out, 16000 at most"`
	Again   bool   `json:"again,omitempty" jsonschema:"also what this conversation was told already; left out, nothing is told twice"`
	Look    bool   `json:"look,omitempty" jsonschema:"it is not noted that the conversation was told"`
}

// BriefOut is what is told: quoted, with source, age and trust.
type BriefOut struct {
	Text string   `json:"text"`
	IDs  []string `json:"ids" jsonschema:"the records that are in it"`
	Left int      `json:"left" jsonschema:"how many more there was no room for"`
	Told int      `json:"told,omitempty" jsonschema:"how many this conversation was told already, and is not told again"`
}

// ListIn asks for a page of records.
type ListIn struct {
	Filter
	State  State  `json:"state,omitempty" jsonschema:"live when left out; proposed are shown to people and to whoever proposed them"`
	Before string `json:"before,omitempty" jsonschema:"only those older than this id: the last of the page before"`
	Limit  int    `json:"limit,omitempty" jsonschema:"at most this many, 50 when left out, 200 at most"`
}

// ListOut is a page of records, newest first.
type ListOut struct {
	Records []Record `json:"records"`
	More    bool     `json:"more"`
}

// Version is one state of a record.
type Version struct {
	Version int64     `json:"version"`
	What    string    `json:"what" jsonschema:"what was done to it"`
	Text    string    `json:"text,omitempty" jsonschema:"as it was from then on"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
}

// HistoryOut is what became of a record.
type HistoryOut struct {
	Record   Record    `json:"record"`
	Versions []Version `json:"versions"`
}

// ForgetOut says what is gone and what is not.
type ForgetOut struct {
	ID      string   `json:"id"`
	Derived []string `json:"derived,omitempty" jsonschema:"records that name it as their source; they are still there"`
	Told    []string `json:"told,omitempty" jsonschema:"sessions that were told it, whose conversations hold it"`
	Beyond  []string `json:"beyond" jsonschema:"where it may still be, out of reach"`
}

// ExportIn asks for a page of everything.
type ExportIn struct {
	After string `json:"after,omitempty" jsonschema:"only those behind this id: the last of the page before"`
}

// ExportOut is a page of records, oldest first.
type ExportOut struct {
	Records []Record `json:"records"`
	Last    string   `json:"last,omitempty" jsonschema:"where the next page begins"`
	More    bool     `json:"more"`
}

// ImportIn brings records of an export.
type ImportIn struct {
	Records []Record `json:"records" jsonschema:"at most 100"`
	Live    bool     `json:"live,omitempty" jsonschema:"those that were live are so at once; left out, they are proposed"`
}

// ImportOut counts them.
type ImportOut struct {
	Added int `json:"added"`
	Known int `json:"known" jsonschema:"how many were there already"`
	Left  int `json:"left" jsonschema:"how many were superseded or forgotten, and not taken"`
}
