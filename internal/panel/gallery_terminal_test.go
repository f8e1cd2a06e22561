package panel

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"time"

	"tandem/internal/panel/ui"
)

// Sample data for terminals and relays.

var sampleScreen = "\x1b[1;38;5;209m ▐▛███▜▌\x1b[0m   \x1b[1mClaude Code\x1b[0m " +
	"v2.1.197\r\n\x1b[38;5;209m▝▜█████▛▘\x1b[0m  ~/src/atlas\r\n\r\n" +
	"\x1b[48;5;237m❯ mend the total of invoices with a credit                                                               " +
	"         \x1b[0m\r\n\r\n" +
	"● \x1b[1mRead\x1b[0m(internal/billing/invoice.go)\r\n  ⎿  Read \x1b[1m42\x1b[0m lines\r\n\r\n● " +
	"\x1b[1mUpdate\x1b[0m(internal/billing/invoice.go)\r\n" +
	"      \x1b[41m - return sum\x1b[0m\r\n      \x1b[42m + return sum - i.Credited\x1b[0m\r\n\r\n\x1b[38;5;216m✽ Herding…\x1b[0m " +
	"(12s · esc to interrupt)\r\n" +
	"\x1b]8;;https://evil.example/\x07a link that is none\x1b]8;;\x07\x1b]0;a title\x07\x1b]52;c;ZXZpbA==\x07"

// sampleStream is a terminal that shows one screen.
func sampleStream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "event: screen\ndata: {\"cols\":120,\"rows\":24,\"data\":%q}\n\n", base64.StdEncoding.EncodeToString([]byte(sampleScreen)))
	http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

func sampleTerminal() TerminalView {
	row := SessionRow{ID: "ses_01jcq2w1n8b5v6c7x9z0a2s3df", Title: "builder", State: "working", Driver: "claude in a terminal",
		Model: "claude/opus", Folder: "/home/me/src/atlas", Owner: "owner", Changed: before(3 * time.Second)}
	return TerminalView{SessionRow: row, Now: galleryNow, Follow: "/sessions/ses_1/terminal",
		Text: "Claude Code v2.1.197\n\n❯ mend the total of invoices with a credit\n\n● Read(internal/billing/invoice.go)", May: true, Open: 1,
		PIN: true, Passkeys: 1,
		Program: ProgramView{Name: "builder", Agent: "claude", State: "needs permission", Signal: "hook PermissionRequest",
			Detail: "Bash: make test", Since: before(12 * time.Second), Attach: "tmux attach -t ccm-builder"},
		Asks: []AskRow{sampleAsks[2]},
		Facts: []ui.Pair{{Key: "Program", Value: "claude 2.1.197"}, {Key: "State", Value: "needs permission, by hook PermissionRequest"},
			{Key: "Confined", Value: "bwrap: it sees its folder, its own state and its session's socket"},
			{Key: "Signals", Value: "all signals of claude 2.1.197 work"},
			{Key: "Attach", Value: "tmux attach -t ccm-builder", Mono: true, Copy: true},
			{Key: "Model", Value: row.Model, Mono: true}, {Key: "Folder", Value: row.Folder, Mono: true},
			{Key: "Session", Value: row.ID, Mono: true, Copy: true}}}
}

func heldTerminal() TerminalView {
	v := sampleTerminal()
	v.Mine, v.Asks, v.Open, v.Program.State, v.Program.Signal, v.Program.Detail, v.Program.Held = true, nil, 0, "ready", "registry", "",
		"owner"
	return v
}

func closedTerminal() TerminalView {
	v := sampleTerminal()
	v.Follow, v.Text, v.Asks, v.Open, v.Program.State, v.Program.Closed, v.Program.Relay = "", "", nil, 0, "closed", true,
		"loop_01jcq2v7m3k9t4x8w5z6y7r2pd"
	return v
}

func sampleRelays() RelaysView {
	return RelaysView{Now: galleryNow, May: true, Rows: []RelayRow{
		{ID: "loop_01jcq2v7m3k9t4x8w5z6y7r2pd", Status: "needs input", Task: "Credits on invoices", Folder: "/home/me/src/atlas",
			Progress: "task 2, turn 4 of 24", Question: "Before or after rounding?", Waiting: 2, Changed: before(40 * time.Second)},
		{ID: "loop_01jcq2w1n8b5v6c7x9z0a2s3df", Status: "running", Task: "Make the report \u202efast", Folder: "/home/me/src/atlas",
			Progress: "task 1, turn 11 of 50", Changed: before(2 * time.Second)},
		{ID: "loop_01jcq2x9p4r7t6y8u1i2o3a5sg", Status: "parked", Task: "Release notes", Folder: "/home/me/src/site",
			Progress: "task 3, turn 6 of 24", Changed: before(9 * time.Minute)},
		{ID: "loop_01jcq2x9p4r7t6y8u1i2o3a5sh", Status: "blocked", Task: "Move the tables", Folder: "/srv/atlas",
			Progress: "task 1, turn 2 of 24", Changed: before(5 * time.Hour)},
	}}
}

func sampleRelay() RelayView {
	return RelayView{RelayRow: sampleRelays().Rows[0], Now: galleryNow, May: true,
		Mission:  "Totals are right to the cent, the tests say so, and nobody has to explain it twice.",
		LeadHref: "/panel/sessions/ses_1", WorkerHref: "/panel/sessions/ses_2",
		Queue: []string{"Write it into the changelog", "Look for other places that add up lines <i>by hand</i>"},
		Log: []RelayStep{
			{9, 2, "lead", "Good. NEEDS_INPUT: Before or after rounding?", before(40 * time.Second)},
			{8, 2, "worker", "The credit is taken off once, in Total. Two tests fail: they round first.\u200b", before(2 * time.Minute)},
			{7, 2, "lead", "Take the credit off in Total() and run the tests of the package.", before(4 * time.Minute)},
		},
		Facts: []ui.Pair{{Key: "Folder", Value: "/home/me/src/atlas", Mono: true}, {Key: "Progress", Value: "task 2, turn 4 of 24"},
			{Key: "Turns in all", Value: "9"}, {Key: "Time for a task", Value: "30m0s"},
			{Key: "Relay", Value: "loop_01jcq2v7m3k9t4x8w5z6y7r2pd", Mono: true, Copy: true}}}
}
