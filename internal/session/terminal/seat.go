package terminal

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"tandem/internal/fault"
	"tandem/internal/session"
)

// State is what the program does, or whom it waits for.
type State string

// The states; see the package comment.
const (
	Starting   State = "starting"
	Ready      State = "ready"
	Working    State = "working"
	Permission State = "needs permission"
	Asking     State = "asking"
	Dialog     State = "dialog open"
	Retrying   State = "retrying"
	// RateLimited is the provider's refusal: the program waits for a prompt, or tries again by itself.
	RateLimited State = "rate-limited"
	Exited      State = "exited"
	Crashed     State = "crashed"
	Hung        State = "hung"
	Closed      State = "closed"
)

// Rests says that the program waits for a prompt.
func (s State) Rests() bool { return s == Ready || s == RateLimited }

// Rank is where a person looks first: 0 what needs them, 1 what works, 2 what rests, 3 what is closed. States of turns have theirs, too.
func (s State) Rank() int {
	switch s {
	case State(session.Waiting), Permission, Asking, Dialog, Crashed, Hung, RateLimited:
		return 0
	case State(session.Queued), State(session.Running), Starting, Working, Retrying:
		return 1
	case Closed:
		return 3
	}
	return 2
}

// Gone says that there is no program any more.
func (s State) Gone() bool { return s == Exited || s == Crashed || s == Closed }

// Seat is a session's program in its terminal, as people see it.
type Seat struct {
	Name      string    `json:"name" jsonschema:"attach with: tmux attach -t ccm-NAME"`
	Session   string    `json:"session" jsonschema:"the session's id"`
	Agent     string    `json:"agent" jsonschema:"the program: claude, codex or opencode"`
	Folder    string    `json:"cwd"`
	Checkout  string    `json:"checkout,omitempty" jsonschema:"the checkout that was made for it alone; kept or discarded once it is closed"`
	Model     string    `json:"model,omitempty"`
	Effort    string    `json:"effort,omitempty"`
	State     State     `json:"state"`
	Signal    string    `json:"signal" jsonschema:"what the state was read from"`
	Detail    string    `json:"detail,omitempty"`
	Outcome   string    `json:"outcome,omitempty" jsonschema:"how the last turn ended: ok, interrupted, or error and its kind"`
	EndedBy   string    `json:"ended_by,omitempty" jsonschema:"the signal that told the end of the last turn"`
	Since     time.Time `json:"since"`
	Confined  string    `json:"confined" jsonschema:"bwrap, or none: then the sandbox does not keep it from anything this user may do"`
	Boundary  string    `json:"boundary" jsonschema:"what that means for this program"`
	Skip      bool      `json:"skip_permissions,omitempty"`
	Version   string    `json:"version,omitempty" jsonschema:"of the program, once it said so"`
	Check     string    `json:"check,omitempty" jsonschema:"which signals of this version of the program work, once a turn showed them"`
	Relay     string    `json:"relay,omitempty" jsonschema:"the relay that owns it"`
	Held      string    `json:"held_by,omitempty" jsonschema:"the person who took the terminal over; prompts wait meanwhile"`
	Looking   bool      `json:"looking,omitempty" jsonschema:"the server started a moment ago and has not looked at it yet: something may wait in it"`
	Attach    string    `json:"attach"`
	CreatedAt time.Time `json:"created_at"`
	ClosedAt  time.Time `json:"closed_at,omitzero"`
}

// row is a seat with what only the driver needs.
type row struct {
	Seat
	Tenant       string `json:"-"`
	displaced    bool   // it was written into the place of another row, past tandem
	Lives        string `json:"lives,omitempty"`  // which of a cluster's servers has it, by its home; "" for the first
	Repo         string `json:"repo,omitempty"`   // whose checkout it works in, when it has one of its own
	Reads        bool   `json:"reads,omitempty"`  // it reads knowledge spaces, though it is narrow
	Skips        bool   `json:"skips,omitempty"`  // it was opened to skip permissions; Skip ends with the grant
	Narrow       bool   `json:"narrow,omitempty"` // it has its folder and its own tools, and none of tandem's
	Program      string `json:"program"`
	Config       string `json:"config"`
	Conversation string `json:"conversation"`
	Begun        bool   `json:"begun,omitempty"` // the conversation has a transcript: it can be resumed
	RunModel     string `json:"run_model,omitempty"`
	RunEffort    string `json:"run_effort,omitempty"`
	Once         bool   `json:"once,omitempty"`   // the program that runs can do one prompt with another model
	Typing       string `json:"typing,omitempty"` // the turn whose prompt may have been typed
	Typed        string `json:"typed,omitempty"`  // the turn whose prompt was taken
	Socket       string `json:"socket,omitempty"` // of a program that listens on one
	Port         int    `json:"port,omitempty"`   // where a program that listens on loopback does so, and what it wants to be told
	Password     string `json:"password,omitempty"`
	Probe        bool   `json:"probe,omitempty"`   // it only checks the program, and goes when that is done
	Own          bool   `json:"own,omitempty"`     // the program that runs has a home of the session's own
	Limit        string `json:"limit,omitempty"`   // what the provider said when it refused the last turn for its rate
	Limited      string `json:"limited,omitempty"` // the turn whose rate limit was told
	Known        string `json:"known,omitempty"`   // the program's own name for it, where it has one
	// Hides is what people's denials took out of the box that the program runs in; nil where nobody noted it.
	Hides *[]string `json:"hides,omitempty"`
}

// Prefix is how tmux knows these sessions; others are not drivable.
const Prefix = "ccm-"

// MaxText bounds one prompt.
const MaxText = 1 << 20

var goodName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// CheckName refuses names that tmux would change or that belong to relays.
func CheckName(name string, relay bool) error {
	if len(name) > 64 || !goodName.MatchString(name) {
		return fault.New(fault.Invalid, "session.open", "%.60q cannot name a session", name).WithNext("use letters, digits, - and _, at most 64")
	}
	if strings.HasPrefix(name, "ses_") {
		return fault.New(fault.Invalid, "session.open", "names that begin with ses_ are ids of sessions").WithNext("take another name")
	}
	if strings.HasPrefix(name, "relay-") && !relay {
		return fault.New(fault.Conflict, "session.open", "names that begin with relay- belong to relays").WithNext("use the relay tool for those")
	}
	return nil
}

// CheckText refuses what cannot be typed faithfully, or would be taken for something else than a prompt.
func CheckText(text string) error {
	bad := func(format string, args ...any) error {
		return fault.New(fault.Invalid, "session.send", format, args...)
	}
	switch {
	case len(text) > MaxText:
		return bad("the text has %d bytes; %d are allowed", len(text), MaxText)
	case !utf8.ValidString(text):
		return bad("the text is not UTF-8")
	case strings.TrimSpace(text) == "":
		return bad("the text is empty")
	case strings.HasPrefix(strings.TrimSpace(text), "!"):
		return fault.New(fault.Denied, "session.send", "a text that begins with ! would run as a shell command without asking anybody").
			WithNext("ask the agent to run it")
	}
	for _, r := range text {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return bad("the text holds the control character %U, which a terminal would act on", r)
		}
	}
	return nil
}

// Allowlist is the folders in which sessions may be opened.
type Allowlist []string

// ParseAllowlist reads a colon-separated list. An empty one is the home folder: it and whatever lies below.
func ParseAllowlist(list, home string) Allowlist {
	var out Allowlist
	for _, p := range filepath.SplitList(list) {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	if len(out) == 0 && home != "" {
		out = Allowlist{home}
	}
	return out
}

// Real is the folder's real path when it lies in the list. Both sides are resolved, and whole components compared, so neither
// .. nor a link nor a name that only begins alike gets through.
func (a Allowlist) Real(folder string) (string, error) {
	refused := fault.New(fault.Denied, "session.open", "%.200s lies outside the folders that sessions may be opened in", folder).
		WithNext("open it in one of them: %s; the setting is TANDEM_CWD_ALLOWLIST", strings.Join(a, ", "))
	if !filepath.IsAbs(folder) {
		return "", fault.New(fault.Invalid, "session.open", "cwd should be an absolute path, not %.200q", folder)
	}
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return "", refused // whether it exists is nobody's business who may not use it
	}
	for _, root := range a {
		root, err := filepath.EvalSymlinks(root)
		if err != nil {
			continue
		}
		rel, err := filepath.Rel(root, real)
		if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			if st, err := os.Stat(real); err != nil || !st.IsDir() {
				return "", fault.New(fault.Invalid, "session.open", "%s is not a folder", real)
			}
			return real, nil
		}
	}
	return "", refused
}
