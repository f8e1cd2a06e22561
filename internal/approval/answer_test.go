package approval

import (
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
)

// by is a person who answers in some way; without one, by a token that decides for them.
func by(name, present string) op.Caller {
	c := person(name)
	c.Present, c.Decides = present, present == ""
	return c
}

// What a rule wants beside a name: a second person, a way to be here, somebody else than whose terminal asks.
func TestWhatAnAnswerNeeds(t *testing.T) {
	named := func(approvers []string, who string) ([]string, bool) {
		if who == "stand-in" || who == "second" {
			return []string{"ann"}, true
		}
		if who == "owens" {
			return []string{"owen"}, true
		}
		if who == "of-both" {
			return []string{"owen", "ann"}, true
		}
		return byName(approvers, who)
	}
	for _, x := range []struct {
		name  string
		needs Needs
		by    []op.Caller
		state State // after the last answer; "" is refused
	}{
		{"one person", Needs{}, []op.Caller{by("ann", "pin")}, Approved},
		{"one of two", Needs{Two: true}, []op.Caller{by("ann", "pin")}, Pending},
		{"two people", Needs{Two: true}, []op.Caller{by("ann", "pin"), by("bob", "device")}, Approved},
		{"one person twice", Needs{Two: true}, []op.Caller{by("ann", "pin"), by("ann", "passkey")}, ""},
		{"a token first", Needs{Two: true}, []op.Caller{by("ann", ""), by("bob", "pin")}, Approved},
		{"a token second", Needs{Two: true}, []op.Caller{by("ann", "pin"), by("bob", "")}, ""},
		{"a person and their token", Needs{Two: true}, []op.Caller{by("ann", ""), by("ann", "pin")}, ""},
		{"a passkey", Needs{Presence: []string{"passkey"}}, []op.Caller{by("ann", "passkey")}, Approved},
		{"a PIN for a passkey", Needs{Presence: []string{"passkey"}}, []op.Caller{by("ann", "pin")}, ""},
		{"a token for a passkey", Needs{Presence: []string{"passkey"}}, []op.Caller{by("ann", "")}, ""},
		{"their own", Needs{}, []op.Caller{by("owen", "pin")}, Approved},
		{"their own, where somebody else has to", Needs{Others: true}, []op.Caller{by("owen", "pin")}, ""},
		{"somebody else", Needs{Others: true}, []op.Caller{by("ann", "pin")}, Approved},
		{"their own and another's", Needs{Two: true}, []op.Caller{by("owen", "pin"), by("ann", "pin")}, Approved},
		{"nobody whom it names", Needs{}, []op.Caller{by("mallory", "pin")}, ""},
		{"who stands in", Needs{}, []op.Caller{by("stand-in", "pin")}, Approved},
		{"who is away, and who stands in", Needs{Two: true}, []op.Caller{by("ann", "pin"), by("stand-in", "pin")}, ""},
		{"who stands in, and who is back", Needs{Two: true}, []op.Caller{by("stand-in", "pin"), by("ann", "pin")}, ""},
		{"two who stand in for one", Needs{Two: true}, []op.Caller{by("stand-in", "pin"), by("second", "pin")}, ""},
		{"who stands in, and another", Needs{Two: true}, []op.Caller{by("stand-in", "pin"), by("bob", "pin")}, Approved},
		{"who stands in for two, and one of them", Needs{Two: true}, []op.Caller{by("ann", "pin"), by("of-both", "pin")}, Approved},
		{"who stands in for whose it is", Needs{Others: true}, []op.Caller{by("owens", "pin")}, ""},
		{"who stands in for two, where one asks", Needs{Others: true}, []op.Caller{by("of-both", "pin")}, Approved},
	} {
		t.Run(x.name, func(t *testing.T) {
			a := &Ask{ID: "ask_1", State: Pending, Op: "file.edit", Digest: "d", AskerID: "act_x", AskerKind: op.Local, For: []string{"person:owen"},
				Approvers: []string{"person:ann", "person:bob", "person:owen"}, Needs: x.needs, ExpiresAt: noon.Add(time.Hour)}
			var err error
			for i, c := range x.by {
				next, refused := a.Decide(c, DecideIn{Verdict: Approve, Digest: "d", Pages: a.PageDigests()}, noon, named)
				if err = refused; err != nil && i < len(x.by)-1 {
					t.Fatal(err)
				}
				if err == nil {
					a = next
				}
			}
			if x.state == "" && !fault.Is(err, fault.Denied) || x.state != "" && (err != nil || a.State != x.state) {
				t.Fatalf("%s, %v; want %q", a.State, err, x.state)
			}
			if x.state == Approved && a.Answers[0].Confirms != (a.Answers[0].By == "owen") {
				t.Errorf("it is recorded as %+v", a.Answers)
			}
		})
	}
}

// For whom it is asked is what the call says: nothing vouches for what stands about it in the row.
func TestOthersGoesByTheCall(t *testing.T) {
	a := &Ask{ID: "ask_1", State: Approved, DecidedBy: "owen", Answers: []Answer{{By: "owen", Present: "pin"}}}
	c := Call{Caller: op.Caller{For: []string{"person:owen"}}, Approvers: []string{"person:*"}, Needs: Needs{Others: true}}
	if lacks, err := New(nil, ByName).Suffices(t.Context(), nil, a, c); err != nil || lacks == "" {
		t.Errorf("owen's own yes counts where the row does not say whose it is: %q %v", lacks, err)
	}
}
