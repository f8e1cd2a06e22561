package peer

import (
	"fmt"
	"strings"
	"time"
)

// WakesPerHour is how often a sleeping agent may be woken. Each wake costs a
// model call, so it is a budget; beyond it messages wait.
const WakesPerHour = 20

// wakes keeps which messages have not been announced, and the budget.
type wakes struct {
	fresh []string
	spent []time.Time
}

func (w *wakes) add(id string) { w.fresh = append(w.fresh, id) }

// left is how many wakes remain in the current hour.
func (w *wakes) left(now time.Time) int {
	keep := w.spent[:0]
	for _, t := range w.spent {
		if now.Sub(t) < time.Hour {
			keep = append(keep, t)
		}
	}
	w.spent = keep
	return max(0, WakesPerHour-len(w.spent))
}

// take is the one fixed sentence of a wake: a count and ids, no content. It is
// empty when there is nothing to announce or the budget is used up.
func (w *wakes) take(now time.Time) (sentence string, ids []string) {
	if len(w.fresh) == 0 || w.left(now) == 0 {
		return "", nil
	}
	ids, w.fresh = w.fresh, nil
	w.spent = append(w.spent, now)
	return announce(ids), ids
}

func announce(ids []string) string {
	noun := "messages"
	if len(ids) == 1 {
		noun = "message"
	}
	show := ids
	more := ""
	if len(show) > 5 {
		show, more = show[:5], ", …"
	}
	return fmt.Sprintf("%d %s, %s%s: call intandem_inbox", len(ids), noun, strings.Join(show, ", "), more)
}
