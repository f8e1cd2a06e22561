package panel

import (
	"encoding/json"
	"strings"
	"time"

	"tandem/internal/panel/ui"
	"tandem/internal/told"
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
	At      int64       `json:"at"` // with More: where to go on
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

// told is the entry for sentences.
func (e wireEntry) told() told.Event {
	return told.Event{Seq: e.Seq, Cause: e.Cause, Type: e.Type, Phase: e.Phase, Actor: e.Actor, Resource: e.Resource, Payload: e.Payload}
}

func (v *visit) event(e wireEntry, kinds map[string]string) EventRow {
	return EventRow{Seq: e.Seq, At: e.Time, Kind: e.Type, Actor: e.Actor, ActKind: kinds[e.Actor], Resource: e.Resource, Outcome: e.outcome(),
		Summary: strings.TrimSuffix(e.told().Deed(), ":")}
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
	return ui.Moment{Tone: tone, Icon: icon, Who: who, Title: strings.TrimSuffix(e.told().Deed(), ":"),
		Detail: strings.Replace(e.Resource, ":/", "/", 1), At: e.Time, Href: journalHref(e.Seq)}
}

// icons of the nouns that events are about; later rooms add theirs.
var icons = map[string]string{
	"session": "session", "relay": "relay", "turn": "session", "question": "session", "tool": "tool", "provider": "models",
	"folder": "resources", "board": "board", "space": "spaces", "approval": "approvals", "resource": "resources", "token": "key",
	"passkey": "passkey", "pin": "key", "actor": "actors",
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

// find reads entries by what was asked for, the newest first.
func (v *visit) find(q journalQuery) (wireLog, error) {
	in := map[string]any{"newest": true, "limit": 50}
	for field, value := range map[string]string{"type": q.Kind, "phase": q.Phase, "actor": q.Actor, "resource": q.Resource,
		"request": q.Request, "text": q.Text} {
		if value != "" {
			in[field] = value
		}
	}
	if q.Before > 0 {
		in["before"] = q.Before
	}
	return call[wireLog](v, "audit.log", in)
}

// journalQuery is what a search box means: a resource (kind:/path), a request
// (req_…), a type (noun.verb or noun.*), and words.
type journalQuery struct {
	Actor, Kind, Phase, Resource, Request, Text string
	Before                                      int64
}

func parseQuery(text string) journalQuery {
	var q journalQuery
	var words []string
	for _, w := range strings.Fields(text) {
		switch noun, verb, dotted := strings.Cut(w, "."); {
		case strings.Contains(w, ":/"):
			q.Resource = w
		case strings.HasPrefix(w, "req_"):
			q.Request = w
		case dotted && verb == "*" && noun != "":
			q.Kind = w
		default:
			words = append(words, w)
		}
	}
	q.Text = strings.Join(words, " ")
	return q
}
