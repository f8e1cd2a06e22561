package contextrun

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"tandem/internal/contextrun/wire"
	"tandem/internal/fault"
)

// Bounds of context runs.
const (
	maxRuns      = 10_000
	maxEvents    = 50_000
	maxBytes     = 16 << 20 // of a run's events
	lastWords    = 10       // events by which a full run can still be ended
	maxPayload   = 64 << 10
	maxSource    = 16 << 10
	maxText      = 16 << 10
	maxSteps     = 200
	maxTitle     = 300
	maxObjective = 16 << 10
	maxTasks     = 1000 // of a run
	maxBatch     = 200  // added at once
	maxNeeds     = 100  // of a task
	maxItems     = 2000 // on a blackboard
	maxMarks     = 5
	maxWord      = 200
)

var (
	idForm   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$`)
	typeForm = regexp.MustCompile(`^[a-z][a-z0-9_.]{0,99}$`)
)

// named refuses what is no id; what says which of them it is.
func named(what, id string) error {
	if !idForm.MatchString(id) {
		return bad("%.64q is no id of %s", id, what).WithNext("an id has letters, digits and . _ : - and at most 100 of them")
	}
	return nil
}

// words refuses texts that are too long or no text.
func words(most int, texts ...string) error {
	for _, s := range texts {
		if len(s) > most || !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
			return bad("%.40q … is not plain text of at most %d bytes", s, most)
		}
	}
	return nil
}

// anObject refuses what is no JSON object of that size; compact is it without what is only for the eye.
func anObject(what string, raw json.RawMessage, most int) (compact json.RawMessage, err error) {
	compact, err = someJSON(what, raw, most)
	if err == nil && len(compact) > 0 && compact[0] != '{' {
		err = bad("%s is a JSON object", what)
	}
	return compact, err
}

func someJSON(what string, raw json.RawMessage, most int) (json.RawMessage, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if len(raw) > most {
		return nil, bad("%s has %d bytes; %d are allowed", what, len(raw), most).
			WithNext("keep it somewhere else, and name that: an artifact, a file, a shared key")
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return nil, bad("%s is not JSON", what)
	}
	return b.Bytes(), nil
}

func checkSteps(all []wire.Step) error {
	if len(all) > maxSteps {
		return bad("a run has at most %d steps", maxSteps).WithNext("make them tasks: tandem context add --help")
	}
	seen := map[string]bool{}
	for _, s := range all {
		if err := named("a step", s.ID); err != nil {
			return err
		}
		if err := words(maxTitle, s.Title); err != nil {
			return err
		}
		if seen[s.ID] {
			return bad("there are two steps %s", s.ID)
		}
		if seen[s.ID] = true; stageOf(string(s.Stage)) != s.Stage {
			return bad("%.40q is no stage", string(s.Stage)).WithNext("it is pending, runnable, in_progress, blocked, done or failed")
		}
	}
	return nil
}

func checkFolder(folder string) error {
	if folder != "" && (!filepath.IsAbs(folder) || filepath.Clean(folder) != folder || len(folder) > 4096) {
		return bad("%.64q is no absolute path of a folder", folder)
	}
	return words(4096, folder)
}

// last is what an event is the last word of: of nothing, of somebody who holds a task, or of the run.
type last int

const (
	ofNothing last = iota
	ofAClaim
	ofTheRun
)

// room refuses an event that a run has no place for. In a full one who holds a task can still say how it went, and it can be ended: there
// is a place for each task, and some more for the end.
func (r *run) room(size int, word last) error {
	events, most := int64(maxEvents), int64(maxBytes)
	if word >= ofAClaim {
		events, most = events+maxTasks, most+maxTasks*maxText
	}
	if word == ofTheRun {
		events, most = events+lastWords, most+lastWords*maxPayload
	}
	if r.Events >= events || r.bytes+int64(size) >= most {
		return fault.New(fault.Exhausted, "context", "%s has as much as a context run may have: %d events of %d, %d bytes of %d", r.ID, r.Events,
			maxEvents, r.bytes, maxBytes).WithNext("end it (tandem context append %s run_completed --status completed), and go on in another", r.ID)
	}
	return nil
}
