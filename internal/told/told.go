// Package told says what happened in sentences, for the command line and the panel: an event in, words out. It owns no rows and refuses
// nothing; what it has no words for it names by the event's own type.
package told

import (
	"encoding/json"
	"strings"
)

// Event is a row of the journal, as far as a sentence needs it.
type Event struct {
	Seq, Cause                   int64
	Type, Phase, Actor, Resource string
	For                          []string // on whose behalf, as kind:name, the nearest first
	Payload                      json.RawMessage
}

// Who says who acted, and for whom, the nearest first. What came from a terminal was its person's terminal: any program of that user may
// have been there, and nobody was proven. terminal says that the actor is known to be one; local is one on every machine.
func Who(actor string, terminal bool, chain []string) string {
	if actor == "" {
		return "a stranger"
	}
	if n := len(chain); n > 0 && (terminal || actor == inborn) {
		switch kind, person, _ := strings.Cut(chain[n-1], ":"); {
		case kind != "person":
		case actor == inborn:
			return person + "'s terminal"
		default:
			return person + "'s terminal " + actor
		}
	}
	return actor
}

// inborn is the terminal of the machine that a server runs on, and whose it is: both are there from the start.
const inborn, first = "local", "owner"

// By says the name that stands in a row for whoever made it: where it is this machine's own terminal it says so, for nobody was proven.
// The name of a terminal elsewhere says its person and machine already.
func By(name string) string {
	if name == inborn {
		return Who(name, true, []string{"person:" + first})
	}
	return name
}

// Who says who acted. A browser that is signed in acts for its person, and that they were there is proven for an answer alone.
func (e Event) Who(terminal bool) string {
	if len(e.For) == 0 && e.Actor != "" && e.fact("door") == "panel" && e.fact("present") == "" {
		return e.Actor + "'s browser"
	}
	return Who(e.Actor, terminal, e.For)
}

// How an event ended, as people say it.
const (
	Done    = "done"
	Failed  = "failed"
	Refused = "refused"
	Asked   = "asked"   // somebody has to approve it
	Begun   = "begun"   // no outcome is known yet
	Unknown = "unknown" // the server ended in between
)

// How is how an event ended.
func (e Event) How() string {
	switch e.Phase {
	case "done":
		return Done
	case "intent":
		return Begun
	case "denied":
		return Refused
	case "asked":
		return Asked
	case "outcome":
		if e.fact("ok") == "true" {
			return Done
		}
		return Failed
	}
	return Unknown
}

// fact is a value of an event's details, as text.
func (e Event) fact(name string) string {
	var all map[string]json.RawMessage
	if json.Unmarshal(e.Payload, &all) != nil {
		return ""
	}
	var text string
	if json.Unmarshal(all[name], &text) == nil {
		return text
	}
	return string(all[name])
}

// Sentence says what happened and to what, without who: "wrote lock/deploy", "asks to edit /home/me/a.go".
func (e Event) Sentence() string {
	if about := e.about(); about != "" {
		return e.say(" " + about)
	}
	return e.say("")
}

// Deed is Sentence for where the thing itself is shown beside it.
func (e Event) Deed() string { return e.say("") }

func (e Event) say(about string) string {
	did, want := words(e.Type)
	switch e.How() {
	case Begun:
		return "began to " + want + about
	case Failed:
		return "could not " + want + about + because(e.reason())
	case Refused:
		return "may not " + want + about + because(e.reason())
	case Asked:
		return "asks to " + want + about
	case Unknown:
		return "began to " + want + about + ", and nobody knows how it ended"
	}
	return did + about
}

// reason is why something was refused or failed, where the event says it.
func (e Event) reason() string {
	for _, name := range []string{"reason", "error", "message"} {
		if why := e.fact(name); why != "" && why != "null" {
			first, _, _ := strings.Cut(why, "\n")
			return first
		}
	}
	return ""
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// about is what it was done to: the path of the resource, without the kind that the sentence names already.
func (e Event) about() string {
	_, path, ok := strings.Cut(e.Resource, ":/")
	if !ok || path == "" || strings.HasPrefix(e.Type, "session.") && path == e.Actor {
		return ""
	}
	if strings.HasPrefix(e.Resource, "folder:/") {
		return "/" + path
	}
	return path
}

// Fold leaves out an intent whose outcome is among the events too: the outcome tells both. The order stays.
func Fold[E any](events []E, of func(E) Event) []E {
	ended := map[int64]bool{}
	for _, x := range events {
		if e := of(x); e.Cause != 0 && (e.Phase == "outcome" || e.Phase == "unknown") {
			ended[e.Cause] = true
		}
	}
	out := make([]E, 0, len(events))
	for _, x := range events {
		if e := of(x); e.Phase != "intent" || !ended[e.Seq] {
			out = append(out, x)
		}
	}
	return out
}
