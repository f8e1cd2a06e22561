package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"tandem/internal/server/wire"
	"tandem/internal/settings"
)

// listenForNotices is the one place that says who hears what people are told of. Each of these runs in the transaction of what it tells of,
// so that after a crash both are there or neither is.
func (d *Daemon) listenForNotices() {
	tell := d.rooms.tell
	d.rooms.approval.Filed = tell.Asked
	d.rooms.session.Questioned = tell.Questioned
	d.rooms.session.Retried = tell.Retried
	d.rooms.session.Failed = tell.TurnFailed
	d.rooms.terminal.Became = tell.Became
	d.rooms.terminal.Ended = tell.TurnEnded
	d.rooms.relay.Told = tell.Relay
	d.identity.CameBy, d.identity.Recovered = tell.CameBy, tell.Recovered
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
