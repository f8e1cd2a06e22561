package peer

import "tandem/internal/board"

// What is sealed inside an envelope, by class. The host never sees these.

// Words are a message.
type Words struct {
	Type string `json:"type"`
	Text string `json:"text"`
	Ref  *Ref   `json:"ref,omitempty"`

	Re     string   `json:"re,omitempty"`     // the first message of the conversation
	Whom   []string `json:"whom,omitempty"`   // the members it is for, when they are several
	Copies []string `json:"copies,omitempty"` // the ids of their copies, in that order
	Files  []File   `json:"files,omitempty"`
}

// Ref is a shared piece of a file.
type Ref struct {
	File    string `json:"file"`
	Start   int    `json:"start_line"`
	End     int    `json:"end_line"`
	Snippet string `json:"snippet"`
}

// MessageTypes are the eight types of message.
var MessageTypes = []string{"finding", "task", "question", "status", "handoff", "review", "chat", "context"}

// Profile is what a member tells the others about itself.
type Profile struct {
	Name    string   `json:"name"`
	Agent   string   `json:"agent,omitempty"`
	Model   string   `json:"model,omitempty"`
	Folder  string   `json:"folder,omitempty"`
	Servers []string `json:"mcp_servers,omitempty"`
	Tools   []string `json:"tools,omitempty"`
	Host    string   `json:"host,omitempty"` // where this member's daemon can be reached
	Pin     string   `json:"pin,omitempty"`
}

// Variable is a shared value.
type Variable struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	By    string `json:"by,omitempty"` // member id; filled in from the envelope
	At    int64  `json:"at,omitempty"`
}

// TaskWords are the words of a task.
type TaskWords struct {
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Result      string `json:"result,omitempty"`
	Reason      string `json:"reason,omitempty"` // why it is blocked or cancelled

	Comments []Comment `json:"comments,omitempty"` // oldest first
	Labels   []string  `json:"labels,omitempty"`

	Parent   board.TaskID `json:"parent,omitempty"`   // the task that it is part of
	Archived bool         `json:"archived,omitempty"` // it is over, and out of the way
}

// EditWords are what an edit says: what it names is different from then on. Labels are added.
type EditWords struct {
	TaskWords
	Unlabel []string `json:"unlabel,omitempty"` // labels that it has no longer
	Apart   bool     `json:"apart,omitempty"`   // it is part of no other any more
}

// CommentWords are what a comment says. One that has no comment puts the task away, or brings it back: the host and older programs see a
// comment, and nothing in it.
type CommentWords struct {
	TaskWords
	Away Away `json:"away,omitempty"`
}

// Away says what becomes of a task that is over.
type Away string

// It is put into the archive, or brought back from there.
const (
	AwayPut  Away = "put"
	AwayBack Away = "back"
)

// Comment is a member's word on a task.
type Comment struct {
	By   string `json:"by"` // a member, and for readers its name
	At   int64  `json:"at,omitempty"`
	Text string `json:"text"`
}

// PlanWords are the words of a plan's tasks, in its order.
type PlanWords struct {
	Tasks []TaskWords `json:"tasks"`
}

// Finding is a discovery worth keeping.
type Finding struct {
	ID             string        `json:"id"`
	Service        string        `json:"service"`
	Severity       string        `json:"severity"`
	Summary        string        `json:"summary"`
	Category       string        `json:"category,omitempty"`
	Count          int           `json:"count,omitempty"`
	Patterns       []Pattern     `json:"patterns,omitempty"`
	Recommendation string        `json:"recommendation,omitempty"`
	Task           *board.TaskID `json:"task_id,omitempty"`
	By             string        `json:"by,omitempty"`
	At             int64         `json:"at,omitempty"`
}

// Pattern is one repeated thing of a finding.
type Pattern struct {
	Pattern string `json:"pattern"`
	Count   int    `json:"count"`
	Source  string `json:"source,omitempty"`
}

// Severities of findings, worst first.
var Severities = []string{"critical", "high", "medium", "low", "info"}

// Path is a leased path.
type Path struct {
	Path  string `json:"path"`
	By    string `json:"by,omitempty"`
	Until int64  `json:"until,omitempty"`
	// Served says that the path is leased at the server of the repository, which
	// holds everybody to it.
	Served bool `json:"served,omitempty"`
	// Shared says that others may lease it, too.
	Shared bool `json:"shared,omitempty"`
}

// Snapshot is what a newcomer gets of the time before: board and variables,
// and no messages.
type Snapshot struct {
	Title    string                     `json:"title"`
	Profiles map[string]Profile         `json:"profiles"`
	Tasks    map[board.TaskID]TaskWords `json:"tasks"`
	Newer    map[board.TaskID][]Newer   `json:"newer,omitempty"` // what the member that made it does not know
	Vars     map[string]Variable        `json:"vars"`
	Findings []Finding                  `json:"findings"`
	Paths    map[string]Path            `json:"paths"`
}
