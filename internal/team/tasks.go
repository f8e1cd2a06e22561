package team

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"tandem/internal/fault"
	"tandem/internal/foreign"
	job "tandem/internal/job/wire"
	"tandem/internal/team/wire"
)

func (t *Team) task(name string) *wire.Task {
	i := slices.IndexFunc(t.Tasks, func(k *wire.Task) bool { return k.Name == name })
	if i < 0 {
		return nil
	}
	return t.Tasks[i]
}

// workers are who works, in turn.
func (t *Team) workers() []string {
	if len(t.Workers) == 0 {
		return []string{t.Lead}
	}
	return t.Workers
}

// take makes a plan the team's, which waits for a person.
func (t *Team) take(p wire.Plan) {
	t.Criteria, t.Tasks = p.Criteria, nil
	for i, item := range p.Tasks {
		t.Tasks = append(t.Tasks, &wire.Task{Item: t.settled(item, i), Stage: wire.Waits})
	}
	t.Version++
	t.State, t.Reason, t.Bad = wire.Proposed, "", 0
}

// proposed takes what the lead said as a plan.
func (t *Team) proposed(said string) {
	t.Flight, t.Waits, t.Breaks = "", false, 0
	p, err := parsePlan(said)
	if err == nil {
		err = checkPlan(p, t.workers())
	}
	if err == nil {
		t.Prompt = ""
		t.take(p)
		return
	}
	why := fault.Public(err).Msg
	if t.Bad++; t.Bad >= maxBad {
		t.Bad = 0
		t.block(fmt.Sprintf("the lead gave no plan: %s; write one: tandem team plan %s --file plan.json", why, t.ID))
		return
	}
	t.Prompt = fmt.Sprintf("Your answer cannot be taken: %s.\n\n%s", why, form)
}

// saw takes where a task's job stands.
func (t *Team) saw(k *wire.Task, j *job.Job) {
	k.Commit, k.Reason, k.Needs, k.Inspect, k.Remark, k.Says = j.Commit, j.Reason, j.Needs, "", "", ""
	switch j.State {
	case job.Review:
		k.Stage = wire.Review
		t.reviews(k, j)
	case job.Queued:
		k.Stage = wire.Queued
	case job.Merged:
		if k.Stage, k.Reason = wire.Merged, ""; j.Next != "" { // what comes after it would begin without it
			k.Stage, k.Reason = wire.Review, "it is merged, and not in "+t.Onto+" yet, which is checked out"
			k.Needs = []job.Need{{What: k.Reason + ": " + j.Next, Next: j.Next}}
		}
	case job.Stopped:
		switch {
		case j.Session != "" && j.Path == "":
			t.drop(k, "its job was discarded")
		case j.Lock != nil: // a person says whether what it depends on is fetched
			k.Stage = wire.Halted
			k.Needs = []job.Need{{What: j.Reason, Next: fmt.Sprintf("tandem job show %s", j.ID)}}
		case j.StoppedBy == t.ID: // as long as the team was at rest
			k.Held = true
		case k.Held:
		case j.StoppedBy != "":
			k.Stage = wire.Halted
		case k.Tries < maxTries && t.State == wire.Working:
			k.Again = true
		default:
			k.Stage = wire.Failed
		}
	default:
		k.Stage = wire.AtWork
	}
	if k.Stage == wire.Failed && t.State == wire.Working && t.Prompt == "" {
		t.asks(k)
	}
}

// asks has the lead asked about a task that failed, as often as is allowed.
func (t *Team) asks(k *wire.Task) {
	if k.Asked >= maxAsked {
		t.block(fmt.Sprintf("the task %s failed: %s", k.Name, k.Reason))
		return
	}
	k.Asked++
	t.About = k.Name
	hand := ""
	if others := t.others(k); len(others) > 0 {
		hand = fmt.Sprintf("HAND, the name of another worker (%s) and what that one should be told, to let it go on in the same files;\n",
			strings.Join(others, ", "))
	}
	t.Prompt = fmt.Sprintf("The task %s of your plan failed, also after it was resumed. What its job says:\n%s\n\n"+
		"Answer with one line that begins with one of these words:\nRETRY and what its agent should be told, to let it go on;\n"+hand+
		"DONE and why, when the goal is reached without it;\nNEEDS_INPUT and a question, when a person has to answer;\n"+
		"BLOCKED and why, when there is no way.", k.Name, foreign.Mark("reason", "job", k.Reason))
}

// decided takes what the lead said about a task that failed. What begins with no word that it was told is a question for a person.
func (t *Team) decided(said string) {
	t.Flight, t.Prompt, t.Waits, t.Breaks = "", "", false, 0
	k := t.task(t.About)
	t.About = ""
	word, rest := strings.TrimSpace(said), ""
	if i := strings.IndexFunc(word, unicode.IsSpace); i >= 0 {
		word, rest = word[:i], fault.Clip(strings.TrimSpace(word[i:]), 2000)
	}
	word = strings.Trim(word, ":*")
	switch {
	case k == nil || k.Over():
	case word == "RETRY" && rest != "":
		k.Say = rest
	case word == "HAND" && t.handed(k, rest):
	case word == "DONE":
		t.drop(k, "the lead: "+rest)
	default:
		t.block(fmt.Sprintf("the task %s failed (%s), and the lead says: %s", k.Name, k.Reason, fault.Clip(strings.TrimSpace(said), 2000)))
	}
	for _, other := range t.Tasks {
		if other.Stage == wire.Failed && other.Say == "" && t.State == wire.Working && t.Prompt == "" {
			t.asks(other)
		}
	}
}

// others are the workers of another kind than a task's agent.
func (t *Team) others(k *wire.Task) (out []string) {
	for _, w := range t.workers() {
		if w != k.Agent && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// handed has another worker go on with a task, in the files of the one before it.
func (t *Team) handed(k *wire.Task, rest string) bool {
	to, say := rest, ""
	if i := strings.IndexFunc(rest, unicode.IsSpace); i >= 0 {
		to, say = rest[:i], rest[i:]
	}
	if to = strings.Trim(to, ":,"); !slices.Contains(t.others(k), to) || strings.TrimSpace(say) == "" {
		return false
	}
	k.Agent, k.Hand, k.Say = to, to, strings.TrimSpace(say)
	return true
}

// drop takes a task out of the plan, with those that come after it.
func (t *Team) drop(k *wire.Task, why string) {
	k.Stage, k.Reason = wire.Dropped, why
	for _, other := range t.Tasks {
		if other.Stage == wire.Waits && slices.Contains(other.After, k.Name) {
			t.drop(other, "it comes after "+k.Name)
		}
	}
}

// ready are tasks that can begin now: those before them are merged, a place is free, and nobody has their files.
func (t *Team) ready() (out []*wire.Task) {
	free := t.Agents
	for _, k := range t.Tasks {
		if k.Stage == wire.AtWork {
			free--
		}
	}
	for _, k := range t.Tasks {
		if t.State == wire.Working && free > 0 && k.Stage == wire.Waits && !slices.ContainsFunc(k.After, func(a string) bool {
			return t.task(a).Stage != wire.Merged
		}) && len(t.Behind(k, out...)) == 0 {
			out = append(out, k)
			free--
		}
	}
	return out
}
