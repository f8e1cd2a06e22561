// Package wire is what the operations of sources take and answer, with a handle for each. It holds no service: doors and commands
// import it.
package wire

import (
	"fmt"
	"time"

	"tandem/internal/op"
)

// The operations of sources.
const (
	Preview    = op.Def[PreviewIn, PreviewOut]("source.preview")
	Add        = op.Def[AddIn, Source]("source.add")
	List       = op.Def[ListIn, ListOut]("source.list")
	Show       = op.Def[NameIn, ShowOut]("source.show")
	Sync       = op.Def[NameIn, Source]("source.sync")
	Pause      = op.Def[NameIn, Source]("source.pause")
	Resume     = op.Def[NameIn, Source]("source.resume")
	Quarantine = op.Def[ReasonIn, Source]("source.quarantine")
	Revoke     = op.Def[NameIn, Source]("source.revoke")
	Import     = op.Def[NameIn, ImportOut]("source.import")
	Search     = op.Def[SearchIn, SearchOut]("source.search")
)

// State is what becomes of a source.
type State string

// The states. What came from an active or a paused source is found; only an active one is imported.
const (
	Active      State = "active"
	Paused      State = "paused"
	Quarantined State = "quarantined"
	Revoked     State = "revoked"
)

// From is where the documents of a source are: in a folder, in a repository, on a site or with a connector; one of these.
type From struct {
	Folder string `json:"folder,omitempty" jsonschema:"an absolute path on the server's machine"`

	Repo  string `json:"repo,omitempty" jsonschema:"a repository that this server serves, by name or id"`
	At    string `json:"at,omitempty" jsonschema:"a bookmark, which is followed, or a commit by its 40 digits; its main bookmark when left out"`
	Under string `json:"under,omitempty" jsonschema:"only this folder of the repository"`

	URL    string `json:"url,omitempty" jsonschema:"the address of a page, from which links on the same server are followed"`
	Depth  int    `json:"depth,omitempty" jsonschema:"how many links deep; 0 is that page alone, at most 10"`
	Pages  int    `json:"pages,omitempty" jsonschema:"at most this many pages (100), up to 1000"`
	Inside bool   `json:"inside,omitempty" jsonschema:"its address leads inside this machine or its network; a person decides that"`

	Connector string `json:"connector,omitempty" jsonschema:"an outside MCP server whose resources are read, by its name here"`
}

// Where says in words where the documents are.
func (f From) Where() string {
	switch {
	case f.Repo != "" && f.Under != "":
		return f.Under + " of " + f.Repo + " at " + f.At
	case f.Repo != "":
		return f.Repo + " at " + f.At
	case f.URL != "" && f.Depth > 0:
		return fmt.Sprintf("%s and what it links to, %d deep", f.URL, f.Depth)
	case f.URL != "":
		return f.URL
	case f.Connector != "":
		return "the resources of " + f.Connector
	}
	return f.Folder
}

// Source is something whose documents are searched here.
type Source struct {
	Name string `json:"name"`
	From
	Commit string `json:"commit,omitempty" jsonschema:"the commit of the repository that was imported last"`
	State  State  `json:"state" jsonschema:"active, paused, quarantined or revoked"`
	Reason string `json:"reason,omitempty" jsonschema:"why it is quarantined, or why the last import failed"`
	Owner  string `json:"owner" jsonschema:"who answers for it, and with whose eyes it is read"`
	Every  int    `json:"every_minutes,omitempty" jsonschema:"how often it is looked at by itself; 0 only when somebody asks"`

	Files    int  `json:"files" jsonschema:"how many documents can be found"`
	Passages int  `json:"passages" jsonschema:"in how many passages"`
	Bad      int  `json:"bad" jsonschema:"how many could not be read"`
	Waiting  bool `json:"waiting,omitempty" jsonschema:"an import is due or under way"`

	Progress *Progress `json:"progress,omitempty" jsonschema:"of the import that is under way"`

	MadeAt     time.Time `json:"made_at"`
	ImportedAt time.Time `json:"imported_at,omitzero" jsonschema:"when the last import was complete"`
}

// Progress says how far an import is.
type Progress struct {
	Files int `json:"files" jsonschema:"how many there are"`
	Done  int `json:"done" jsonschema:"how many were looked at"`
}

// PreviewIn names what would be bound.
type PreviewIn struct {
	From
}

// PreviewOut is what an import would bring.
type PreviewOut struct {
	From
	Commit  string         `json:"commit,omitempty" jsonschema:"at which the repository is"`
	Files   int            `json:"files"`
	Bytes   int64          `json:"bytes"`
	Formats map[string]int `json:"formats" jsonschema:"how many files of each format"`
	Sample  []string       `json:"sample" jsonschema:"the first of them"`
	Left    []BadFile      `json:"left" jsonschema:"the first that would be left out, and why"`
	LeftOut int            `json:"left_out" jsonschema:"how many would be left out"`
}

// AddIn binds a source.
type AddIn struct {
	Name string `json:"name" jsonschema:"by which it is cited: letters, digits, dots, hyphens and underscores"`
	From
	Every int `json:"every_minutes,omitempty" jsonschema:"look at it by itself so often; 0 only when somebody asks"`
}

// NameIn names a source.
type NameIn struct {
	Name string `json:"name"`
}

// ReasonIn names a source and says why.
type ReasonIn struct {
	Name   string `json:"name"`
	Reason string `json:"reason,omitempty" jsonschema:"why nobody is to find what came from it"`
}

// ListIn asks for all sources.
type ListIn struct {
	Revoked bool `json:"revoked,omitempty" jsonschema:"also those that were revoked"`
}

// ListOut are sources by name.
type ListOut struct {
	Sources []Source `json:"sources"`
}

// BadFile is a file that has no text here, and why.
type BadFile struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

// ShowOut is a source with what could not be read.
type ShowOut struct {
	Source
	BadFiles []BadFile `json:"bad_files" jsonschema:"the first 200"`
}

// ImportOut counts what an import did.
type ImportOut struct {
	Files   int   `json:"files"`
	Changed int   `json:"changed"`
	Gone    int   `json:"gone"`
	Bad     int   `json:"bad"`
	State   State `json:"state"`
}

// SearchIn is a question.
type SearchIn struct {
	Query  string `json:"query" jsonschema:"words, \"phrases\" and beginnings*"`
	Source string `json:"source,omitempty" jsonschema:"only in this source"`
	Limit  int    `json:"limit,omitempty" jsonschema:"at most this many passages (10)"`
}

// Passage is a stretch of a document with the place where it stands.
type Passage struct {
	Source string    `json:"source"`
	File   string    `json:"file" jsonschema:"in the source: a path, or the address of a page"`
	Place  string    `json:"place,omitempty" jsonschema:"where in it: headings, a symbol, lines, a page, rows"`
	Text   string    `json:"text"`
	Digest string    `json:"digest" jsonschema:"the SHA-256 of the file as it was read"`
	At     time.Time `json:"at" jsonschema:"when it was read"`
	Score  float64   `json:"score"`
}

// SearchOut is what was found, the best first.
type SearchOut struct {
	Passages []Passage `json:"passages"`
}
