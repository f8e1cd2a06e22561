package fault

import (
	"errors"
	"fmt"
	"testing"
)

func TestKindsSurviveTheWire(t *testing.T) {
	for i := range kinds {
		k := Kind(i)
		if got := Parse(k.String()); got != k {
			t.Errorf("Parse(%q) = %v, want %v", k.String(), got, k)
		}
	}
	if Parse("no such kind") != Internal || Kind(200).Status() != 500 {
		t.Error("an unknown kind must be internal")
	}
}

func TestKindOfFindsAWrappedFault(t *testing.T) {
	f := New(Conflict, "board.claim", "T1 is held by %s", "builder")
	if k := KindOf(fmt.Errorf("claim: %w", f)); k != Conflict {
		t.Errorf("kind = %v, want conflict", k)
	}
	if k := KindOf(errors.New("disk on fire")); k != Internal {
		t.Errorf("kind = %v, want internal", k)
	}
}

func TestPublicHidesWhatIsInternal(t *testing.T) {
	p := Public(errors.New("dial tcp 10.1.2.3: secret host"))
	if p.Kind != Internal || p.Msg != "internal error" {
		t.Errorf("public = %+v: an internal cause leaked", p)
	}
	if p := Public(New(Internal, "x", "password is hunter2")); p.Msg != "internal error" {
		t.Errorf("public = %q: an internal sentence leaked", p.Msg)
	}
}

// Errors quoted half a character of a long name.
func TestClipKeepsCharactersWhole(t *testing.T) {
	for text, want := range map[string]string{"": "", "grün": "grün", "grüne": "grü…", "日本語日本語": "日本語…"} {
		if got := Clip(text, 4); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
