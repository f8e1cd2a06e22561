package spec

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"tandem/internal/automation/clock"
)

// Trigger begins runs. Exactly one of its causes is written.
type Trigger struct {
	ID       string `toml:"id" json:"id"`
	Schedule string `toml:"schedule" json:"schedule,omitempty"` // cron, an interval or calendar words
	Zone     string `toml:"zone" json:"zone,omitempty"`
	Misfire  string `toml:"misfire" json:"misfire,omitempty"` // skip, once or catch-up
	CatchUp  int    `toml:"catch_up" json:"catch_up,omitempty"`

	Webhook  string `toml:"webhook" json:"webhook,omitempty"`   // the scheme of its signature
	Event    string `toml:"event" json:"event,omitempty"`       // of the journal; * at its end matches the rest
	Files    string `toml:"files" json:"files,omitempty"`       // a pattern of paths below Folder
	Folder   string `toml:"folder" json:"folder,omitempty"`     //
	Bookmark string `toml:"bookmark" json:"bookmark,omitempty"` // of Repository
	Repo     string `toml:"repo" json:"repo,omitempty"`         //
	Ended    string `toml:"ended" json:"ended,omitempty"`       // another automation's run
}

// Schemes are the ways in which senders of webhooks sign.
var Schemes = []string{"generic", "github", "gitlab", "linear", "notion", "stripe"}

func (t *Trigger) causes() (n int) {
	for _, s := range []string{t.Schedule, t.Webhook, t.Event, t.Files, t.Bookmark, t.Ended} {
		if s != "" {
			n++
		}
	}
	return n
}

func (t *Trigger) check(say func(format string, args ...any)) {
	if n := t.causes(); n != 1 {
		say("it has %d causes; write one of schedule, webhook, event, files, bookmark, ended", n)
		return
	}
	if t.Schedule == "" && (t.Zone != "" || t.Misfire != "" || t.CatchUp != 0) {
		say("zone, misfire and catch_up belong to a schedule")
	}
	if (t.Files != "") != (t.Folder != "") {
		say("files and folder are written together")
	}
	if (t.Bookmark != "") != (t.Repo != "") {
		say("bookmark and repo are written together")
	}
	switch {
	case t.Schedule != "":
		t.checkSchedule(say)
	case t.Webhook != "" && !slices.Contains(Schemes, t.Webhook):
		say("%q is no scheme of a webhook: %s", clip(t.Webhook), strings.Join(Schemes, ", "))
	case t.Event != "" && !eventForm.MatchString(t.Event):
		say("%q is no name of an event, such as board.claim or check.*", clip(t.Event))
	case t.Files != "":
		if _, err := path.Match(t.Files, "x"); err != nil {
			say("%q is no pattern of paths", clip(t.Files))
		}
	case t.Ended != "" && !nameForm.MatchString(t.Ended):
		say("%q is no name of an automation", clip(t.Ended))
	}
}

func (t *Trigger) checkSchedule(say func(format string, args ...any)) {
	zone, err := time.LoadLocation(t.Zone)
	if err != nil {
		say("there is no time zone %q; names are such as Europe/Berlin", clip(t.Zone))
		return
	}
	if _, err := clock.Parse(t.Schedule, zone, time.Unix(0, 0)); err != nil {
		say("%v", err)
	}
	if err := t.Policy().Check(); err != nil {
		say("%v", err)
	}
}

// Policy is what becomes of moments that passed while nobody looked.
func (t *Trigger) Policy() clock.Misfire {
	return clock.Misfire{Policy: clock.Policy(t.Misfire), Most: t.CatchUp, Grace: time.Minute}
}

func (t *Trigger) fill(at int) {
	if t.ID == "" {
		t.ID = fmt.Sprintf("trigger-%d", at+1)
	}
	if t.Schedule == "" {
		return
	}
	if t.Zone == "" {
		t.Zone = "UTC"
	}
	if t.Misfire == "" {
		t.Misfire = string(clock.Once)
	}
}
