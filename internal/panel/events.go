package panel

import (
	"encoding/json"
	"strings"

	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/panel/ui"
	"tandem/internal/told"
)

// details are what an entry's payload says.
func details(e *journal.Entry) map[string]any {
	var out map[string]any
	_ = json.Unmarshal(e.Payload, &out) // a payload that retention deleted has no details
	return out
}

// outcome is an entry's phase as people say it.
func outcome(e *journal.Entry) string {
	switch e.Phase {
	case journal.Intent:
		return "intended"
	case journal.Asked:
		return "pending"
	case journal.Outcome:
		if ok, _ := details(e)["ok"].(bool); !ok {
			return "failed"
		}
		return "done"
	}
	return e.Phase
}

// deed is an entry for sentences.
func deed(e *journal.Entry) told.Event {
	return told.Event{Seq: e.Seq, Cause: e.Cause, Type: e.Type, Phase: e.Phase, Actor: e.Actor, For: e.For,
		Resource: e.Resource, Payload: e.Payload}
}

func (v *visit) event(e *journal.Entry, kinds map[string]string) EventRow {
	return EventRow{Seq: e.Seq, At: e.Time, Kind: e.Type, Actor: e.Actor, ActKind: kinds[e.Actor],
		Who: deed(e).Who(kinds[e.Actor] == string(op.Local)), Resource: e.Resource, Outcome: outcome(e),
		Summary: strings.TrimSuffix(deed(e).Deed(), ":")}
}

// moment is an entry on a timeline.
func (v *visit) moment(e *journal.Entry) ui.Moment {
	icon, tone := "dot", outcomeTone(outcome(e))
	switch noun, _, _ := strings.Cut(e.Type, "."); {
	case e.Phase == journal.Denied:
		icon = "policy"
	case icons[noun] != "":
		icon = icons[noun]
	}
	if tone == ui.Good {
		tone = ui.Quiet
	}
	return ui.Moment{Tone: tone, Icon: icon, Who: deed(e).Who(false), Title: strings.TrimSuffix(deed(e).Deed(), ":"),
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
		out[a.Name] = string(a.Kind)
	}
	return out
}

// find reads entries by what was asked for, the newest first.
func (v *visit) find(q journalQuery) (journal.LogOut, error) {
	return ask(v, journal.AuditLog, journal.LogIn{Newest: true, Limit: 50, Type: q.Kind, Phase: q.Phase, Actor: q.Actor,
		Resource: q.Resource, Request: q.Request, Text: q.Text, Before: q.Before})
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
