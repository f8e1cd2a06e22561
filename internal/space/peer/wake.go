package peer

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// WakesPerHour is how often a sleeping agent may be woken unless the settings
// say otherwise. Each wake costs a model call, so it is a budget; beyond it
// messages wait.
const WakesPerHour = 20

// shownIDs is how many messages an announcement names; the rest is a number.
const shownIDs = 5

// wakes keeps which messages have not been announced, and the budget.
type wakes struct {
	fresh []string // the first of them
	more  int      // and how many came after those
	told  bool     // the senders know that they wait
	spent []time.Time
	limit int // an hour
}

func (w *wakes) add(id string) {
	if len(w.fresh) < maxFresh {
		w.fresh = append(w.fresh, id)
	} else {
		w.more++
	}
	w.told = false
}

const maxFresh = 100

// forget is for when they were announced some other way.
func (w *wakes) forget() { w.fresh, w.more, w.told = nil, 0, false }

// left is how many wakes remain in the current hour.
func (w *wakes) left(now time.Time) int {
	old := 0 // they are in the order of time
	for old < len(w.spent) && now.Sub(w.spent[old]) >= time.Hour {
		old++
	}
	w.spent = w.spent[old:]
	return max(0, w.limit-len(w.spent))
}

// take is the one fixed sentence of a wake: a count and ids, no content. It is
// empty when there is nothing to announce or the budget is used up.
func (w *wakes) take(now time.Time) (sentence string, ids []string) {
	if len(w.fresh) == 0 || w.left(now) == 0 {
		return "", nil
	}
	ids, n := w.fresh, len(w.fresh)+w.more
	w.forget()
	w.spent = append(w.spent, now)
	return announce(ids, n), ids
}

// back is for a wake that did not arrive: it cost nothing.
func (w *wakes) back(ids []string) {
	w.fresh = append(slices.Clone(ids), w.fresh...)
	w.spent = w.spent[:max(0, len(w.spent)-1)]
}

// announce is the sentence about n messages, of which some ids are known.
func announce(ids []string, n int) string {
	noun := "messages"
	if n == 1 {
		noun = "message"
	}
	ids = ids[:min(len(ids), shownIDs)]
	more := ""
	if n > len(ids) {
		more = ", …"
	}
	return fmt.Sprintf("%d %s, %s%s: call intandem_inbox", n, noun, strings.Join(ids, ", "), more)
}
