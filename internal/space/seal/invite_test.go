package seal

import (
	"errors"
	"testing"
)

func run(t *testing.T, joiner, inviter string, alter func(ya, yb *[]byte)) (a, b *Handshake, err error) {
	t.Helper()
	ch := Invite{Plate: "VP"}.Channel()
	a, err = StartHandshake([]byte(joiner), ch, []byte("joiner card"))
	if err != nil {
		t.Fatal(err)
	}
	ya := a.Message()
	var none []byte
	if alter != nil {
		alter(&ya, &none)
	}
	b, err = AnswerHandshake([]byte(inviter), ch, a.SessionID(), []byte("inviter card"), ya, []byte("joiner card"))
	if err != nil {
		return a, b, err
	}
	yb := b.Message()
	if alter != nil {
		alter(&none, &yb)
	}
	return a, b, a.Finish(yb, []byte("inviter card"))
}

func TestHandshakeAgrees(t *testing.T) {
	a, b, err := run(t, "A6KW", "A6KW", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Confirm(a.Tag()); err != nil {
		t.Fatal(err)
	}
	if err := a.Confirm(b.Tag()); err != nil {
		t.Fatal(err)
	}
	ka, errA := a.Key()
	kb, errB := b.Key()
	if errA != nil || errB != nil || string(ka) != string(kb) {
		t.Fatalf("keys differ: %v %v", errA, errB)
	}
}

func TestHandshakeRefuses(t *testing.T) {
	a, b, err := run(t, "A6KX", "A6KW", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Confirm(a.Tag()); !errors.Is(err, ErrRefused) {
		t.Fatalf("a wrong code was confirmed: %v", err)
	}
	if err := a.Confirm(b.Tag()); !errors.Is(err, ErrRefused) {
		t.Fatalf("a wrong code was confirmed: %v", err)
	}
	if err := b.Confirm(b.Tag()); !errors.Is(err, ErrRefused) {
		t.Fatalf("a reflected tag was confirmed: %v", err)
	}
	neutral := make([]byte, 32)
	if _, _, err := run(t, "A6KW", "A6KW", func(ya, yb *[]byte) { *ya = neutral }); !errors.Is(err, ErrRefused) {
		t.Fatalf("neutral element accepted: %v", err)
	}
	garbage := make([]byte, 32)
	garbage[0], garbage[31] = 0xff, 0xff
	if _, _, err := run(t, "A6KW", "A6KW", func(ya, yb *[]byte) { *yb = garbage }); !errors.Is(err, ErrRefused) {
		t.Fatalf("a string that is no element was accepted: %v", err)
	}
}

// What a host or a recording holds after a successful join (both public values,
// session id, both tags) does not single out the code: without a private scalar
// no candidate can be turned into the key, so every one of them fails alike.
func TestARecordingCannotTestGuesses(t *testing.T) {
	a, b, err := run(t, "A6KW", "A6KW", nil)
	if err != nil {
		t.Fatal(err)
	}
	hits := 0
	for i := 0; i < 200; i++ {
		guess := []byte{'A', '6', 'K', codeAlphabet[i%32]}
		// the best a recording can do is play one side anew and compare tags
		mine, err := newHandshake(guess, Invite{Plate: "VP"}.Channel(), a.SessionID(), []byte("joiner card"), mustScalar(t), true)
		if err != nil {
			t.Fatal(err)
		}
		if err := mine.Finish(b.Message(), []byte("inviter card")); err != nil {
			t.Fatal(err)
		}
		if mine.Confirm(b.Tag()) == nil || b.Confirm(mine.Tag()) == nil {
			hits++
		}
	}
	if hits != 0 {
		t.Fatalf("%d guesses were confirmed against a recording", hits)
	}
}

func TestInvitesRoundTrip(t *testing.T) {
	code, err := NewCode()
	if err != nil {
		t.Fatal(err)
	}
	link, err := NewLink(code.Plate, "127.0.0.1:39731", "ab12")
	if err != nil {
		t.Fatal(err)
	}
	hosted := code
	hosted.Host = "box.example:443"
	for _, in := range []Invite{code, link, hosted} {
		got, err := ParseInvite(in.String())
		if err != nil || got != in {
			t.Errorf("%s: %+v, %v", in, got, err)
		}
	}
	if got, err := ParseInvite(" vpa-6kw@Host "); err != nil || got != (Invite{Plate: "VP", Secret: "A6KW", Host: "Host"}) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", "VPA6K", "VPA6KW7", "VPA0KW", "VPA6KW@", "VPA6KW@a b", "VPA6KW@http://x", "tandem-join:",
		"tandem-join:e30"} {
		if _, err := ParseInvite(bad); !errors.Is(err, ErrRefused) {
			t.Errorf("%q accepted", bad)
		}
	}
}
