package terminal_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/internal/session/terminal"
	"tandem/internal/testenv"
)

// OpenCode lost prompts: one that came right after a failed turn was reported as done, without a word, and never ran; an interrupt while
// the provider was asked again was a turn that is done. Here the three real programs are refused, interrupted and prompted by several at
// once, as chance has it. Whatever came before it, a prompt ends once and as it ended: what is done was answered in its own words, by one
// question to the model; what was refused or interrupted is not done; and an interrupt keeps what others have sent.
func TestNoRealProgramLosesAPrompt(t *testing.T) {
	if !alone(t) {
		return
	}
	h := spokenHouse(t, "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1")
	r, rounds := testenv.Random(t), 3
	if testenv.Soak() {
		rounds = 60
	}
	for _, agent := range []string{"claude", "codex", "opencode"} {
		began := time.Now()
		h.openAs(agent, agent)
		h.eventually("it is ready", func() bool { return h.seat(agent).State == terminal.Ready })
		prompts := 0
		for round := range rounds {
			prompts += h.storm(agent, fmt.Sprintf("%s%02d", agent, round), r)
		}
		t.Logf("%s: %d prompts in %.0f s", agent, prompts, time.Since(began).Seconds())
		h.call("session.close", terminal.NameIn{Name: agent}, nil)
	}
}

// refusal is what each program does not ask its provider for again.
var refusal = map[string]string{"claude": "err 500]] [[err 500", "codex": "err 401", "opencode": "err 401"}

// storm is something that goes wrong, or not, with others' prompts around it; it gives how many prompts there were.
func (h *house) storm(agent, word string, r *rand.Rand) int {
	h.t.Helper()
	kind := []string{"answered", "refused", "stopped", "retried"}[r.IntN(4)]
	script := map[string]string{"answered": "say " + word + "first back", "refused": refusal[agent], "stopped": "hang 60",
		"retried": "errn 9 529 4 ;; say " + word + "first back"}[kind]
	var wg sync.WaitGroup
	var first terminal.SendOut
	wg.Go(func() { first = h.send(agent, word+"first [["+script+"]]") })
	if kind != "answered" && kind != "refused" || r.IntN(2) == 0 {
		h.eventually("the model is asked", func() bool { return h.prompts(word+"first") > 0 })
	}
	others := make([]terminal.SendOut, r.IntN(3))
	speak := func() {
		for i := range others {
			wg.Go(func() { others[i] = h.send(agent, fmt.Sprintf("%sother%d [[say %sother%d back]]", word, i, word, i)) })
		}
	}
	if kind == "retried" { // it may give up by itself, and then an interrupt would be somebody else's
		h.call("session.interrupt", terminal.NameIn{Name: agent}, nil)
		speak()
	} else if speak(); kind == "stopped" {
		h.call("session.interrupt", terminal.NameIn{Name: agent}, nil)
	}
	wg.Wait()
	h.endedAs(agent, kind, word+"first", first)
	for i, out := range others {
		h.endedAs(agent, "answered", fmt.Sprintf("%sother%d", word, i), out)
	}
	h.endedAs(agent, "answered", word+"after", h.send(agent, word+"after [[say "+word+"after back]]")) // at once
	return 2 + len(others)
}

// endedAs says whether a prompt ended as its kind does.
func (h *house) endedAs(agent, kind, word string, out terminal.SendOut) {
	h.t.Helper()
	asked := h.prompts(word)
	switch kind {
	case "answered":
		if out.Status != "done" || !strings.Contains(out.Report, word+" back") || asked != 1 {
			h.t.Errorf("%s, %s: %+v, and the model was asked %d times\n%s", agent, word, out, asked, h.shown(agent))
		}
	case "refused":
		if out.Status != "failed" || asked == 0 {
			h.t.Errorf("%s, %s was refused: %+v, %d", agent, word, out, asked)
		}
	case "stopped":
		if out.Status != "interrupted" || asked == 0 {
			h.t.Errorf("%s, %s was interrupted: %+v, %d", agent, word, out, asked)
		}
	default:
		if out.Status != "interrupted" && out.Status != "failed" || asked == 0 {
			h.t.Errorf("%s, %s was interrupted while it was tried again: %+v, %d", agent, word, out, asked)
		}
	}
}
