package wire

import (
	"testing"
	"time"
)

// What is left costs what merged tasks cost, or what it cost already; before anything is merged, and once all is over, nobody guesses.
func TestWhatATeamIsExpectedToUse(t *testing.T) {
	made := time.Date(2026, 11, 19, 10, 0, 0, 0, time.UTC)
	team := &Team{State: Working, MadeAt: made,
		Tasks: []*Task{{Stage: Merged}, {Stage: Merged}, {Stage: AtWork}, {Stage: Waits}, {Stage: Dropped}}}
	lead := Spent{Cents: 10, Tokens: 100, Turns: 1}
	tasks := []Spent{{20, 1000, 2}, {40, 3000, 4}, {5, 9000, 1}, {}, {1, 50, 1}}
	got := team.Expect(lead, tasks, made.Add(30*time.Minute))
	// the lead 10, merged 60, at work max(5, 30), waiting 30, dropped 1; and so for tokens and turns
	if want := (Spent{131, 100 + 4000 + 9000 + 2000 + 50, 1 + 6 + 3 + 3 + 1}); got == nil || got.Spent != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if want := made.Add(50 * time.Minute); got != nil && !got.End.Equal(want) {
		t.Errorf("at %s, want %s", got.End, want)
	}
	if sum := Total(lead, tasks); *sum != (Spent{76, 13150, 9}) {
		t.Errorf("%+v", sum)
	}
	for name, change := range map[string]func(){"it is over": func() { team.State = Stopped },
		"nothing is merged": func() { team.State, team.Tasks = Working, team.Tasks[2:] }} {
		if change(); team.Expect(lead, tasks, made.Add(time.Hour)) != nil {
			t.Errorf("%s, and something is expected", name)
		}
	}
	team.State, team.MovedAt = Done, made.Add(time.Minute)
	if d := team.Took(made.Add(time.Hour)); d != time.Minute {
		t.Errorf("a team that is done goes on for %s", d)
	}
}
