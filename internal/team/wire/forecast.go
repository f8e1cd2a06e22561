package wire

import "time"

// Expected is what a team will have used in the end, if what is left goes as what is merged went.
type Expected struct {
	Spent
	End time.Time `json:"end" jsonschema:"when it is done at the pace so far"`
}

func (s *Spent) add(o Spent) {
	s.Cents, s.Tokens, s.Turns = s.Cents+o.Cents, s.Tokens+o.Tokens, s.Turns+o.Turns
}

// Total is what a lead and the tasks of its team used.
func Total(lead Spent, tasks []Spent) *Spent {
	for _, s := range tasks {
		lead.add(s)
	}
	return &lead
}

// Expect is what a team is expected to have used in the end, of what its lead and each of its tasks used by now. A task that is not over
// costs what merged ones cost on average, or what it cost already if that is more. Nothing is expected before anything is merged, or of a
// team that is over.
func (t *Team) Expect(lead Spent, tasks []Spent, now time.Time) *Expected {
	var merged Spent
	var n, over int
	for i, k := range t.Tasks {
		if k.Over() {
			over++
		}
		if k.Stage == Merged {
			merged.add(tasks[i])
			n++
		}
	}
	if n == 0 || over == len(t.Tasks) || t.State.Over() {
		return nil
	}
	out := &Expected{Spent: lead}
	for i, k := range t.Tasks {
		s := tasks[i]
		if !k.Over() {
			s = Spent{max(s.Cents, merged.Cents/float64(n)), max(s.Tokens, merged.Tokens/int64(n)), max(s.Turns, merged.Turns/int64(n))}
		}
		out.add(s)
	}
	passed := now.Sub(t.MadeAt)
	out.End = now.Add(passed / time.Duration(over) * time.Duration(len(t.Tasks)-over)).Truncate(time.Second)
	return out
}

// Took is how long a team has been at it, or was.
func (t *Team) Took(now time.Time) time.Duration {
	if t.State.Over() {
		now = t.MovedAt
	}
	return max(now.Sub(t.MadeAt), 0).Round(time.Second)
}
