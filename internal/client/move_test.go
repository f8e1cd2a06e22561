package client

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func someKey(t *testing.T) (*ecdsa.PrivateKey, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	spki, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return key, FingerprintOf(spki)
}

func TestOnlyTheOldKeyAnnouncesTheNextOne(t *testing.T) {
	first, a := someKey(t)
	second, b := someKey(t)
	third, c := someKey(t)
	stranger, _ := someKey(t)
	move := func(by *ecdsa.PrivateKey, to string) Move {
		m, err := NewMove(by, to, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	whole := []Move{move(first, b), move(second, c)}
	if !Leads(whole, a, c) || !Leads(whole, a, b) || !Leads(whole, b, c) {
		t.Error("announced keys are not followed")
	}
	if Leads(whole, b, a) || Leads(whole, c, a) || Leads(nil, a, b) || Leads(whole[1:], a, c) {
		t.Error("it leads where nobody announced anything")
	}
	forged := move(stranger, b)
	forged.Old = a
	changed := move(first, b)
	changed.New = c
	if Leads([]Move{forged}, a, b) || Leads([]Move{changed}, a, c) || Leads([]Move{move(third, b)}, a, b) {
		t.Error("a forged announcement is followed")
	}
}

func TestAReplacedPinIsRemembered(t *testing.T) {
	pins := OpenPins(filepath.Join(t.TempDir(), "known_servers"))
	for _, err := range []error{pins.Pin("a:1", "SHA256:one"), pins.Pin("b:1", "SHA256:other"), pins.Replace("a:1", "SHA256:two"),
		pins.Replace("a:1", "SHA256:three"), pins.Replace("a:1", "SHA256:three")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	known, _ := pins.Known("a:1")
	other, _ := pins.Known("b:1")
	former, err := pins.Former("a:1")
	if known != "SHA256:three" || other != "SHA256:other" || !slices.Equal(former, []string{"SHA256:two", "SHA256:one"}) || err != nil {
		t.Errorf("known %s, other %s, former %v, %v", known, other, former, err)
	}
}
