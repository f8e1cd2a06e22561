package policy

import (
	"bytes"
	"encoding/json"
	"slices"

	cedar "github.com/cedar-policy/cedar-go"

	"tandem/internal/spelling"
)

// On macOS and Windows /code/PRIV opens /code/priv. So whatever denies or asks about files, and every label, holds for each spelling of
// their paths: it is compared folded. What gives is not: a grant of /code/priv says nothing of /code/PRIV. Only files have such names;
// keys, spaces, sessions and the like are found by theirs.

// lowPath is the folded path.
func (q *question) lowPath() string {
	if q.low == "" {
		q.low = spelling.Folded(q.Resource.Path)
	}
	return q.low
}

// byAnySpelling is the question as rules for folded paths read it; nil when it is not about files.
func (q *question) byAnySpelling() *question {
	f := q.Facts
	if q.Resource.Kind != KindFolder && (f == nil || len(f.Paths)+len(f.Named)+len(f.Commands)+len(f.Runs) == 0) {
		return nil
	}
	if q.spelled != nil {
		return q.spelled
	}
	low := *q
	low.context, low.shadow, low.folded = nil, nil, true
	low.Op, low.tool, low.Class = spelling.Folded(q.Op), spelling.Folded(q.tool), DataClass(spelling.Folded(string(q.Class)))
	if q.Resource.Kind == KindFolder {
		low.Resource.Path = q.lowPath()
	}
	if f != nil {
		facts := *f
		facts.Paths, facts.Named, facts.Hosts, facts.Reached = allFolded(f.Paths), allFolded(f.Named), allFolded(f.Hosts), allFolded(f.Reached)
		facts.Commands, facts.Runs = commandsFolded(f.Commands), commandsFolded(f.Runs)
		low.Facts = &facts
	}
	q.spelled = &low
	return &low
}

func allFolded(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = spelling.Folded(s)
	}
	return out
}

func commandsFolded(list [][]string) [][]string {
	out := make([][]string, len(list))
	for i, words := range list {
		out[i] = allFolded(words)
	}
	return out
}

func orFolded(s string, fold bool) string {
	if fold {
		return spelling.Folded(s)
	}
	return s
}

// holdsSpelled evaluates what a statement says of folded paths.
func (e *evaluation) holdsSpelled(r *rule) (bool, string) {
	if r.spelled == nil {
		return false, ""
	}
	if e.low == nil {
		q := e.q.byAnySpelling()
		if q == nil {
			return false, ""
		}
		e.low = &evaluation{q: q, m: e.m}
	}
	if !r.spelled.about(e.low.q) {
		return false, ""
	}
	return e.low.holds(r.spelled)
}

// asksSpelled is what a grant or rule asks that means a file by another spelling than the call's; none when it has nothing to say.
type asksSpelled struct{ Decision }

// note takes one more: all that ask have to be content.
func (a *asksSpelled) note(q *question, m *member, d Decision) {
	q.note(m, d.By, Ask, d.note)
	if a.Effect == Ask {
		d = d.joined(q.groups, a.Decision)
	}
	a.Decision = d
}

// narrow turns an answer into an ask where one is wanted.
func (a *asksSpelled) narrow(q *question, d Decision) Decision {
	switch {
	case a.Effect != Ask || d.Effect == Deny:
		return d
	case d.Effect == Ask:
		return d.joined(q.groups, a.Decision)
	}
	return a.Decision
}

// byAnySpelling is the statement with folded paths and words; nil for one that gives without asking, or that says nothing of files.
func (r *rule) byAnySpelling() (*rule, error) {
	files := r.kinds&kindMask(KindFolder) != 0 && (r.root != "/" || r.placed) || slices.Contains(r.reads, "paths") ||
		slices.Contains(r.reads, "commands")
	if !files || !r.forbid && !r.ask {
		return nil, nil
	}
	text, err := r.policy.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var all map[string]any
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&all); err != nil {
		return nil, err
	}
	for _, part := range []string{"resource", "conditions"} {
		all[part] = foldStatement(all[part])
	}
	if text, err = json.Marshal(all); err != nil {
		return nil, err
	}
	low := *r
	low.policy = &cedar.Policy{}
	if err := low.policy.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	if r.kinds == kindMask(KindFolder) {
		low.root = spelling.Folded(r.root)
	}
	return &low, nil
}

// notWords are the functions of Cedar whose texts are no words: times and numbers.
var notWords = []string{"datetime", "duration", "decimal", "ip"}

// foldStatement folds a part of a statement in Cedar's JSON: its texts, and the paths of folders.
func foldStatement(part any) any {
	switch part := part.(type) {
	case []any:
		for i := range part {
			part[i] = foldStatement(part[i])
		}
	case map[string]any:
		if id, ok := part["id"].(string); ok {
			if part["type"] == "Folder" {
				part["id"] = spelling.Folded(id)
			}
			return part
		}
		for key, in := range part {
			text, isText := in.(string)
			switch {
			case slices.Contains(notWords, key):
			case isText && (key == "Value" || key == "Literal"):
				part[key] = spelling.Folded(text)
			case !isText:
				part[key] = foldStatement(in)
			}
		}
	}
	return part
}
