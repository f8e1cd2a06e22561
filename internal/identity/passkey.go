package identity

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// Passkey is a person's key in a device, as it may be listed.
type Passkey struct {
	ID        string     `json:"id"`
	Actor     string     `json:"actor" jsonschema:"the name of the person"`
	Name      string     `json:"name"`
	Host      string     `json:"host" jsonschema:"the panel's name under which it works"`
	CreatedAt time.Time  `json:"created_at"`
	UsedAt    *time.Time `json:"used_at,omitempty"`
}

// challengeLife is how long a person may take to reach for their device.
const challengeLife = 3 * time.Minute

// person is an actor in the eyes of the WebAuthn library.
type person struct {
	id, name string
	keys     []webauthn.Credential
}

func (p *person) WebAuthnID() []byte                         { return []byte(p.id) }
func (p *person) WebAuthnName() string                       { return p.name }
func (p *person) WebAuthnDisplayName() string                { return p.name + " (tandem)" }
func (p *person) WebAuthnCredentials() []webauthn.Credential { return p.keys }

// party is the panel in the eyes of the WebAuthn library. The device must
// verify its owner: a touch alone would not say whose.
func party(s Site) (*webauthn.WebAuthn, error) {
	w, err := webauthn.New(&webauthn.Config{
		RPID: s.Host, RPDisplayName: "tandem", RPOrigins: []string{s.Origin},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{ResidentKey: protocol.ResidentKeyRequirementPreferred,
			UserVerification: protocol.VerificationRequired},
	})
	if err != nil {
		return nil, fault.New(fault.Invalid, "passkey", "passkeys do not work under %s: %w", s.Host, err).
			WithNext("open the panel under http://tandem.localhost")
	}
	return w, nil
}

type querier interface {
	Query(query string, args ...any) (*sql.Rows, error)
}

// loadPerson is the caller with those of their keys that the journal knows.
func (r *Room) loadPerson(ctx context.Context, tx querier, c op.Caller, host string) (*person, error) {
	p := &person{c.Actor, c.Name, nil}
	rows, err := tx.Query("SELECT id, credential FROM passkey WHERE tenant = ? AND actor = ? AND host = ? ORDER BY created_at", c.Tenant,
		c.Actor, host)
	_, err = db.Collect(rows, err, func(rows *sql.Rows) (none struct{}, err error) {
		var id, text string
		var k webauthn.Credential
		if err := rows.Scan(&id, &text); err != nil {
			return none, err
		}
		if err := json.Unmarshal([]byte(text), &k); err != nil {
			return none, err
		}
		if r.Vouch.Holds(ctx, passkeySeal(c.Tenant, id, c.Actor, host, &k)) {
			p.keys = append(p.keys, k)
		}
		return none, nil
	})
	return p, err
}

// keepChallenge stores what a device is asked, for one answer to one purpose.
func keepChallenge(tx *db.Tx, c op.Caller, purpose string, s *webauthn.SessionData) error {
	if _, err := tx.Exec("DELETE FROM passkey_challenge WHERE expires_at <= ?", tx.Now()); err != nil {
		return err
	}
	session, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = tx.Exec("INSERT INTO passkey_challenge (hash, tenant, actor, purpose, session, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
		hashOf(s.Challenge), c.Tenant, c.Actor, purpose, string(session), tx.Now().Add(challengeLife))
	return err
}

// takeChallenge finds the question behind an answer and forgets it: an answer
// counts once, and only for the purpose it was asked for.
func takeChallenge(tx *db.Tx, c op.Caller, purpose, challenge string) (webauthn.SessionData, error) {
	var session string
	var s webauthn.SessionData
	err := tx.QueryRow("DELETE FROM passkey_challenge WHERE hash = ? AND tenant = ? AND actor = ? AND purpose = ? AND "+
		"expires_at > ? RETURNING session",
		hashOf(challenge), c.Tenant, c.Actor, purpose, tx.Now()).Scan(&session)
	if db.NoRows(err) {
		return s, fault.New(fault.Denied, "presence", "the passkey answered another question, or too late").WithNext("try again")
	}
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal([]byte(session), &s)
}

// AskPasskey makes the question that a device must answer to show that the
// caller is present, for exactly this purpose.
func (r *Room) AskPasskey(ctx context.Context, site Site, c op.Caller, purpose string) (*protocol.CredentialAssertion, error) {
	w, err := party(site)
	if err != nil {
		return nil, err
	}
	var out *protocol.CredentialAssertion
	err = r.db.Write(ctx, func(tx *db.Tx) error {
		p, err := r.loadPerson(ctx, tx, c, site.Host)
		if err != nil {
			return err
		}
		if len(p.keys) == 0 {
			return fault.New(fault.Denied, "presence", "no passkey is registered under %s", site.Host).
				WithNext("register one in the panel under System, or use the PIN")
		}
		var s *webauthn.SessionData
		if out, s, err = w.BeginLogin(p, webauthn.WithUserVerification(protocol.VerificationRequired)); err != nil {
			return fmt.Errorf("begin a passkey question: %w", err)
		}
		return keepChallenge(tx, c, purpose, s)
	})
	return out, err
}

// ProvePasskey checks a device's answer. nil means that the caller is present,
// for this purpose and this once.
func (r *Room) ProvePasskey(ctx context.Context, site Site, c op.Caller, purpose string, answer []byte) error {
	w, err := party(site)
	if err != nil {
		return err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return fault.New(fault.Invalid, "presence", "that is not a passkey's answer")
	}
	return r.db.Write(ctx, func(tx *db.Tx) error {
		s, err := takeChallenge(tx, c, purpose, parsed.Response.CollectedClientData.Challenge)
		if err != nil {
			return err
		}
		p, err := r.loadPerson(ctx, tx, c, site.Host)
		if err != nil {
			return err
		}
		k, err := w.ValidateLogin(p, s, parsed)
		if err != nil {
			return refused(err)
		}
		if k.Authenticator.CloneWarning {
			return fault.New(fault.Denied, "presence", "this passkey counts backwards: somebody may have copied it").
				WithNext("remove it under System and register another")
		}
		text, err := json.Marshal(k)
		if err != nil {
			return err
		}
		if _, err = tx.Exec("UPDATE passkey SET credential = ?, used_at = ? WHERE tenant = ? AND credential_id = ?", string(text), tx.Now(),
			c.Tenant, k.ID); err != nil {
			return err
		}
		return clearTries(tx, c.Tenant, c.Actor)
	})
}

func refused(err error) error {
	return fault.New(fault.Denied, "presence", "the passkey's answer was not accepted: %w", err).WithNext("try again, or use the PIN")
}

// AskNewPasskey makes the question with which a device creates a key.
func (r *Room) AskNewPasskey(ctx context.Context, site Site, c op.Caller) (*protocol.CredentialCreation, error) {
	w, err := party(site)
	if err != nil {
		return nil, err
	}
	var out *protocol.CredentialCreation
	err = r.db.Write(ctx, func(tx *db.Tx) error {
		p, err := r.loadPerson(ctx, tx, c, site.Host)
		if err != nil {
			return err
		}
		var s *webauthn.SessionData
		if out, s, err = w.BeginRegistration(p, webauthn.WithExclusions(webauthn.Credentials(p.keys).CredentialDescriptors())); err != nil {
			return fmt.Errorf("begin a passkey's registration: %w", err)
		}
		return keepChallenge(tx, c, registering, s)
	})
	return out, err
}

const registering = "passkey.add"

func checkPasskeyName(name string) error {
	if n := utf8.RuneCountInString(strings.TrimSpace(name)); n == 0 || n > 60 {
		return fault.New(fault.Invalid, "passkey.add", "a passkey's name has 1 to 60 characters").
			WithNext("name it after the device: laptop, phone")
	}
	return nil
}
