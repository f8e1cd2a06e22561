package daemon

import (
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// asks has an agent make a call that waits, and gives the ask as it stands.
func (w *ward) asks(key string) *approval.Ask {
	w.t.Helper()
	if err := w.puts(key); !fault.Is(err, fault.Pending) {
		w.t.Fatalf("%s: %v", key, err)
	}
	var list approval.ListOut
	w.present("approval.list", nil, &list)
	for _, a := range list.Asks {
		if a.Resource == "resource:/"+key {
			var whole approval.Ask
			w.present("approval.get", map[string]any{"id": a.ID}, &whole)
			return &whole
		}
	}
	w.t.Fatalf("no ask about %s: %v", key, list.Asks)
	return nil
}

func (w *ward) puts(key string) error {
	w.t.Helper()
	c, err := w.identity.Caller(w.t.Context(), "local", "builder", op.DoorHTTP)
	w.must(err)
	_, err = w.gate.Invoke(op.WithCaller(w.t.Context(), c), "resource.put", map[string]any{"key": key, "value": 1})
	return err
}

// sees is an ask as the panel gets it for a person.
func (l *laptop) sees(id string) *approval.Ask {
	l.w.t.Helper()
	c, err := l.w.identity.Caller(l.w.t.Context(), "local", l.of.Person, op.DoorPanel)
	l.w.must(err)
	a, err := op.Do(op.WithCaller(l.w.t.Context(), c), l.w.gate, approval.AskGet, approval.IDIn{ID: id})
	l.w.must(err)
	return a
}

func approves(a *approval.Ask) map[string]any {
	return map[string]any{"id": a.ID, "decision": "approve", "digest": a.Digest, "pages": a.PageDigests()}
}

// Whoever was a person answered every ask. A rule says who answers which, by person and by group; that two people have to; how they show
// that they are here; and somebody stands in for who is away. Every door decides by one rule, and a row in the database decides nothing.
func TestWhoAnswersWhat(t *testing.T) {
	wards(t, func(w *ward) {
		anna, ben := w.laptop("anna"), w.laptop("ben")
		w.present("actor.add", map[string]any{"name": "builder", "kind": "agent"}, nil)
		w.must(w.presents("group.add", map[string]any{"name": "seniors", "members": []string{"anna"}}))
		w.must(w.presents("group.add", map[string]any{"name": "reviewers", "members": []string{"group:seniors"}}))
		w.must(w.presents("group.add", map[string]any{"name": "pair", "members": []string{"anna", "owner"}}))
		w.refused("a rule names nobody's group", w.presents("policy.edit", map[string]any{
			"rules": `@ask @approvers("group:nobody") forbid (principal, action, resource in Resource::"/x");`}), fault.NotFound)
		w.must(w.presents("policy.edit", map[string]any{"rules": `
@id("reviewed") @ask @approvers("group:reviewers") forbid (principal is Agent, action == Action::"edit", resource in Resource::"/src");
@id("two") @ask @critical forbid (principal is Agent, action == Action::"edit", resource in Resource::"/prod");
@id("pair") @ask @critical @approvers("group:pair") forbid (principal is Agent, action == Action::"edit", resource in Resource::"/pair");
@id("key") @ask @presence("passkey") forbid (principal is Agent, action == Action::"edit", resource in Resource::"/keys");
@id("else") @ask @others forbid (principal is Local, action == Action::"edit", resource in Resource::"/shared");`}))

		// By a group, through another one; by nobody else, and by whoever is put into it at once.
		a := w.asks("src/a")
		w.refused("not in the group", w.presents("approval.decide", approves(a)), fault.Denied)
		_, err := ben.does("approval.decide", approves(a))
		w.refused("not in the group either", err, fault.Denied)
		if a.MayNot == "" || a.Answerers() != "anybody in group:reviewers" {
			t.Errorf("the ask says %q to who may not, and %q", a.MayNot, a.Answerers())
		}
		_, err = anna.does("approval.decide", approves(a))
		w.refused("in the group", err)
		w.refused("what she approved", w.puts("src/a"))

		// Somebody stands in for who is away, until they are back.
		a = w.asks("src/b")
		_, err = ben.does("person.away", map[string]any{"person": "anna", "stand_in": "ben", "expires_in_secs": 3600})
		w.refused("ben has himself stand in for her", err, fault.Denied)
		_, err = anna.does("person.away", map[string]any{"stand_in": "ben", "expires_in_secs": 3600})
		w.refused("anna is away", err)
		_, err = ben.does("approval.always", map[string]any{"id": a.ID, "digest": a.Digest, "pages": a.PageDigests()})
		if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "ben stands in for anna") {
			t.Errorf("ben answers for ever in her stead: %v", err)
		}
		_, err = ben.does("approval.decide", approves(a))
		w.refused("ben stands in", err)
		w.refused("what he approved", w.puts("src/b"))
		_, err = anna.does("person.back", map[string]any{})
		w.refused("anna is back", err)
		a = w.asks("src/c")
		_, err = ben.does("approval.decide", approves(a))
		w.refused("ben stands in no more", err, fault.Denied)

		// Two people, who are different ones: who stands in for one of them is no other.
		a = w.asks("pair/a")
		_, err = anna.does("approval.decide", approves(a))
		w.refused("the first of the pair", err)
		_, err = anna.does("person.away", map[string]any{"stand_in": "ben", "expires_in_secs": 3600})
		w.refused("anna is away again", err)
		_, err = ben.does("approval.decide", approves(a))
		w.refused("ben, as the one who agreed", err, fault.Denied)
		w.must(w.presents("approval.decide", approves(a)))
		w.refused("what the pair approved", w.puts("pair/a"))
		_, err = anna.does("person.back", map[string]any{})
		w.refused("anna is back again", err)

		a = w.asks("prod/a")
		_, err = anna.does("approval.decide", approves(a))
		w.refused("the first of two", err)
		w.refused("with one of two", w.puts("prod/a"), fault.Pending)
		if seen := anna.sees(a.ID); seen.MayNot == "" || !seen.MayDeny {
			t.Errorf("who agreed is told %q, and may say no: %v", seen.MayNot, seen.MayDeny)
		}
		_, err = anna.does("approval.decide", approves(a))
		w.refused("the same again", err, fault.Denied)
		_, err = anna.does("approval.decide_several", map[string]any{"asks": []any{map[string]any{"id": a.ID, "digest": a.Digest,
			"pages": a.PageDigests()}}, "decision": "approve"})
		w.refused("the same by another operation", err, fault.Denied)
		_, err = ben.does("approval.always", map[string]any{"id": a.ID, "digest": a.Digest, "pages": a.PageDigests()})
		w.refused("for ever", err, fault.Conflict)
		w.must(w.presents("approval.decide", approves(a)))
		w.refused("what two approved", w.puts("prod/a"))

		// A first answer that somebody wrote into the database is nobody's, and neither is a rule that they took out of the ask.
		a = w.asks("prod/b")
		w.sql(`UPDATE approval SET answers = '[{"by":"ben","present":"pin","at":"2026-01-01T00:00:00Z"}]' WHERE id = '` + a.ID + `'`)
		_, err = anna.does("approval.decide", approves(a))
		w.refused("beside an answer that nobody gave", err, fault.Denied)
		w.sql(`UPDATE approval SET answers = '', needs = '' WHERE id = '` + a.ID + `'`)
		_, err = anna.does("approval.decide", approves(a))
		w.refused("one of one, in the database", err)
		w.refused("with half of what the policy wants", w.puts("prod/b"), fault.Denied)

		// A way to be here that the rule wants.
		a = w.asks("keys/a")
		w.refused("by PIN where a passkey is wanted", w.presents("approval.decide", approves(a)), fault.Denied)
		_, err = anna.does("approval.decide", approves(a))
		w.refused("by device where a passkey is wanted", err, fault.Denied)
		w.refused("a no needs none", w.presents("approval.decide", map[string]any{"id": a.ID, "decision": "cancel"}))
		w.sound("after all that")
	})
}

// The first of two answers was called forged once the server had started anew, and neither a yes nor a no was taken any more.
func TestTheFirstOfTwoAnswersOutlivesAStart(t *testing.T) {
	wards(t, func(w *ward) {
		anna, ben := w.laptop("anna"), w.laptop("ben")
		w.present("actor.add", map[string]any{"name": "builder", "kind": "agent"}, nil)
		w.must(w.presents("policy.edit", map[string]any{"rules": `
@id("two") @ask @critical forbid (principal is Agent, action == Action::"edit", resource in Resource::"/prod");`}))
		yes, no, forged := w.asks("prod/a"), w.asks("prod/b"), w.asks("prod/c")
		for _, a := range []*approval.Ask{yes, no} {
			_, err := ben.does("approval.decide", approves(a))
			w.refused("the first of two", err)
		}
		w.again(`UPDATE approval SET answers = '[{"by":"ben","present":"pin","at":"2026-01-01T00:00:00Z"}]' WHERE id = '` + forged.ID + `'`)
		_, err := anna.does("approval.decide", approves(yes))
		w.refused("the second, after a start", err)
		w.refused("what two approved", w.puts("prod/a"))
		_, err = anna.does("approval.decide", map[string]any{"id": no.ID, "decision": "cancel"})
		w.refused("a no, after a start", err)
		_, err = anna.does("approval.decide", approves(forged))
		w.refused("a yes beside one that nobody gave", err, fault.Denied)
		_, err = anna.does("approval.decide", map[string]any{"id": forged.ID, "decision": "cancel"})
		w.refused("a no beside one that nobody gave", err)
		w.sound("after all that")
	})
}

// Who was removed went on answering: by who stood in for them, and as the first of two.
func TestWhoWasRemovedAnswersNothing(t *testing.T) {
	wards(t, func(w *ward) {
		anna, ben := w.laptop("anna"), w.laptop("ben")
		w.present("actor.add", map[string]any{"name": "builder", "kind": "agent"}, nil)
		w.must(w.presents("group.add", map[string]any{"name": "seniors", "members": []string{"anna", "owner"}}))
		w.must(w.presents("policy.edit", map[string]any{"rules": `
@id("reviewed") @ask @approvers("group:seniors") forbid (principal is Agent, action == Action::"edit", resource in Resource::"/src");
@id("two") @ask @critical forbid (principal is Agent, action == Action::"edit", resource in Resource::"/prod");`}))
		_, err := anna.does("person.away", map[string]any{"stand_in": "ben", "expires_in_secs": 3600})
		w.refused("anna is away", err)
		src, prod, both := w.asks("src/a"), w.asks("prod/a"), w.asks("prod/b")
		for _, a := range []*approval.Ask{prod, both} {
			_, err = anna.does("approval.decide", approves(a))
			w.refused("anna, the first of two", err)
		}
		_, err = ben.does("approval.decide", approves(both))
		w.refused("ben, the second", err)
		w.must(w.presents("person.remove", map[string]any{"name": "anna"}))
		_, err = ben.does("approval.decide", approves(src))
		w.refused("ben stands in for nobody who is here", err, fault.Denied)
		w.refused("what she approved with ben", w.puts("prod/b"), fault.Denied)
		_, err = ben.does("approval.decide", approves(prod))
		w.refused("ben, beside who is gone", err)
		w.refused("with one who is here", w.puts("prod/a"), fault.Pending)
		w.must(w.presents("approval.decide", approves(prod)))
		w.refused("with two who are here", w.puts("prod/a"))
	})
}
