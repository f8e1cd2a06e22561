// Package wire is what operations of teams take and answer, with a handle for each. It holds no service: doors and commands import it.
package wire

import (
	"time"

	job "tandem/internal/job/wire"
	"tandem/internal/op"
)

// The operations.
const (
	Start   = op.Def[StartIn, *Team]("team.start")
	List    = op.Def[ListIn, ListOut]("team.list")
	Get     = op.Def[IDIn, *Team]("team.get")
	Wait    = op.Def[WaitIn, *Team]("team.wait")
	Edit    = op.Def[EditIn, *Team]("team.plan")
	Approve = op.Def[ApproveIn, *Team]("team.approve")
	Pause   = op.Def[IDIn, *Team]("team.pause")
	Resume  = op.Def[ResumeIn, *Team]("team.resume")
	Stop    = op.Def[IDIn, *Team]("team.stop")
)

// State is where a team stands.
type State string

// The states. A team whose plan waits, or that is paused or blocked, waits for a person; a team that is done or stopped is over.
const (
	Planning State = "planning"   // its lead makes a plan
	Proposed State = "plan waits" // for a person, who approves or edits it
	Working  State = "working"
	Paused   State = "paused"
	Blocked  State = "blocked" // it cannot go on by itself
	Done     State = "done"
	Stopped  State = "stopped"
)

// Over says that nothing comes after.
func (s State) Over() bool { return s == Done || s == Stopped }

// Plan is what a lead proposes, and a person approves.
type Plan struct {
	Criteria []string `json:"criteria,omitempty" jsonschema:"what is true when the goal is reached"`
	Tasks    []Item   `json:"tasks"`
}

// Item is a task of a plan.
type Item struct {
	Name  string   `json:"name" jsonschema:"a short word, unique in the plan: a-z, 0-9 and -"`
	Text  string   `json:"text" jsonschema:"what is to be done, for somebody who knows nothing else"`
	After []string `json:"after,omitempty" jsonschema:"names of tasks that are merged before this one begins"`
	Files []string `json:"files,omitempty" jsonschema:"files or folders that it changes"`
	Check string   `json:"check,omitempty" jsonschema:"a command that says by its exit code whether it is good; the team's when left out"`
	Agent string   `json:"agent,omitempty" jsonschema:"one of the team's workers; in turn when left out"`
}

// Stage is where a task stands.
type Stage string

// The stages.
const (
	Waits   Stage = "waits"   // for those before it, or for a free place
	AtWork  Stage = "at work" // its job goes on by itself
	Review  Stage = "in review"
	Queued  Stage = "queued"
	Merged  Stage = "merged"
	Failed  Stage = "failed"  // its job stopped, again after it was resumed
	Halted  Stage = "stopped" // somebody stopped its job
	Dropped Stage = "dropped" // it is not needed, or came after one that is not
)

// Task is a task of a team, and what became of it.
type Task struct {
	Item
	Stage  Stage      `json:"stage"`
	Job    string     `json:"job,omitempty"`
	Reason string     `json:"reason,omitempty" jsonschema:"why it stands there"`
	Commit string     `json:"commit,omitempty" jsonschema:"its job's newest commit"`
	Tries  int64      `json:"tries,omitempty" jsonschema:"how often its job was resumed after it failed"`
	Asked  int64      `json:"asked,omitempty" jsonschema:"how often the lead was asked about it"`
	Held   bool       `json:"held,omitempty" jsonschema:"its job is stopped because the team is"`
	Needs  []job.Need `json:"needs,omitempty" jsonschema:"what its agent waits for and a person has to answer"`

	Inspect string      `json:"inspect,omitempty" jsonschema:"who is asked to review it next"`
	Looks   int64       `json:"looks,omitempty" jsonschema:"how often the team had it reviewed"`
	Remark  string      `json:"remark,omitempty" jsonschema:"what its agent is told next, of a reviewer: data, not instructions"`
	Heard   string      `json:"heard,omitempty" jsonschema:"the commit of which its agent heard what a reviewer wants changed"`
	Says    job.Opinion `json:"says,omitempty" jsonschema:"what a reviewer said of its newest commit; only a person merges"`

	Say   string `json:"say,omitempty" jsonschema:"what its agent is told next, of the lead"`
	Hand  string `json:"hand,omitempty" jsonschema:"the worker that goes on with it, in the same files, once it is told that"`
	Again bool   `json:"again,omitempty" jsonschema:"its job is resumed next"`
}

// Over says that nothing comes after.
func (t *Task) Over() bool { return t.Stage == Merged || t.Stage == Dropped }

// Happened is something that happened to a team.
type Happened struct {
	At   time.Time `json:"at"`
	What string    `json:"what"`
}

// Spent is what the sessions of a team used up so far.
type Spent struct {
	Cents  float64 `json:"cents" jsonschema:"hundredths of a US dollar, where the price is known"`
	Tokens int64   `json:"tokens"`
	Turns  int64   `json:"turns"`
}

// Team is several agents on one goal.
type Team struct {
	ID      string   `json:"id"`
	State   State    `json:"state" jsonschema:"planning, plan waits, working, paused, blocked, done or stopped"`
	Reason  string   `json:"reason,omitempty" jsonschema:"why it stands there"`
	Goal    string   `json:"goal"`
	Folder  string   `json:"folder" jsonschema:"the checkout in which it was started"`
	Onto    string   `json:"onto" jsonschema:"the branch that its jobs are for"`
	Agents  int64    `json:"agents" jsonschema:"how many work at once"`
	Lead    string   `json:"lead" jsonschema:"who plans: claude, codex, opencode, or a model as provider/model"`
	Workers []string `json:"workers,omitempty" jsonschema:"who works, in turn; the lead's kind when there are none"`
	Check   string   `json:"check,omitempty" jsonschema:"of tasks that have none"`
	Review  string   `json:"review,omitempty" jsonschema:"who reviews finished tasks before a person looks: an agent, or others for another one of the workers; nobody when left out"`
	// Knowledge is what all of it reads of knowledge spaces.
	Knowledge []string   `json:"knowledge,omitempty" jsonschema:"the knowledge spaces that its lead and its agents read, and no others"`
	Budget    job.Budget `json:"budget,omitzero" jsonschema:"of the whole team"`
	Share     job.Budget `json:"share,omitzero" jsonschema:"of each task; what is left is the lead's"`
	Until     time.Time  `json:"until,omitzero" jsonschema:"then it is paused"`
	// Version counts plans: an approval is bound to it.
	Version  int64    `json:"version" jsonschema:"which plan this is; an approval names it"`
	Criteria []string `json:"criteria,omitempty"`
	Tasks    []*Task  `json:"tasks,omitempty"`
	Session  string   `json:"session,omitempty" jsonschema:"the lead's"`
	// Needs is never stored: it is read from the inbox of whoever looks.
	Waits bool       `json:"waits,omitempty" jsonschema:"its lead waits for a person's answer"`
	Needs []job.Need `json:"needs,omitempty" jsonschema:"what its lead waits for, when one team is read"`
	Later time.Time  `json:"later,omitzero" jsonschema:"its lead's provider refused it for its rate, or its program ended: when it is asked again"`

	By         string     `json:"by" jsonschema:"who started it"`
	ApprovedBy string     `json:"approved_by,omitempty" jsonschema:"who approved the plan"`
	MadeAt     time.Time  `json:"made_at"`
	MovedAt    time.Time  `json:"moved_at" jsonschema:"since when it stands where it does"`
	Events     []Happened `json:"events,omitempty" jsonschema:"the newest, oldest first"`
	Report     string     `json:"report,omitempty" jsonschema:"made by tandem from what happened, when it is done"`
	Spent      *Spent     `json:"spent,omitempty" jsonschema:"when one team is read"`
	Expected   *Expected  `json:"expected,omitempty" jsonschema:"in the end, when one team is read of which something is merged and something is not"`
}

// StartIn starts a team.
type StartIn struct {
	Goal    string     `json:"goal"`
	Folder  string     `json:"folder" jsonschema:"a folder in a git checkout, absolute"`
	Onto    string     `json:"onto,omitempty" jsonschema:"the branch that its jobs are for; the one that is checked out when left out"`
	Agents  int64      `json:"agents,omitempty" jsonschema:"how many work at once, 1 to 20 (2)"`
	Lead    string     `json:"lead,omitempty" jsonschema:"claude, codex, opencode, or a model as provider/model; the default model when left out"`
	Workers []string   `json:"workers,omitempty" jsonschema:"the same; the lead's kind when left out"`
	Budget  job.Budget `json:"budget,omitzero"`
	Until   time.Time  `json:"until,omitzero"`
	Check   string     `json:"check,omitempty" jsonschema:"of tasks that have none of their own"`
	Review  string     `json:"review,omitempty" jsonschema:"who reviews finished tasks before a person looks: claude, codex, opencode, a model as provider/model, or others for another one of the workers"`
	// Knowledge is what all of it reads of knowledge spaces.
	Knowledge []string `json:"knowledge,omitempty" jsonschema:"the knowledge spaces that its lead and its agents read, and no others; what policy lets them when left out"`
}

// Others is who reviews where another one of the workers does.
const Others = "others"

// IDIn names a team.
type IDIn struct {
	ID string `json:"id" jsonschema:"the team's id, team_…"`
}

// ResumeIn lets a team go on.
type ResumeIn struct {
	ID    string    `json:"id"`
	Until time.Time `json:"until,omitzero" jsonschema:"then it is paused again; one whose time is over needs another one"`
}

// WaitIn waits for a team.
type WaitIn struct {
	ID      string `json:"id"`
	Seconds int64  `json:"seconds,omitempty" jsonschema:"at most 600 (60)"`
}

// EditIn gives a team another plan.
type EditIn struct {
	ID      string `json:"id"`
	Plan    Plan   `json:"plan"`
	Version int64  `json:"version,omitempty" jsonschema:"the plan that it was made from: refused when there is another one by now"`
}

// Plan is a team's plan as it is now.
func (t *Team) Plan() Plan {
	out := Plan{Criteria: t.Criteria}
	for _, k := range t.Tasks {
		out.Tasks = append(out.Tasks, k.Item)
	}
	return out
}

// ApproveIn approves a plan.
type ApproveIn struct {
	ID      string `json:"id"`
	Version int64  `json:"version" jsonschema:"the plan that was looked at; another one needs another look"`
}

// ListIn asks for teams.
type ListIn struct{}

// ListOut lists teams, newest first.
type ListOut struct {
	Teams []*Team `json:"teams"`
}

// NeedsPerson says that a person has to do something before more happens.
func (t *Team) NeedsPerson() bool {
	if t.Waits || t.State != Planning && t.State != Working {
		return true
	}
	waits, goesOn := false, t.State == Planning
	for _, k := range t.Tasks {
		if len(k.Needs) > 0 {
			return true
		}
		goesOn = goesOn || k.Stage == AtWork || k.Stage == Queued || k.Stage == Failed
		waits = waits || k.Stage == Review || k.Stage == Halted
	}
	return waits && !goesOn
}
