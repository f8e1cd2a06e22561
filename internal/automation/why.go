package automation

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"tandem/internal/automation/run"
	"tandem/internal/automation/spec"
	"tandem/internal/automation/wire"
	"tandem/internal/db"
)

// why says what a step waits for and on whom, as far as its run knows, and when it goes on by itself.
func (h *held) why(s run.Step) (waits string, due time.Time) {
	at := func(t time.Time) string { return t.Format("2006-01-02 15:04:05 MST") }
	n := h.node(s.Node)
	switch {
	case s.Phase == run.Uncertain:
		return "a person says whether it was done: tandem automation runs accept or retry", due
	case s.Phase == run.Ready && !s.Due.IsZero() && s.Attempt > 0:
		return fmt.Sprintf("attempt %d, at %s", s.Attempt+1, at(s.Due)), s.Due
	case s.Phase != run.Held:
		return "", due
	case n.Asks() != nil && s.Reason == string(spec.Escalate):
		return n.Asks().Escalate + " answers the gate, which nobody answered in time", due
	case n.Asks() != nil:
		return asked(n.Asks().Approvers) + " answers the gate", due
	case n.Wait.Webhook != "":
		return "a message of the webhook " + n.Wait.Webhook + ", until " + at(s.Ends), due
	case n.Wait.Handoff != "" && s.Handover != nil:
		return "what " + s.Handover.By + " handed over is being kept", due
	case n.Wait.Handoff != "":
		return fmt.Sprintf("somebody hands over %s: tandem automation hand %s %s --run %s, until %s", n.Wait.Handoff, h.run.Spec.Name,
			n.Wait.Handoff, h.id, at(s.Ends)), due
	case n.Wait.Condition != "":
		return "the shared key " + n.Wait.Condition + ", until " + at(s.Ends), due
	case !s.Due.IsZero():
		return "until " + at(s.Due), s.Due
	}
	return "", due
}

// why says what the row of a step tells beside that: the ask, the session or the run that it waits for.
func (s *stepRow) why(known string) (ask, waits string) {
	ask, asks := strings.CutPrefix(s.waits, "ask:")
	switch {
	case asks && known != "":
		return ask, known + ": tandem approvals show " + ask
	case asks:
		return ask, "a person answers: tandem approvals show " + ask
	case known != "" && strings.HasPrefix(known, s.waits): // it says no more
		return "", known
	case known != "":
		return "", known + "; " + s.waits
	case s.waits == onTurn:
		return "", "its session is at work: tandem session show " + s.session
	case s.waits == onRun:
		return "", "its run: tandem automation runs show " + s.child
	}
	return "", s.waits
}

// mostWaits is how many of its nodes a run tells of in a list.
const mostWaits = 10

// waiting is why a run waits, for its row: its nodes, and what each says.
func (h *held) waiting() string {
	out := [][2]string{}
	if h.run.Status == run.Running {
		for _, s := range h.run.Steps() {
			if waits, _ := h.why(s); waits != "" && len(out) < mostWaits {
				out = append(out, [2]string{s.Node, waits})
			}
		}
	}
	if len(out) == 0 {
		return ""
	}
	text, err := json.Marshal(out)
	if err != nil { // words can be written
		return ""
	}
	return string(text)
}

// tellWhy adds to runs of a list why each waits.
func (r *Room) tellWhy(ctx context.Context, tenant string, all []*runRow, seen []*wire.Run) error {
	if len(all) == 0 {
		return nil
	}
	rows, err := r.DB.Query(ctx, "SELECT "+stepColumns+" FROM automation_step WHERE state = ? AND tenant = ? AND run >= ? AND run <= ? "+
		"ORDER BY run, node, item", parked, tenant, all[len(all)-1].id, all[0].id)
	steps, err := db.Collect(rows, err, func(rows *sql.Rows) (*stepRow, error) { return scanStep(rows) })
	if err != nil {
		return err
	}
	of := map[string][]*stepRow{}
	for _, s := range steps {
		of[s.run] = append(of[s.run], s)
	}
	for i, row := range all {
		if row.status == string(run.Running) {
			seen[i].Waits = row.why(of[row.id])
		}
	}
	return nil
}

// why is what is told of a run that is not over: what its nodes wait for, and what is known of the steps that rest.
func (r *runRow) why(resting []*stepRow) (out []string) {
	var nodes [][2]string
	if r.waits != "" && json.Unmarshal([]byte(r.waits), &nodes) != nil {
		nodes = nil // a line in a list: the run itself tells
	}
	told := map[string]bool{}
	for _, n := range nodes {
		waits := n[1]
		for _, s := range resting {
			if s.node == n[0] {
				_, waits = s.why(n[1])
			}
		}
		told[n[0]] = true
		out = append(out, n[0]+": "+waits)
	}
	for _, s := range resting {
		if !told[s.node] && len(out) < mostWaits {
			_, waits := s.why("")
			out = append(out, s.node+": "+waits)
		}
	}
	return out
}
