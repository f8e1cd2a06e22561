package device

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"testing"
)

// fresh is a key under a PIN.
func fresh(of Of, pin string) (Sealed, ed25519.PublicKey, error) {
	public, private, err := Make()
	if err != nil {
		return Sealed{}, nil, err
	}
	s, err := Seal(of, pin, private)
	return s, public, err
}

var anna = Of{Server: "ins_1", Person: "anna", Device: "dev_1"}

// Every file and no PIN: nothing of what is kept opens the key, and no other PIN, person, server or device does.
func TestOnlyThePINOpensTheKey(t *testing.T) {
	s, public, err := fresh(anna, "271828")
	if err != nil {
		t.Fatal(err)
	}
	kept, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	private, err := s.Open(anna, "271828")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(s.Box, private.Seed()) || bytes.Contains(kept, []byte("271828")) {
		t.Error("what is kept holds the key or the PIN")
	}
	for what, try := range map[string]func() error{
		"no PIN":               func() error { _, err := s.Open(anna, ""); return err },
		"a wrong PIN":          func() error { _, err := s.Open(anna, "271829"); return err },
		"another person":       func() error { _, err := s.Open(Of{"ins_1", "bob", "dev_1"}, "271828"); return err },
		"another server":       func() error { _, err := s.Open(Of{"ins_2", "anna", "dev_1"}, "271828"); return err },
		"another device":       func() error { _, err := s.Open(Of{"ins_1", "anna", "dev_2"}, "271828"); return err },
		"an old PIN to change": func() error { _, err := s.Change(anna, "314159", "271828"); return err },
	} {
		if err := try(); !errors.Is(err, ErrPIN) {
			t.Errorf("%s: %v", what, err)
		}
	}
	other, err := s.Change(anna, "271828", "314159")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Open(anna, "271828"); !errors.Is(err, ErrPIN) {
		t.Errorf("the old PIN after the change: %v", err)
	}
	a := Act{Of: anna, Operation: "approval.decide", Nonce: "n1", Input: []byte(`{"id":"ask_1"}`)}
	signature, err := other.Sign(a, "314159")
	if err != nil || !a.Signed(public, signature) {
		t.Errorf("signed under the new PIN: %v", err)
	}
}

// A signature answers for one act: whatever is another, it does not answer for.
func TestASignatureIsForOneAct(t *testing.T) {
	s, public, err := fresh(anna, "271828")
	if err != nil {
		t.Fatal(err)
	}
	a := Act{Of: anna, Operation: "approval.decide", Nonce: "n1", Input: []byte(`{"id":"ask_1"}`)}
	signature, err := s.Sign(a, "271828")
	if err != nil || !a.Signed(public, signature) {
		t.Fatalf("signed: %v", err)
	}
	for what, change := range map[string]func(*Act){
		"server":                   func(b *Act) { b.Server = "ins_2" },
		"person":                   func(b *Act) { b.Person = "owner" },
		"device":                   func(b *Act) { b.Device = "dev_2" },
		"operation":                func(b *Act) { b.Operation = "token.new" },
		"nonce":                    func(b *Act) { b.Nonce = "n2" },
		"input":                    func(b *Act) { b.Input = []byte(`{"id":"ask_2"}`) },
		"fields that run together": func(b *Act) { b.Person, b.Device = "anna\"\n\"dev_1", "" },
	} {
		b := a
		if change(&b); b.Signed(public, signature) {
			t.Errorf("it answers for another %s", what)
		}
	}
	if a.Signed(nil, signature) || a.Signed(public, nil) {
		t.Error("without a key, or without a signature")
	}
}

// A file that somebody changed takes no more of the machine than is bounded.
func TestACostIsBounded(t *testing.T) {
	for _, s := range []Sealed{{}, {Passes: 1, Memory: 1 << 31, Threads: 1, Nonce: make([]byte, 12)},
		{Passes: 1 << 30, Memory: 64, Threads: 1, Nonce: make([]byte, 12)}, {Passes: 1, Memory: 64, Threads: 1, Nonce: make([]byte, 3)}} {
		if _, err := s.Open(anna, "271828"); err == nil || errors.Is(err, ErrPIN) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
