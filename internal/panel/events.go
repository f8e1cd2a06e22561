package panel

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"tandem/internal/panel/ui"
)

// wireEntry is an entry as audit.log and audit.show tell it.
type wireEntry struct {
	Seq         int64           `json:"seq"`
	Time        time.Time       `json:"time"`
	Type        string          `json:"type"`
	Phase       string          `json:"phase"`
	Actor       string          `json:"actor"`
	For         []string        `json:"for"`
	Resource    string          `json:"resource"`
	Request     string          `json:"request"`
	Cause       int64           `json:"cause"`
	Payload     json.RawMessage `json:"payload"`
	Salt        []byte          `json:"salt"`
	PayloadHash []byte          `json:"payload_hash"`
}

type wireLog struct {
	Entries []wireEntry `json:"entries"`
	More    bool        `json:"more"`
	Head    int64       `json:"head"`
}

func (e wireEntry) details() map[string]any {
	var out map[string]any
	_ = json.Unmarshal(e.Payload, &out) // a payload that retention deleted has no details
	return out
}

// outcome is an entry's phase as people say it.
func (e wireEntry) outcome() string {
	switch e.Phase {
	case "intent":
		return "intended"
	case "asked":
		return "pending"
	case "outcome":
		if ok, _ := e.details()["ok"].(bool); !ok {
			return "failed"
		}
		return "done"
	}
	return e.Phase
}

// summary is what happened, in a line: the reason where there is one, else
// the operation's own words.
func (v *visit) summary(e wireEntry) string {
	if reason, ok := e.details()["reason"].(string); ok && reason != "" {
		return reason
	}
	if o := v.p.Gate.Table().Get(e.Type); o != nil {
		first, _, _ := strings.Cut(o.Doc, "\n")
		if i := strings.IndexAny(first, ".:"); i > 0 {
			first = first[:i]
		}
		return first
	}
	return e.Type
}

func (v *visit) event(e wireEntry, kinds map[string]string) EventRow {
	return EventRow{Seq: e.Seq, At: e.Time, Kind: e.Type, Actor: e.Actor, ActKind: kinds[e.Actor], Resource: e.Resource, Outcome: e.outcome(), Summary: v.summary(e)}
}

// moment is an entry on a timeline.
func (v *visit) moment(e wireEntry) ui.Moment {
	icon, tone := "dot", outcomeTone(e.outcome())
	switch noun, _, _ := strings.Cut(e.Type, "."); {
	case e.Phase == "denied":
		icon = "policy"
	case icons[noun] != "":
		icon = icons[noun]
	}
	if tone == ui.Good {
		tone = ui.Quiet
	}
	who := e.Actor
	if who == "" {
		who = "a stranger"
	}
	title := e.Type
	if e.Phase != "done" {
		title += ", " + e.outcome()
	}
	return ui.Moment{Tone: tone, Icon: icon, Who: who, Title: title, Detail: strings.Replace(e.Resource, ":/", "/", 1), At: e.Time, Href: journalHref(e.Seq)}
}

// icons of the nouns that events are about; later rooms add theirs.
var icons = map[string]string{
	"session": "session", "relay": "relay", "turn": "session", "question": "session", "tool": "tool", "provider": "models", "folder": "resources", "board": "board", "space": "spaces", "approval": "approvals", "resource": "resources", "token": "key", "passkey": "passkey", "pin": "key", "actor": "actors",
	"grant": "policy", "policy": "policy", "audit": "journal", "server": "system", "signin": "passkey",
	"repo": "repos", "workspace": "repos",
}

// kinds maps actors' names to their kinds, so that a name can be shown as what it is.
func (v *visit) kinds() map[string]string {
	out := map[string]string{}
	actors, err := v.actors()
	if err != nil {
		return out // names are shown all the same
	}
	for _, a := range actors {
		out[a.Name] = a.Kind
	}
	return out
}

// search is how many entries words are looked for in.
const search = 5000

// find reads entries by what was asked for. Words are looked for in everything
// that an entry shows.
func (v *visit) find(q journalQuery) (wireLog, error) {
	in := map[string]any{"newest": true, "limit": q.limit}
	for field, value := range map[string]string{"type": q.Kind, "phase": q.Phase, "actor": q.Actor, "resource": q.Resource, "request": q.Request} {
		if value != "" {
			in[field] = value
		}
	}
	if q.Before > 0 {
		in["before"] = q.Before
	}
	if len(q.Words) == 0 {
		return call[wireLog](v, "audit.log", in)
	}
	in["limit"] = 1000
	var out wireLog
	for seen := 0; seen < search; {
		page, err := call[wireLog](v, "audit.log", in)
		if err != nil {
			return out, err
		}
		out.Head = page.Head
		for _, e := range page.Entries {
			if q.matches(e) {
				out.Entries = append(out.Entries, e)
			}
			if len(out.Entries) == q.limit {
				out.More = true
				return out, nil
			}
		}
		if !page.More {
			break
		}
		seen += len(page.Entries)
		in["before"] = page.Entries[len(page.Entries)-1].Seq
	}
	return out, nil
}

// journalQuery is what a search box means: a resource (kind:/path), a request
// (req_…), a type (noun.verb or noun.*), and words.
type journalQuery struct {
	Actor, Kind, Phase, Resource, Request string
	Words                                 []string
	Before                                int64
	limit                                 int
}

func parseQuery(text string) journalQuery {
	q := journalQuery{limit: 50}
	for _, w := range strings.Fields(text) {
		switch noun, verb, dotted := strings.Cut(w, "."); {
		case strings.Contains(w, ":/"):
			q.Resource = w
		case strings.HasPrefix(w, "req_"):
			q.Request = w
		case dotted && verb == "*" && noun != "":
			q.Kind = w
		default:
			q.Words = append(q.Words, strings.ToLower(w))
		}
	}
	return q
}

func (q journalQuery) matches(e wireEntry) bool {
	text := strings.ToLower(strings.Join([]string{strconv.FormatInt(e.Seq, 10), e.Type, e.Phase, e.Actor, e.Resource, e.Request, string(e.Payload)}, " "))
	for _, w := range q.Words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}
