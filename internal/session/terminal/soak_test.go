package terminal_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/internal/session"
	"tandem/internal/session/terminal"
	"tandem/internal/testenv"
)

// idleSince is when Claude Code itself says that it became idle.
func (h *house) idleSince() time.Time {
	h.t.Helper()
	var at time.Time
	h.eventually("the program says that it is idle", func() bool {
		files, err := filepath.Glob(filepath.Join(h.dir, "home", ".claude", "sessions", "*.json"))
		if err != nil || len(files) != 1 {
			return false
		}
		var r struct {
			Status  string `json:"status"`
			Changed int64  `json:"statusUpdatedAt"`
		}
		data, err := os.ReadFile(files[0])
		at = time.UnixMilli(r.Changed)
		if err != nil || json.Unmarshal(data, &r) != nil || r.Status != "idle" {
			return false
		}
		at = time.UnixMilli(r.Changed)
		return true
	})
	return at
}

// Many turns in a row on one real Claude Code: each is delivered once, each end is right, and it is known at once. The seed
// waited for three equal screens, 750 ms apart.
func TestManyTurns(t *testing.T) {
	h := newHouse(t)
	h.open("a")
	n := testenv.Rounds(200)
	rng := testenv.Random(t)
	var delays []time.Duration
	delivered, right, twice := 0, 0, 0
	for i := range n {
		word := fmt.Sprintf("turn-%04d-%08x", i, rng.Uint32())
		prompt, status, signals := word+" [[say said "+word+"]]", "done", "hook Stop"
		switch {
		case i%20 == 9:
			prompt, status, signals = word+" [[hang 60]]", "interrupted", "registry transcript"
		case i%5 == 3:
			prompt = word + ` [[tool Read {"file_path":` + quote(filepath.Join(h.project, "a.txt")) + `}]] [[say said ` + word + `]]`
		}
		var out terminal.SendOut
		if status == "interrupted" {
			h.begin("a", prompt)
			h.eventually("the model is asked", func() bool { return h.prompts(word) > 0 })
			h.call("session.interrupt", terminal.NameIn{Name: "a"}, &out)
		} else {
			out = h.send("a", prompt)
		}
		switch count := h.prompts(word); {
		case count > 1:
			twice++
		case count == 1:
			delivered++
		}
		if out.Status == status && strings.Contains(signals, out.Signal) && (status != "done" || out.Report == "said "+word) {
			right++
		} else {
			t.Errorf("turn %d: %+v\n%s", i, out, h.shown("a"))
		}
		var turns session.TurnsOut
		h.call("session.turns", session.TurnIn{ID: h.seat("a").Session, Turn: out.Turn}, &turns)
		if status == "done" {
			delays = append(delays, max(turns.Turns[0].EndedAt.Sub(h.idleSince()), 0))
		}
	}
	slices.Sort(delays)
	at := func(q float64) time.Duration { return delays[int(q*float64(len(delays)-1))].Round(time.Millisecond) }
	t.Logf("%d turns: %d delivered, %d ends right, %d duplicates; from idle to reported: median %v, 95 %% %v, most %v", n, delivered, right,
		twice, at(0.5), at(0.95), at(1))
	if delivered != n || right != n || twice != 0 {
		t.Error("not every turn was delivered once and ended right")
	}
	if at(0.5) > 300*time.Millisecond {
		t.Errorf("the median delay is %v", at(0.5))
	}
}
