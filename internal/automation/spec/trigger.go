package spec

import (
	"fmt"
	"path"
	"path/filepath"
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
	Folder   string `toml:"folder" json:"folder,omitempty"`     // that is granted
	Bookmark string `toml:"bookmark" json:"bookmark,omitempty"` // of Repository
	Repo     string `toml:"repo" json:"repo,omitempty"`         //
	Ended    string `toml:"ended" json:"ended,omitempty"`       // another automation's run

	Quiet Duration `toml:"quiet" json:"quiet,omitzero"` // how long files stay as they are before a run begins
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
	if t.Files == "" && t.Quiet != 0 {
		say("quiet belongs to files")
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
		t.checkFiles(say)
	case t.Bookmark != "" && (len(t.Bookmark) > 200 || len(t.Repo) > 200):
		say("a bookmark and a repository have names of at most 200 bytes")
	case t.Ended != "" && !nameForm.MatchString(t.Ended):
		say("%q is no name of an automation", clip(t.Ended))
	}
}

func (t *Trigger) checkFiles(say func(format string, args ...any)) {
	for part := range strings.SplitSeq(t.Files, "/") {
		if _, err := path.Match(part, "x"); err != nil || part == "" || part == "." || part == ".." {
			say("%q is no pattern of paths below its folder, such as *.csv or src/**/*.go", clip(t.Files))
			break
		}
	}
	if !filepath.IsAbs(t.Folder) {
		say("the folder %q is no absolute path", clip(t.Folder))
	}
	if q := t.Still(); q < 100*time.Millisecond || q > time.Hour {
		say("quiet is %s; it lies between 100ms and 1h", q)
	}
}

// Still is how long files have to stay as they are before a run begins.
func (t *Trigger) Still() time.Duration {
	if t.Quiet == 0 {
		return 2 * time.Second
	}
	return time.Duration(t.Quiet)
}

// Fits reports whether a file is meant, by its path below the folder: * is any part of a name, ** any folders.
func (t *Trigger) Fits(rel string) bool {
	return fits(strings.Split(t.Files, "/"), strings.Split(rel, "/"))
}

func fits(pattern, name []string) bool {
	p, i, star, mark := 0, 0, -1, 0
	for i < len(name) {
		some := p < len(pattern) && pattern[p] == "**"
		one := !some && p < len(pattern)
		if one {
			one, _ = path.Match(pattern[p], name[i]) // it was checked
		}
		switch {
		case some:
			star, mark = p, i
			p++
		case one:
			p, i = p+1, i+1
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == "**" {
		p++
	}
	return p == len(pattern)
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
