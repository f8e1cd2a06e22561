package daemon

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"tandem/internal/server/wire"

	"tandem/internal/approval"
	artifacts "tandem/internal/artifact/wire"
	"tandem/internal/automation"
	automations "tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/inbox"
	"tandem/internal/notify"
	"tandem/internal/provider"
	"tandem/internal/session"
	relays "tandem/internal/session/relay"
	"tandem/internal/session/terminal"
	"tandem/internal/settings"
)

// listenForNotices is the one place that hears what people are told of. Each of these runs in the transaction of what it tells of,
// so that after a crash both are there or neither is.
func (d *Daemon) listenForNotices() {
	d.rooms.approval.Filed = d.askFiled
	d.rooms.session.Questioned = d.questioned
	d.rooms.session.Retried = d.retried
	d.rooms.session.Failed = d.turnFailed
	d.rooms.terminal.Became = d.programBecame
	d.rooms.terminal.Ended = d.turnEnded
	d.rooms.relay.Told = d.relayTold
}

// askFiled tells people that a call waits for them, with the name by which they know who asks.
func (d *Daemon) askFiled(tx *db.Tx, a *approval.Ask) error {
	name, public := a.Asker, ""
	if called := d.rooms.session.CalledIn(tx, a.Tenant, a.Session); called != "" {
		name, public = called, d.rooms.session.NamedIn(tx, a.Tenant, a.Session)
	}
	return d.rooms.notify.Put(tx, a.Tenant, notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "ask", Status: "waits", ID: name,
		Summary: summary(a.Title), Reason: a.Reason}, Name: public,
		Says: "needs an approval", Push: notify.Answer, Next: "tandem approvals approve " + a.ID, Page: "/panel/approvals/" + a.ID})
}

// questioned tells people that an agent asks them something.
func (d *Daemon) questioned(tx *db.Tx, s *session.Session, q *session.Question) error {
	var texts []string
	for _, one := range q.Questions {
		texts = append(texts, one.Question)
	}
	tx.AfterCommit(d.moves.add) // no event of the journal tells pages of it
	return d.rooms.notify.Put(tx, s.Tenant, notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "question", Status: "waits", ID: s.Title,
		Cursor: s.Events, Summary: summary(strings.Join(texts, " / "))}, Name: d.rooms.session.NamedIn(tx, s.Tenant, s.ID),
		Says: "asks a question", Push: notify.Answer, Next: inbox.AnswerWith(q), Page: "/panel/sessions/" + s.ID})
}

// retried tells people at the first refusal for the rate that a turn waits for its provider, and not only when it gave up.
func (d *Daemon) retried(tx *db.Tx, s *session.Session, t *session.Turn, r session.Retry) error {
	if r.Attempt != 1 || r.Failure != string(provider.RateLimited) {
		return nil
	}
	return d.rooms.notify.Put(tx, s.Tenant, notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "session", Status: "rate-limited",
		ID: s.Title, Cursor: s.Events, Summary: summary(r.Reason), Reason: fmt.Sprintf("it is tried again in %.0f s", r.Seconds)},
		Name: d.rooms.session.NamedIn(tx, s.Tenant, s.ID), Says: says[terminal.RateLimited], Push: notify.Normal,
		Next: fmt.Sprintf("tandem session follow %s", s.ID), Page: "/panel/sessions/" + s.ID})
}

// turnFailed tells people that a turn of our own loop failed. Those in terminals are told with what they left, and a child's failure is
// an answer to its parent.
func (d *Daemon) turnFailed(tx *db.Tx, s *session.Session, t *session.Turn) error {
	if s.Driver != session.DriverModel || s.Parent != "" {
		return nil
	}
	return d.rooms.notify.Put(tx, s.Tenant, notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "session", Status: "failed", ID: s.Title,
		Cursor: s.Events, Summary: summary(t.Reason), Reason: t.Reason}, Name: d.rooms.session.NamedIn(tx, s.Tenant, s.ID),
		Says: "failed", Push: notify.Normal, Next: fmt.Sprintf("tandem session show %s", s.ID), Page: "/panel/sessions/" + s.ID})
}

// says is what is told of a program that cannot go on by itself.
var says = map[terminal.State]string{terminal.Crashed: "crashed", terminal.Hung: "does not answer any more",
	terminal.RateLimited: "is rate-limited"}

// programBecame tells people of such a program. A relay's own are its business.
func (d *Daemon) programBecame(tx *db.Tx, tenant string, seat terminal.Seat) error {
	what, tell := says[seat.State]
	if !tell || seat.Relay != "" {
		return nil
	}
	return d.rooms.notify.Put(tx, tenant, notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "program", Status: string(seat.State),
		ID: seat.Name, Summary: summary(seat.Detail), Reason: seat.Signal},
		Says: what, Push: notify.Urgent, Next: inbox.GoOnWith(seat), Page: "/panel/sessions/" + seat.Session})
}

// turnEnded tells of a turn in a terminal. A relay's own turns are its business.
func (d *Daemon) turnEnded(tx *db.Tx, seat terminal.Seat, s *session.Session, t *session.Turn, left terminal.Left) error {
	if seat.Relay != "" {
		return nil
	}
	status := map[session.TurnState]string{session.Done: "done", session.Failed: "failed", session.Cancelled: "interrupted"}[t.State]
	e := notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "session", Status: status, ID: seat.Name, Cursor: s.Events,
		Summary: summary(left.Said), Reason: t.Reason},
		Left: &notify.Left{Commit: left.Commit, Files: left.Files}, Push: notify.Normal, Page: "/panel/sessions/" + seat.Session}
	switch {
	case seat.State == terminal.RateLimited:
		e.Push, e.Says, e.Next = notify.Urgent, says[terminal.RateLimited], inbox.GoOnWith(seat)
	case seat.Outcome == terminal.CrashOutcome: // that it crashed wakes the phone
		e.Push = notify.Quiet
	}
	return d.rooms.notify.Put(tx, t.Tenant, e)
}

// relayTold tells of a relay: routine ends are only written down, what a person should know wakes the phone.
func (d *Daemon) relayTold(tx *db.Tx, r relays.Relay, what string) error {
	e := notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "relay", Status: what, ID: r.ID, Cursor: r.Step, Summary: summary(r.Summary),
		Reason: r.Reason}, Folder: r.Folder, Page: "/panel/relays/" + r.ID}
	switch r.Status {
	case relays.NeedsInput:
		e.Push, e.Summary, e.Next = notify.Answer, summary(r.Question), "Answer it: relay enqueue with the answer as task."
	case relays.Blocked:
		e.Push, e.Summary = notify.Urgent, summary(r.Reason)
	case relays.Done, relays.Stopped:
		e.Push = notify.Normal
	}
	return d.rooms.notify.Put(tx, r.Tenant, e)
}

// runTold tells of a run of an automation that failed, or that does not go on until somebody looks at it.
func (d *Daemon) runTold(tx *db.Tx, tenant string, r *automations.Run) error {
	e := notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "automation", Status: r.Status, ID: r.Name,
		Summary: summary(r.Reason), Reason: r.Reason}, Says: "failed", Push: notify.Normal,
		Next: fmt.Sprintf("tandem automation runs show %s", r.ID), Page: "/panel"}
	if r.Needs != "" {
		e.Status, e.Summary, e.Reason, e.Says, e.Push = "waits", summary(r.Needs), r.Needs, "needs somebody to look", notify.Answer
	}
	return d.rooms.notify.Put(tx, tenant, e)
}

// offTold tells of an automation that somebody else switched off than had switched it on.
func (d *Daemon) offTold(tx *db.Tx, tenant, name, on, off string) error {
	reason := fmt.Sprintf("%s switched off what %s had switched on.", off, on)
	return d.rooms.notify.Put(tx, tenant, notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "automation", Status: "off", ID: name,
		Summary: reason, Reason: reason}, Says: "was switched off", Push: notify.Normal,
		Next: fmt.Sprintf("to switch it on again: tandem automation on %s", name), Page: "/panel"})
}

// removedTold tells of versions that somebody else removed than had switched the automation on that made them.
func (d *Daemon) removedTold(tx *db.Tx, tenant string, what artifacts.RemoveIn, n int, by string) error {
	name, _, _ := strings.Cut(what.Name, ".")
	on, err := automation.SwitchedBy(tx, tenant, name)
	if err != nil || on == "" || on == by {
		return err
	}
	reason := fmt.Sprintf("%s removed what the automation %s made, which %s had switched on: %d of its versions.", by, name, on, n)
	return d.rooms.notify.Put(tx, tenant, notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "artifact", Status: "removed", ID: what.Name,
		Summary: reason, Reason: reason}, Says: "was removed", Push: notify.Normal,
		Next: fmt.Sprintf("to see what is left: tandem artifact list %s", what.Name), Page: "/panel"})
}

// told are the ways that are set up.
func (d *Daemon) told() []wire.Told {
	ways := []wire.Told{{Way: "events.log"}}
	for _, w := range []struct{ way, key string }{{"webhook", "done_webhook"}, {"ntfy", "ntfy_topic"}} {
		if d.Settings.Get(w.key) != "" {
			ways = append(ways, wire.Told{Way: w.way, Env: settings.Known(w.key).Env[0], Ends: !d.inFolder(w.key)})
		}
	}
	if d.rooms.notify.Topic() != "" && !d.Settings.Given("ntfy_topic") {
		ways = append(ways, wire.Told{Way: "ntfy"}) // sealed: every start has it
	}
	if len(d.rooms.notify.Desktop) > 0 {
		ways = append(ways, wire.Told{Way: "desktop"})
	}
	return ways
}

// inFolder says whether a setting is written down in the data folder, where every start finds it.
func (d *Daemon) inFolder(key string) bool {
	return strings.HasPrefix(d.Settings.Source(key), filepath.Clean(d.data)+string(filepath.Separator))
}

// summary is the first line of what was said.
func summary(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if len(first) > 300 {
		first = strings.ToValidUTF8(first[:300], "") + "…"
	}
	return first
}

// answerURL is the panel's address for whoever is to answer something: the one that reaches furthest.
func (d *Daemon) answerURL() string {
	if far := d.phoneURL(); far != "" {
		return far
	}
	return d.panelURL()
}

// phoneURL is the panel's address as a phone reaches it: the one that a person named, or the one beyond this machine where the
// panel is served there. A name of this machine alone leads nowhere from a phone.
func (d *Daemon) phoneURL() string {
	if named := strings.TrimSuffix(d.live().Get("panel_address"), "/"); named != "" {
		return named
	}
	if at := d.address(); at != "" && d.Settings.Bool("panel_public") {
		return "https://" + at
	}
	return ""
}

// desktop is the command that shows a notice where somebody sits; nil where nobody does.
func (d *Daemon) desktop() []string {
	if !d.Settings.Bool("notify_desktop") {
		return nil
	}
	line := []string{"notify-send", "--app-name=tandem", "--"}
	switch {
	case runtime.GOOS == "darwin":
		line = []string{"osascript", "-e", "on run argv", "-e", "display notification (item 2 of argv) with title (item 1 of argv)", "-e",
			"end run"}
	case os.Getenv("DBUS_SESSION_BUS_ADDRESS") == "":
		return nil
	}
	program, err := exec.LookPath(line[0])
	if err != nil {
		return nil
	}
	return append([]string{program}, line[1:]...)
}
