package approval

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
)

// A call over 64 KiB was shown as its first thousand bytes and could be approved: what stood at its end ran unseen. Now an ask
// holds its call whole, what is too long to look at is refused unasked, and an approval names what was looked at.
func TestNothingIsApprovedUnseen(t *testing.T) {
	exam(t, func(b *bench) {
		long := edit(agent("builder"), strings.Repeat("A", 100<<10)+"; touch PWNED")
		a, _ := b.file(long)
		got, err := b.get(as(t.Context(), person("ann")), IDIn{a.ID})
		if err != nil || !strings.Contains(string(got.Input), "; touch PWNED") || got.Cut {
			t.Fatalf("the end of %d bytes is not shown: %v", len(got.Input), err)
		}
		if _, err := b.answer(person("ann"), DecideIn{ID: a.ID, Verdict: Approve}); !fault.Is(err, fault.Invalid) {
			t.Errorf("approved without a word of what was looked at: %v", err)
		}
		all := got.PageDigests()
		for name, pages := range map[string][]string{"no page": nil, "its first page": all[:1], "all but the last": all[:len(all)-1],
			"one twice": append([]string{all[0]}, all[:len(all)-1]...)} {
			if _, err := b.answer(person("ann"), DecideIn{ID: a.ID, Verdict: Approve, Digest: got.Digest, Pages: pages}); !fault.Is(err,
				fault.Invalid) {
				t.Errorf("approved after a look at %s: %v", name, err)
			}
		}
		other, _ := b.file(edit(agent("builder"), "something else"))
		if _, err := b.answer(person("ann"), DecideIn{ID: a.ID, Verdict: Approve, Digest: got.Digest, Pages: other.PageDigests()}); !fault.Is(err,
			fault.Conflict) {
			t.Errorf("approved after a look at another ask: %v", err)
		}
		var text strings.Builder
		for i := range all {
			p, err := b.page(as(t.Context(), person("ann")), PageIn{a.ID, i + 1})
			if err != nil || p.Digest != all[i] || p.Of != len(all) {
				t.Fatalf("page %d: %+v %v", i+1, p, err)
			}
			for _, x := range p.Pieces {
				text.WriteString(x.Text)
			}
		}
		if len(all) < 8 || !strings.Contains(text.String(), strings.Repeat("A", 100<<10)+"; touch PWNED") {
			t.Errorf("%d pages do not hold the call whole", len(all))
		}
		if _, err := b.answer(person("ann"), DecideIn{ID: a.ID, Verdict: Approve, Digest: got.Digest, Pages: all}); err != nil {
			t.Error(err)
		}
		for name, c := range map[string]Call{
			"a huge call": edit(agent("builder"), strings.Repeat("B", MaxShown)),
			"a long line": {Caller: agent("builder"), Op: "tool.bash", Resource: "tool:/bash", Digest: "d",
				Command: strings.Repeat("x", MaxCommand+1), Approvers: []string{"person:*"}},
		} {
			if err := c.showable(); !fault.Is(err, fault.Invalid) {
				t.Errorf("%s is asked about: %v", name, err)
			}
		}
	})
	old := &Ask{ID: "ask_1", State: Pending, Digest: "d", AskerID: "act_builder", Approvers: []string{"person:*"},
		ExpiresAt: time.Now().Add(time.Hour),
		Input:     json.RawMessage(`{"begins":"echo AAAA","bytes":70000,"too_large_to_show":true}`)}
	ann := op.Caller{Tenant: "local", Actor: "act_ann", Name: "ann", Kind: op.Person, Present: "pin"}
	if _, err := old.Decide(ann, DecideIn{Verdict: Approve, Digest: "d", Pages: old.PageDigests()}, time.Now(), byName); !fault.Is(err,
		fault.Conflict) {
		t.Errorf("an ask of which only the beginning was kept is approved: %v", err)
	}
	if _, err := old.Decide(ann, DecideIn{Verdict: Cancel}, time.Now(), byName); err != nil {
		t.Errorf("it cannot be refused either: %v", err)
	}
}

// One huge ask slows no list down: a list carries a line of it.
func TestAListCarriesALineOfAnAsk(t *testing.T) {
	exam(t, func(b *bench) {
		c := edit(agent("builder"), "x")
		c.Input = json.RawMessage(`{"args":{"command":"` + strings.Repeat("A", 60<<10) + `"}}`)
		b.file(c)
		out, err := b.list(as(t.Context(), person("ann")), ListIn{})
		if err != nil || len(out.Asks) != 1 {
			t.Fatal(err)
		}
		a := out.Asks[0]
		if !a.Cut || len(a.Input) > 100 || len(a.Title) > 200 || !strings.HasPrefix(a.Title, "AAAA") ||
			!strings.Contains(a.Title, "(61440 characters)") {
			t.Errorf("cut %v, %d bytes, title %q", a.Cut, len(a.Input), a.Title)
		}
	})
}
