package team

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	job "tandem/internal/job/wire"
	"tandem/internal/team/wire"
)

func atWork(t interface{ Fatal(...any) }, events ...Event) *Team {
	team := fresh()
	for _, e := range append(planned[:3:3], events...) {
		if err := team.Apply(e, time.Unix(1, 0)); err != nil {
			t.Fatal(e.Kind, err)
		}
	}
	return team
}

func edited(t *Team, change func(*wire.Plan)) Event {
	p := t.Plan()
	change(&p)
	return Event{Kind: Edited, Plan: &p, By: "bea", Version: t.Version}
}

// A person gives a team that works another plan: more tasks, fewer or others, and what has begun as it was.
func TestAPlanGrowsWhileATeamWorks(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*wire.Plan)
		want   string // the tasks, or what it is refused with
	}{
		"one more":                 {func(p *wire.Plan) { p.Tasks = append(p.Tasks, wire.Item{Name: "d", Text: "do d"}) }, "a b c d"},
		"after one that is merged": {func(p *wire.Plan) { p.Tasks[1].After = nil }, "a b c"},
		"one less":                 {func(p *wire.Plan) { p.Tasks = append(p.Tasks[:1], p.Tasks[2]) }, "a c"},
		"one begun is left out":    {func(p *wire.Plan) { p.Tasks = p.Tasks[1:2]; p.Tasks[0].After = nil }, "the task a has begun"},
		"one begun is another":     {func(p *wire.Plan) { p.Tasks[0].Text = "do all" }, "the task a has begun"},
		"one begun has no check":   {func(p *wire.Plan) { p.Tasks[2].Check = "false" }, "the task c has begun"},
		"two of a name":            {func(p *wire.Plan) { p.Tasks = append(p.Tasks, p.Tasks[1]) }, "two tasks"},
	} {
		t.Run(name, func(t *testing.T) {
			team := atWork(t, approved, began("a"), began("c"))
			before := team.State
			err := team.Apply(edited(team, c.change), time.Unix(2, 0))
			var names []string
			for _, k := range team.Tasks {
				names = append(names, k.Name)
			}
			if strings.Contains(c.want, "t") { // it is refused
				if err == nil || !strings.Contains(err.Error(), c.want) || strings.Join(names, " ") != "a b c" || team.Version != 1 {
					t.Errorf("%v, and it is plan %d of %v", err, team.Version, names)
				}
				return
			}
			if err != nil || strings.Join(names, " ") != c.want || team.State != before || team.Version != 2 || team.ApprovedBy != "bea" ||
				team.task("a").Job != "job_a" {
				t.Errorf("%v: %s is plan %d of %v, by %s", err, team.State, team.Version, names, team.ApprovedBy)
			}
		})
	}
}

// Two people who change a plan at once do not undo each other's, and nothing is changed while a task is begun, or when all is over.
func TestAPlanIsChangedByOneAtATime(t *testing.T) {
	more := func(name string) func(*wire.Plan) {
		return func(p *wire.Plan) { p.Tasks = append(p.Tasks, wire.Item{Name: name, Text: "do it"}) }
	}
	team := atWork(t, approved)
	mine, other := edited(team, more("d")), edited(team, more("e"))
	if err := team.Apply(mine, time.Unix(2, 0)); err != nil {
		t.Fatal(err)
	}
	if err := team.Apply(other, time.Unix(2, 0)); err == nil || !strings.Contains(err.Error(), "number 2 by now") || team.task("d") == nil {
		t.Errorf("the one who came late: %v", err)
	}
	if err := team.Apply(Event{Kind: Begins, Task: "a"}, time.Unix(2, 0)); err != nil {
		t.Fatal(err)
	}
	if err := team.Apply(edited(team, more("f")), time.Unix(2, 0)); err == nil {
		t.Error("it changed while a task was being begun")
	}
	over := atWork(t, approved, Event{Kind: Stopped})
	if err := over.Apply(edited(over, more("f")), time.Unix(2, 0)); err == nil {
		t.Error("a team that is stopped got a task")
	}
}

// However often a plan is changed, what tasks were given and may still be given stays within the budget.
func TestAChangedPlanStaysWithinTheBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		team := fresh()
		team.Budget = job.Budget{Turns: rapid.Int64Range(20, 200).Draw(t, "turns")}
		if rapid.Bool().Draw(t, "reviews") {
			team.Review = "m/m"
		}
		for _, e := range planned {
			if err := team.Apply(e, time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
		}
		if team.Apply(approved, time.Unix(1, 0)) != nil {
			return // not enough for each
		}
		given := leads(team.Budget).Turns
		for i := range 12 {
			if k := team.Tasks[rapid.IntRange(0, len(team.Tasks)-1).Draw(t, "task")]; k.Job == "" && rapid.Bool().Draw(t, "begins") {
				if err := team.Apply(began(k.Name), time.Unix(1, 0)); err != nil {
					t.Fatal(err)
				}
				given += team.Share.Turns * int64(team.sessions())
			}
			_ = team.Apply(edited(team, func(p *wire.Plan) {
				for n := range rapid.IntRange(0, 2).Draw(t, "more") {
					p.Tasks = append(p.Tasks, wire.Item{Name: strings.Repeat("x", i+1) + string(rune('a'+n)), Text: "do it"})
				}
				for j := len(p.Tasks) - 1; j > 0; j-- {
					if k := team.task(p.Tasks[j].Name); k != nil && k.Job == "" && rapid.IntRange(0, 3).Draw(t, "less") == 0 {
						name := p.Tasks[j].Name
						p.Tasks = append(p.Tasks[:j:j], p.Tasks[j+1:]...)
						for l := range p.Tasks {
							if len(p.Tasks[l].After) > 0 && p.Tasks[l].After[0] == name && team.task(p.Tasks[l].Name).Job == "" {
								p.Tasks[l].After = nil
							}
						}
					}
				}
			}), time.Unix(2, 0))
			if given > team.Budget.Turns {
				t.Fatalf("%d turns were given of %d", given, team.Budget.Turns)
			}
			if team.Share.Turns < 1 {
				t.Fatalf("a share is %d turns", team.Share.Turns)
			}
		}
		rest := 0
		for _, k := range team.Tasks {
			if k.Job == "" {
				rest++
			}
		}
		if all := given + team.Share.Turns*int64(rest*team.sessions()); all > team.Budget.Turns {
			t.Fatalf("%d turns will be given of %d", all, team.Budget.Turns)
		}
	})
}
