package identity

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

var testSite = Site{Host: "tandem.localhost", Origin: "http://tandem.localhost:39731"}

// authenticator is a passkey in software, as far as tests need one.
type authenticator struct {
	key     *ecdsa.PrivateKey
	id      []byte
	counter uint32
	flags   byte // user present and verified, unless a test says otherwise
	origin  string
	host    string
}

func newDevice(t *testing.T) *authenticator {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id := make([]byte, 16)
	rand.Read(id)
	return &authenticator{key: key, id: id, flags: 0x05, origin: testSite.Origin, host: testSite.Host}
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (d *authenticator) clientData(kind, challenge string) []byte {
	data, _ := json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": d.origin, "crossOrigin": false})
	return data
}

func (d *authenticator) authData(attested []byte) []byte {
	sum := sha256.Sum256([]byte(d.host))
	flags := d.flags
	if attested != nil {
		flags |= 0x40
	}
	d.counter++
	return append(binary.BigEndian.AppendUint32(append(sum[:], flags), d.counter), attested...)
}

// create answers a registration with attestation "none".
func (d *authenticator) create(t *testing.T, challenge string) json.RawMessage {
	t.Helper()
	point, err := d.key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	cose := append([]byte{0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32}, point[1:33]...)
	cose = append(append(cose, 0x22, 0x58, 32), point[33:]...)
	attested := append(make([]byte, 16), 0, byte(len(d.id)))
	attested = append(append(attested, d.id...), cose...)
	auth := d.authData(attested)
	object := append([]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58"), byte(len(auth)))
	return answer(t, d.id, map[string]any{"clientDataJSON": b64(d.clientData("webauthn.create", challenge)),
		"attestationObject": b64(append(object, auth...))})
}

// sign answers a question of presence.
func (d *authenticator) sign(t *testing.T, challenge string) []byte {
	t.Helper()
	client, auth := d.clientData("webauthn.get", challenge), d.authData(nil)
	hash := sha256.Sum256(client)
	sum := sha256.Sum256(append(append([]byte{}, auth...), hash[:]...))
	sig, err := ecdsa.SignASN1(rand.Reader, d.key, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return answer(t, d.id, map[string]any{"clientDataJSON": b64(client), "authenticatorData": b64(auth), "signature": b64(sig)})
}

func answer(t *testing.T, id []byte, response map[string]any) json.RawMessage {
	t.Helper()
	data, err := json.Marshal(map[string]any{"id": b64(id), "rawId": b64(id), "type": "public-key", "clientExtensionResults": map[string]any{},
		"response": response})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

type passkeyHouse struct {
	*Room
	now    time.Time
	caller op.Caller
	device *authenticator
}

// openPasskeys is a room whose owner has registered a device.
func openPasskeys(t *testing.T) *passkeyHouse {
	t.Helper()
	h := &passkeyHouse{now: time.Date(2026, 11, 15, 10, 0, 0, 0, time.UTC), device: newDevice(t)}
	ctx := context.Background()
	d, err := db.Open(ctx, filepath.Join(t.TempDir(), "test.db"), func() time.Time { return h.now })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if _, err := d.Migrate(ctx, Migrations); err != nil {
		t.Fatal(err)
	}
	if h.Room, err = New(ctx, d); err != nil {
		t.Fatal(err)
	}
	if h.caller, err = h.Caller(ctx, LocalTenant, Owner, op.DoorPanel); err != nil {
		t.Fatal(err)
	}
	if err := h.register(t, h.device, testSite); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *passkeyHouse) register(t *testing.T, d *authenticator, site Site) error {
	t.Helper()
	ctx := op.WithCaller(context.Background(), h.caller)
	ask, err := h.AskNewPasskey(ctx, site, h.caller)
	if err != nil {
		return err
	}
	in := PasskeyAddIn{Name: "laptop", Site: site, Answer: d.create(t, ask.Response.Challenge.String())}
	return h.db.Write(ctx, func(tx *db.Tx) error { _, err := h.addPasskey(ctx, tx, in); return err })
}

func (h *passkeyHouse) ask(t *testing.T, purpose string) string {
	t.Helper()
	q, err := h.AskPasskey(context.Background(), testSite, h.caller, purpose)
	if err != nil {
		t.Fatal(err)
	}
	return q.Response.Challenge.String()
}

func TestPasskeyProvesOnePurposeOnce(t *testing.T) {
	h, ctx := openPasskeys(t), context.Background()
	prove := func(c op.Caller, purpose string, answer []byte) error {
		return h.ProvePasskey(ctx, testSite, c, purpose, answer)
	}
	good := h.device.sign(t, h.ask(t, "decide ask_1 approve"))
	stranger := h.caller
	stranger.Actor = "act_other"
	for name, err := range map[string]error{
		"another purpose": prove(h.caller, "decide ask_2 approve", good),
		"another person":  prove(stranger, "decide ask_1 approve", good),
		"no answer":       prove(h.caller, "decide ask_1 approve", []byte(`{"id":"x"}`)),
	} {
		if err == nil || fault.KindOf(err) == fault.Internal {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := prove(h.caller, "decide ask_1 approve", good); err != nil {
		t.Fatalf("the right answer was refused: %v", err)
	}
	if err := prove(h.caller, "decide ask_1 approve", good); !fault.Is(err, fault.Denied) {
		t.Errorf("the same answer counted twice: %v", err)
	}
	late := h.device.sign(t, h.ask(t, "late"))
	h.now = h.now.Add(challengeLife + time.Second)
	if err := prove(h.caller, "late", late); !fault.Is(err, fault.Denied) {
		t.Errorf("a late answer counted: %v", err)
	}
}

func TestPasskeyRefusesOtherDevicesAndPlaces(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, d *authenticator){
		"another origin":     func(_ *testing.T, d *authenticator) { d.origin = "http://evil.localhost:39731" },
		"another port":       func(_ *testing.T, d *authenticator) { d.origin = "http://tandem.localhost:8080" },
		"another host":       func(_ *testing.T, d *authenticator) { d.host = "evil.localhost" },
		"owner not verified": func(_ *testing.T, d *authenticator) { d.flags = 0x01 },
		"nobody present":     func(_ *testing.T, d *authenticator) { d.flags = 0x04 },
		"another key":        func(t *testing.T, d *authenticator) { d.key = newDevice(t).key },
		"another device":     func(t *testing.T, d *authenticator) { *d = *newDevice(t) },
		"counts backwards":   func(_ *testing.T, d *authenticator) { d.counter = 0 },
	} {
		h := openPasskeys(t)
		h.device.counter = 7
		if err := h.ProvePasskey(context.Background(), testSite, h.caller, "x", h.device.sign(t, h.ask(t, "x"))); err != nil {
			t.Fatalf("%s: the device was refused before it was spoilt: %v", name, err)
		}
		spoil(t, h.device)
		if err := h.ProvePasskey(context.Background(), testSite, h.caller, "x", h.device.sign(t, h.ask(t, "x"))); !fault.Is(err, fault.Denied) {
			t.Errorf("%s: %v, want denied", name, err)
		}
	}
}

func TestPasskeyRegistration(t *testing.T) {
	h := openPasskeys(t)
	if err := h.register(t, h.device, testSite); err == nil {
		t.Error("one device was registered twice")
	}
	unverified := newDevice(t)
	unverified.flags = 0x01
	if err := h.register(t, unverified, testSite); !fault.Is(err, fault.Denied) {
		t.Errorf("a device that does not verify its owner: %v", err)
	}
	if err := h.register(t, newDevice(t), Site{Host: "127.0.0.1", Origin: "http://127.0.0.1:39731"}); err == nil {
		t.Error("a passkey was registered under an address, where browsers refuse to use it")
	}
	ctx := op.WithCaller(context.Background(), h.caller)
	list, err := h.passkeys(ctx, Nothing{})
	if err != nil || len(list.Passkeys) != 1 || list.Passkeys[0].Name != "laptop" || list.Passkeys[0].Host != "tandem.localhost" {
		t.Fatalf("passkeys = %+v, %v", list, err)
	}
	if err := h.db.Write(ctx, func(tx *db.Tx) error {
		_, err := h.removePasskey(ctx, tx, PasskeyIn{list.Passkeys[0].ID})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.AskPasskey(ctx, testSite, h.caller, "x"); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "no passkey") {
		t.Errorf("a removed passkey is still asked: %v", err)
	}
}

// Somebody who guesses at the PIN may keep a person waiting at a new terminal. A passkey works meanwhile, and ends the wait.
func TestAPasskeyEndsThePause(t *testing.T) {
	h, ctx := openPasskeys(t), context.Background()
	local := op.WithCaller(ctx, op.Caller{Tenant: LocalTenant, Actor: WellKnown(LocalUser), Kind: op.Local})
	if err := h.db.Write(ctx, func(tx *db.Tx) error { _, err := h.setPIN(local, tx, PINIn{PIN: "246813"}); return err }); err != nil {
		t.Fatal(err)
	}
	prove := func(pin string) error { return h.ProvePIN(ctx, LocalTenant, h.caller.Actor, pin, "terminal 1") }
	for range freeTries {
		if err := prove("135791"); !fault.Is(err, fault.Denied) {
			t.Fatalf("a wrong PIN: %v", err)
		}
	}
	err := prove("246813")
	if !fault.Is(err, fault.Exhausted) || !strings.Contains(fault.Public(err).Next, "a passkey works at once") {
		t.Fatalf("the right PIN during the pause: %v", err)
	}
	if err := h.ProvePasskey(ctx, testSite, h.caller, "x", h.device.sign(t, h.ask(t, "x"))); err != nil {
		t.Fatalf("a passkey during the pause: %v", err)
	}
	if err := prove("246813"); err != nil {
		t.Errorf("the pause outlived the passkey: %v", err)
	}
}

// The panel has a name of its own now. A passkey that was made under the old name works there, as the daemon still answers to it, until
// the person has replaced it; under the new one it is no key, and is not asked.
func TestAPasskeyFromBeforeWorksUntilReplaced(t *testing.T) {
	h, ctx := openPasskeys(t), context.Background()
	own := Site{Host: "tandem-k3v9.localhost", Origin: "http://tandem-k3v9.localhost:39731"}
	proves := func(d *authenticator, site Site) error {
		q, err := h.AskPasskey(ctx, site, h.caller, "x")
		if err != nil {
			return err
		}
		return h.ProvePasskey(ctx, site, h.caller, "x", d.sign(t, q.Response.Challenge.String()))
	}
	if err := proves(h.device, testSite); err != nil {
		t.Fatalf("the old one under the old name: %v", err)
	}
	err := proves(h.device, own)
	if !fault.Is(err, fault.Denied) || !strings.Contains(fault.Public(err).Next, "register one in the panel") {
		t.Fatalf("the old one under the new name: %v", err)
	}
	replaced := newDevice(t)
	replaced.host, replaced.origin = own.Host, own.Origin
	if err := h.register(t, replaced, own); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"the new one": proves(replaced, own), "the old one beside it": proves(h.device, testSite)} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := proves(h.device, own); !fault.Is(err, fault.Denied) {
		t.Errorf("the old one answers the new name's question: %v", err)
	}
	as := op.WithCaller(ctx, h.caller)
	list, err := h.passkeys(as, Nothing{})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range list.Passkeys {
		if k.Host != testSite.Host {
			continue
		}
		if err := h.db.Write(as, func(tx *db.Tx) error { _, err := h.removePasskey(as, tx, PasskeyIn{k.ID}); return err }); err != nil {
			t.Fatal(err)
		}
	}
	if err := proves(h.device, testSite); !fault.Is(err, fault.Denied) {
		t.Errorf("the old one after it was replaced: %v", err)
	}
	if err := proves(replaced, own); err != nil {
		t.Errorf("the new one alone: %v", err)
	}
}
