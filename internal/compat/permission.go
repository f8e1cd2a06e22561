package compat

import (
	"encoding/json"
	"strings"
	"time"

	"tandem/internal/fault"
)

// ask is the part of an ask that the clients know.
type ask struct {
	ID        string          `json:"id"`
	State     string          `json:"state"`
	Op        string          `json:"op"`
	Resource  string          `json:"resource"`
	Digest    string          `json:"digest"`
	Input     json.RawMessage `json:"input"`
	Asker     string          `json:"asker"`
	Session   string          `json:"session"`
	Reason    string          `json:"reason"`
	CreatedAt time.Time       `json:"created_at"`
	ExpiresAt time.Time       `json:"expires_at"`
	DecidedBy string          `json:"decided_by"`
}

// askStates are the only words that one of the clients accepts.
var askStates = map[string]string{"pending": "pending", "approved": "approved", "spent": "approved", "rework": "rejected",
	"cancelled": "rejected"}

func (a ask) record() obj {
	status := askStates[a.State]
	if status == "" {
		status = "unknown"
	}
	tool := strings.TrimPrefix(a.Op, "tool.")
	o := obj{"id": a.ID, "permission": tool, "tool": tool, "pattern": a.Resource, "status": status, "actionDigest": a.Digest,
		"reason":        a.Reason,
		"requestedAtMs": ms(a.CreatedAt), "expiresAtMs": ms(a.ExpiresAt), "requestedBy": a.Asker}
	if a.Session != "" {
		o["sessionID"] = a.Session
	}
	var in struct{ Args json.RawMessage }
	if json.Unmarshal(a.Input, &in) == nil && len(in.Args) > 0 {
		o["args"] = in.Args
	}
	return o
}

func (q *request) asks(state string) ([]ask, error) {
	var out struct{ Asks []ask }
	err := q.call("approval.list", obj{"state": state, "limit": 500}, &out)
	return out.Asks, err
}

func permissions(q *request) (any, error) {
	list, err := q.asks("all")
	if err != nil {
		return nil, err
	}
	requests := []any{}
	for _, a := range list {
		requests = append(requests, a.record())
	}
	var standing struct{ Rules []rule }
	if err := q.call("approval.rules", obj{}, &standing); err != nil {
		return nil, err
	}
	rules := []any{}
	for _, r := range standing.Rules {
		rules = append(rules, obj{"id": r.ID, "permission": strings.TrimPrefix(r.Op, "tool."), "pattern": r.Pattern, "action": "allow",
			"sessionID": r.Session, "scope": r.Scope,
			"owner": r.Owner, "createdAtMs": ms(r.CreatedAt), "expiresAtMs": ms(r.ExpiresAt)})
	}
	return obj{"requests": requests, "rules": rules, "decisions": []any{}}, nil
}

// rule is a standing answer.
type rule struct {
	ID        string    `json:"id"`
	Scope     string    `json:"scope"`
	Session   string    `json:"session"`
	Op        string    `json:"op"`
	Pattern   string    `json:"pattern"`
	Owner     string    `json:"owner"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

func pending(q *request) (any, error) {
	list, err := q.asks("pending")
	if err != nil {
		return nil, err
	}
	out := []any{}
	for _, a := range list {
		r := a.record()
		r["request_id"], r["source"], r["run_id"], r["requested_at_ms"], r["expires_at_ms"] = a.ID, "session", a.Session, ms(a.CreatedAt),
			ms(a.ExpiresAt)
		r["action_kind"], r["action_preview_markdown"], r["decisions"] = a.Op, a.Reason, []string{"approve", "rework", "cancel"}
		out = append(out, r)
	}
	return obj{"approvals": out, "count": len(out)}, nil
}

// verdicts are the clients' words for an answer.
var verdicts = map[string]string{"once": "approve", "allow": "approve", "approve": "approve", "always": "approve", "reject": "cancel",
	"deny": "cancel", "rework": "rework", "cancel": "cancel"}

func (q *request) decide(word, feedback string) (any, error) {
	v, ok := verdicts[word]
	if !ok {
		return nil, fault.New(fault.Invalid, "permission.reply", "%.40q is not an answer", word).WithNext("answer once, always, reject or rework")
	}
	id := q.PathValue("ask")
	var seen struct {
		Digest string
		Page   struct {
			Digest string
			Of     int
		} `json:"first_page"`
	}
	if err := q.call("approval.get", obj{"id": id}, &seen); err != nil {
		return nil, err
	}
	// The published shape names an ask by its id alone, and permission.asked carried its arguments: where those are one page, that
	// page is what the client was sent. Nobody says yes here to what has more.
	if v == "approve" && seen.Page.Of > 1 {
		return nil, fault.New(fault.Conflict, "permission.reply", "%s has %d pages, which this client does not show", id, seen.Page.Of).
			WithNext("read and answer it in the panel, or with: tandem approvals approve %s", id)
	}
	pages := []string{seen.Page.Digest}
	if word == "always" {
		var out struct{ Rule rule }
		if err := q.call("approval.always", obj{"id": id, "digest": seen.Digest, "pages": pages}, &out); err != nil {
			return nil, err
		}
		return obj{"ok": true, "requestID": id, "reply": word, "status": "applied", "persistedRule": true, "standingRuleID": out.Rule.ID}, nil
	}
	if err := q.call("approval.decide", obj{"id": id, "decision": v, "feedback": feedback, "digest": seen.Digest, "pages": pages},
		nil); err != nil {
		return nil, err
	}
	return obj{"ok": true, "requestID": id, "reply": word, "status": "applied", "persistedRule": false}, nil
}

func reply(q *request) (any, error) {
	word, err := q.text("reply", "decision")
	if err != nil {
		return nil, err
	}
	feedback, err := q.text("feedback", "reason")
	if err != nil {
		return nil, err
	}
	return q.decide(word, feedback)
}

func approve(q *request) (any, error) { return q.decide("once", "") }

func deny(q *request) (any, error) { return q.decide("reject", "") }

// question is what an agent asked.
type question struct {
	ID        string    `json:"id"`
	Session   string    `json:"session"`
	Turn      string    `json:"turn"`
	Call      string    `json:"call"`
	State     string    `json:"state"`
	Answer    string    `json:"answer"`
	CreatedAt time.Time `json:"created_at"`
	Questions []struct {
		Header   string `json:"header"`
		Question string `json:"question"`
		Multiple bool   `json:"multiple"`
		Options  []struct {
			Label       string `json:"label"`
			Description string `json:"description"`
		} `json:"options"`
	} `json:"questions"`
}

func (u question) record() obj {
	choices := []string{}
	text := ""
	if len(u.Questions) > 0 {
		text = u.Questions[0].Question
		for _, o := range u.Questions[0].Options {
			choices = append(choices, o.Label)
		}
	}
	return obj{"id": u.ID, "requestID": u.ID, "text": text, "choices": choices, "status": "pending", "sessionID": u.Session, "runID": u.Turn,
		"questions": u.Questions, "tool": obj{"callID": u.Call}}
}

func questions(q *request) (any, error) {
	var out struct{ Questions []question }
	if err := q.call("question.list", obj{}, &out); err != nil {
		return nil, err
	}
	list := []any{}
	for _, u := range out.Questions {
		list = append(list, u.record())
	}
	return list, nil
}

// answer takes a text, or lists of chosen labels.
func answer(q *request) (any, error) {
	text, err := q.text("answer")
	if err != nil {
		return nil, err
	}
	var lists [][]string
	var parts []string
	if raw := q.body["answers"]; text == "" && len(raw) > 0 {
		if err := q.get(&lists, "answers"); err != nil {
			return nil, err
		}
		for _, l := range lists {
			parts = append(parts, strings.Join(l, ", "))
		}
	}
	err = q.call("question.answer", obj{"id": q.PathValue("question"), "answer": text, "answers": parts}, nil)
	return obj{"ok": err == nil}, err
}

func reject(q *request) (any, error) {
	err := q.call("question.answer", obj{"id": q.PathValue("question"), "reject": true}, nil)
	return obj{"ok": err == nil}, err
}
