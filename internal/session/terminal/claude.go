package terminal

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/internal/session/agents"
	"tandem/internal/session/screen"
	"tandem/internal/tool/box"
	"tandem/internal/wholefile"
)

// claude is a seat with Claude Code in it. It is typed to, and watched through its hooks, its registry and its transcript.
type claude struct {
	*seat
	worked     bool    // it was seen at work since the prompt was taken
	stopped    *hooked // Stop or StopFailure of this turn
	cut, over  bool    // the transcript told of an interrupt, of an end
	failure    string
	idleSince  time.Time
	transcript agents.Transcript
	reg        agents.Registered
	hasReg     bool
	started    bool
	told       bool   // it said that it ends
	expect     string // the prompt that was typed and not yet taken
	taken      bool
	title      string
	typed      time.Time // when a command was typed last
	hush       bool      // what is printed is about a dialog that was closed,
	hushed     bool      // and it was
	prompt     string    // the program's name for the prompt of this turn: its end carries it
}

// grace is how long a program's hooks and registry are waited for before it is judged without them.
const grace = 20 * time.Second

func (s *claude) finished() bool { return s.stopped != nil }
func (s *claude) orderly() bool  { return s.told }
func (s *claude) close()         {}

// prepare writes the session's settings, and settles the question whether the folder is trusted.
func (s *claude) prepare(ctx context.Context) (Launch, error) {
	d := s.d
	if s.row.Begun = s.row.Begun && s.recorded(); !s.row.Begun {
		s.row.Conversation = newConversation()
	}
	c := agents.Claude{Narrow: s.row.Narrow, Reads: s.row.Reads,
		Program: s.row.Program, Self: d.Self, Folder: s.folder(), Project: s.row.Folder,
		Config: s.configAt(), Name: s.row.Name, Conversation: s.row.Conversation, Resume: s.row.Begun, Model: s.row.RunModel,
		Effort: s.row.RunEffort, Skip: s.row.Skip}
	if err := c.Write(); err != nil {
		return Launch{}, err
	}
	plugin, err := s.project(ctx)
	if err != nil {
		return Launch{}, err
	}
	c.Plugin, s.row.Once = plugin, true
	if err := s.trust(ctx, c); err != nil {
		return Launch{}, err
	}
	// Its settings give PreToolUse the time for people's answers.
	l := Launch{Argv: c.Argv(), Env: append(s.environment(), "TANDEM_HOLD_TOOLS=1")}
	if s.row.Confined == "bwrap" { // what was there is of a program that is gone
		if err := os.RemoveAll(s.registry()); err != nil {
			return Launch{}, err
		}
		// Its own box is the sandbox that it wants to know of where it is root and skips permissions.
		l.Env = append(slices.DeleteFunc(l.Env, func(kv string) bool { return strings.HasPrefix(kv, "IS_SANDBOX=") }), "IS_SANDBOX=1")
	}
	return l, nil
}

// copied is where the copy of the project's commands lies.
func (s *claude) copied() string { return filepath.Join(s.folder(), agents.ProjectPlugin) }

// project copies the project's commands and skills for the program, without those that policy keeps from the session.
func (s *claude) project(ctx context.Context) (plugin string, err error) {
	if s.stage != nil {
		return "", nil
	}
	now, err := s.scope(ctx, false)
	if err != nil {
		return "", err
	}
	plugin = s.copied()
	names, err := agents.CopyProject(s.row.Folder, plugin, func(path string) bool {
		real, err := filepath.EvalSymlinks(path) // a folder above it may be a link
		for _, p := range []string{path, real} {
			seen := now.sight.Of(filepath.ToSlash(p))
			if err != nil || seen.Hidden || seen.Asks != "" {
				return false
			}
		}
		return true
	})
	if err != nil || len(names) == 0 {
		return "", err
	}
	return plugin, nil
}

// trust settles the program's question whether the folder is trusted: in the session's own file of state, or else in the person's.
func (s *claude) trust(ctx context.Context, c agents.Claude) error {
	if s.row.Own {
		account, err := c.OwnAccount(agents.AccountFile(s.row.Config, s.d.Home))
		if err != nil {
			return err
		}
		return wholefile.Write(s.host(agents.AccountFile(s.configAt(), s.homeAt())), account)
	}
	changed, err := c.Trust(ctx, s.homeAt())
	if changed {
		s.d.log.Info("folder trusted by configuration", "session", s.row.Session, "folder", s.row.Folder)
	}
	return err
}

// registry is where the program says what it does. A confined one has a folder for that alone: its process has a number that
// only it knows, and others would write to the same file.
func (s *claude) registry() string {
	if s.row.Confined == "bwrap" && !s.row.Own && s.stage == nil { // a program that was started before sessions had a home
		return filepath.Join(s.folder(), "registry")
	}
	return s.host(agents.RegistryFolder(s.configAt()))
}

func (s *claude) lookUp() {
	pid := s.pane.PID
	if s.row.Confined == "bwrap" {
		pid = 0
	}
	s.reg, s.hasReg = agents.Lookup(s.registry(), pid)
}

func (s *claude) launched() {
	s.started, s.told, s.born, s.transcript = false, false, time.Now(), s.talk("")
	if st, err := os.Stat(s.transcript.Path); err == nil {
		s.transcript.Offset = st.Size() // what was said before is stored already
	}
}

func (s *claude) transcriptPath() string {
	return agents.TranscriptPath(s.host(s.configAt()), s.row.Folder, s.row.Conversation)
}

// talk is the conversation's file, by the path that the program named for it or the usual one.
func (s *claude) talk(path string) agents.Transcript {
	t := agents.Transcript{Path: path}
	if s.row.Own {
		t = agents.Transcript{Path: s.host(path), Root: s.host(s.configAt())}
	}
	if path == "" || s.row.Own && !box.Below(t.Root, t.Path) {
		t.Path = s.transcriptPath()
	}
	return t
}

func (s *claude) look(ctx context.Context) {
	if s.pane.Title != s.title { // it ticks while the program lives
		s.title, s.moved = s.pane.Title, time.Now()
	}
	s.lookUp()
	if s.hasReg && s.reg.Status != "" {
		s.mark("registry")
	}
	if s.hasReg && s.reg.Conversation != "" && s.reg.Conversation != s.row.Conversation {
		s.moveTo(s.reg.Conversation, "")
	}
	if s.hasReg && s.reg.Version != "" && s.reg.Version != s.row.Version {
		s.recall(ctx, s.reg.Version)
	}
	s.read(ctx)
	s.judge(ctx)
}

// judge says what the signals mean together.
func (s *claude) judge(ctx context.Context) {
	busy := s.hasReg && s.reg.Status == "busy" || s.hasReg && s.reg.Status == "waiting"
	if busy || s.hasReg && s.turn != nil && s.reg.At().After(s.since.Add(50*time.Millisecond)) {
		s.worked = true
	}
	if s.hasReg && s.reg.Status == "waiting" { // for a person: nothing has to move meanwhile
		s.moved = time.Now()
	}
	if !s.hasReg || !s.reg.Idle() {
		s.idleSince = time.Time{}
	} else if s.idleSince.IsZero() {
		s.idleSince = time.Now()
	}
	signs := s.signs()
	switch v := signs.meaning(); v.ask {
	case working:
		s.busyScreen(ctx)
	case byEye:
		s.byScreen(ctx, signs)
	case resting:
		s.rest(v.signal)
	default:
		s.finds(v)
	}
}

// signs are what the program shows now.
func (s *claude) signs() claudeSigns {
	c := claudeSigns{turn: s.turn != nil, ended: s.stopped != nil, worked: s.worked, started: s.started, age: time.Since(s.born)}
	if waits := s.openWaits(); len(waits) > 0 {
		c.dialog = waits[0]
	}
	if s.hasReg {
		c.entry = &s.reg
	}
	return c
}

// busyScreen looks for what only the screen tells: that the model's provider fails and is tried again. A title that stands
// still for long means that nothing moves at all: it ticks while the program lives.
func (s *claude) busyScreen(ctx context.Context) {
	if time.Since(s.lookedAt) > time.Second {
		s.lookedAt = time.Now()
		if r, err := s.screen(ctx); err == nil && r.State == screen.Retrying {
			s.set(Retrying, "screen "+r.Signal, r.Detail)
			return
		}
	} else if s.view().State == Retrying {
		return
	}
	if s.hangs(s.d.hangAfter()) {
		s.set(Hung, "title", "nothing moved for "+s.d.hangAfter().String())
		return
	}
	s.set(Working, "registry", "")
}

// byScreen is the last witness, for a program that tells nothing yet or in a version that tells nothing any more.
func (s *claude) byScreen(ctx context.Context, signs claudeSigns) {
	if time.Since(s.lookedAt) < time.Second {
		return
	}
	s.lookedAt = time.Now()
	if r, err := s.screen(ctx); err == nil {
		s.finds(signs.seen(r, s.row.Attach))
	}
}

// moveTo follows the program to another conversation (/clear makes one).
func (s *claude) moveTo(conversation, path string) {
	s.update(func(r *row) bool { r.Conversation, r.Begun = conversation, false; return true })
	s.transcript = s.talk(path)
}

// read takes in what was added to the transcript.
func (s *claude) read(ctx context.Context) {
	entries, err := s.transcript.Next()
	if err != nil {
		s.d.log.Debug("read a transcript", "session", s.row.Session, "err", err)
	}
	for _, e := range entries {
		s.moved = time.Now()
		s.mark("transcript")
		if s.turn == nil && e.Kind == agents.Prompted && e.Waited && e.At.After(s.born) && s.expect == "" {
			if t := s.typedByHand(ctx, e.Text); t != nil { // its hook came when it was queued, in the turn before
				s.begin(t)
				s.since, s.prompt = e.At, e.PromptID
			}
			continue
		}
		if e.Kind == agents.Shown {
			s.print(ctx, e)
			continue
		}
		if s.turn == nil || e.At.Before(s.since.Add(-2*time.Second)) || e.ID != "" && s.heard[e.ID] {
			if s.expect == "" || e.Kind != agents.Prompted {
				continue
			}
		}
		switch e.Kind {
		case agents.Prompted, agents.Queued:
			if s.expect != "" && same(e.Text, s.expect) {
				s.taken = true
			}
		case agents.Said:
			s.say(ctx, e)
		case agents.Acted:
			s.act(ctx, e)
		case agents.Failed:
			s.failure = e.Failure
			s.say(ctx, e)
		case agents.Interrupted:
			s.cut = true
		case agents.Ended:
			s.over = true
		}
	}
}

// print takes what a command printed; what was printed before the last one was typed is about another.
func (s *claude) print(ctx context.Context, e agents.Entry) {
	text := agents.Local(e.Text)
	if text == "" || e.At.Before(s.typed) || s.heard[e.ID] {
		return
	}
	switch {
	case s.hush:
		s.heard[e.ID], s.hushed = true, true
	case s.turn != nil:
		e.Text = text
		s.say(ctx, e)
	}
}
