package assertion

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Purposes are what keys of a ring may be for. Only the first signs assertions.
var Purposes = []string{ForAssertions, "approval_receipt", "delegation_projection", "cross_tenant_grant", "a2a_peer_assertion",
	"break_glass_admin_assertion"}

// ForAssertions is the purpose of a key that signs assertions.
const ForAssertions = "context_assertion"

// The states of a key.
const (
	Active  = "active"
	Retired = "retired"
	Revoked = "revoked"
)

// Key is one of the ring.
type Key struct {
	ID           string
	Tenant       string // whose requests it speaks about
	Public       ed25519.PublicKey
	Purpose      string
	Organization string
	Deployment   string
	Audiences    []string
	NotBefore    time.Time
	NotAfter     time.Time
	Status       string
}

// CheckID refuses ids of keys that could be mistaken for something else.
func CheckID(id string) error {
	ok := id != "" && len(id) <= 64 && !strings.ContainsFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
	})
	if !ok {
		return fmt.Errorf("%.70q is not the id of a key: letters, digits, - _ . and at most 64 of them", id)
	}
	return nil
}

// ParsePublic reads an Ed25519 public key: PEM, or base64 of the key itself or of its DER form.
func ParsePublic(text string) (ed25519.PublicKey, error) {
	text = strings.TrimSpace(text)
	bad := errors.New("that is not an Ed25519 public key: PEM, or base64 of its 32 bytes")
	if block, _ := pem.Decode([]byte(text)); block != nil {
		return fromDER(block.Bytes, bad)
	}
	plain := strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(text), "=")
	raw, err := base64.RawStdEncoding.DecodeString(plain)
	if err != nil {
		return nil, bad
	}
	if len(raw) == ed25519.PublicKeySize {
		return ed25519.PublicKey(raw), nil
	}
	return fromDER(raw, bad)
}

func fromDER(der []byte, bad error) (ed25519.PublicKey, error) {
	key, err := x509.ParsePKIXPublicKey(der)
	public, ok := key.(ed25519.PublicKey)
	if err != nil || !ok {
		return nil, bad
	}
	return public, nil
}

// Usable says why a key signs no assertions at a moment, nil when it does.
func (k *Key) Usable(now time.Time) *Rejected {
	switch {
	case k.Purpose != ForAssertions:
		return Reject(KeyPurpose, "the key %s is for %s, not for assertions", k.ID, k.Purpose)
	case k.Status == Revoked:
		return Reject(KeyRevoked, "the key %s was revoked", k.ID)
	case k.Status != Active:
		return Reject(KeyRetired, "the key %s is retired", k.ID)
	case !k.NotBefore.IsZero() && now.Before(k.NotBefore):
		return Reject(KeyNotYet, "the key %s counts from %s on", k.ID, k.NotBefore.UTC().Format(time.RFC3339))
	case !k.NotAfter.IsZero() && !now.Before(k.NotAfter):
		return Reject(KeyOver, "the key %s counted until %s", k.ID, k.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}

// speaksFor says why a key may not say what the claims say.
func (k *Key) speaksFor(c *Claims, organized bool, now time.Time) *Rejected {
	if why := k.Usable(now); why != nil {
		return why
	}
	switch {
	case len(k.Audiences) > 0 && !slices.Contains(k.Audiences, c.Audience):
		return Reject(KeyAudience, "the key %s does not sign for %.64q", k.ID, c.Audience)
	case organized && k.Organization == "":
		return Reject(KeyOrg, "the key %s names no organization, and in this mode each does", k.ID)
	case k.Organization != "" && k.Organization != c.Tenant.Org:
		return Reject(KeyOrg, "the key %s does not speak for the organization %.64q", k.ID, c.Tenant.Org)
	case k.Deployment != "" && k.Deployment != c.Tenant.Deployment:
		return Reject(KeyDeploy, "the key %s does not speak for the deployment %.64q", k.ID, c.Tenant.Deployment)
	}
	return nil
}

// ring is a key of a key ring in the settings.
type ring struct {
	PublicKey    string   `json:"publicKey"`
	Purpose      string   `json:"purpose"`
	Organization string   `json:"organizationId"`
	Deployment   string   `json:"deploymentId"`
	Audiences    []string `json:"allowedAudiences"`
	Prefixes     []string `json:"allowedResourceScopePrefixes"`
	NotBefore    int64    `json:"notBeforeMs"`
	NotAfter     int64    `json:"notAfterMs"`
	Status       string   `json:"status"`
}

// maxRing bounds a key ring.
const maxRing = 256

// ParseRing reads the key ring of the settings, whose keys speak about one tenant. What it cannot keep it refuses.
func ParseRing(text, tenant string) (map[string]*Key, error) {
	out := map[string]*Key{}
	if strings.TrimSpace(text) == "" {
		return out, nil
	}
	var all map[string]ring
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&all); err != nil {
		return nil, fmt.Errorf("the key ring is not JSON of the form {\"KID\":{\"publicKey\":\"…\",\"purpose\":\"context_assertion\"}}: %w", err)
	}
	if dec.More() {
		return nil, errors.New("the key ring is more than one JSON object")
	}
	if len(all) > maxRing {
		return nil, fmt.Errorf("the key ring has %d keys, and %d are allowed", len(all), maxRing)
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		r := all[id]
		k := &Key{ID: id, Tenant: tenant, Purpose: r.Purpose, Organization: r.Organization, Deployment: r.Deployment, Audiences: r.Audiences,
			NotBefore: moment(r.NotBefore), NotAfter: moment(r.NotAfter), Status: r.Status}
		if k.Status == "" {
			k.Status = Active
		}
		if err := k.check(r); err != nil {
			return nil, fmt.Errorf("the key %.70q of the key ring: %w", id, err)
		}
		out[id] = k
	}
	return out, nil
}

func (k *Key) check(r ring) (err error) {
	if err := CheckID(k.ID); err != nil {
		return err
	}
	if k.Public, err = ParsePublic(r.PublicKey); err != nil {
		return err
	}
	switch {
	case !slices.Contains(Purposes, k.Purpose):
		return fmt.Errorf("the purpose is one of %s", strings.Join(Purposes, ", "))
	case !slices.Contains([]string{Active, Retired, Revoked}, k.Status):
		return fmt.Errorf("the status is one of active, retired, revoked")
	case len(r.Prefixes) > 0:
		return fmt.Errorf("allowedResourceScopePrefixes cannot be kept here: narrow what its people may with grants")
	case r.NotBefore < 0 || r.NotAfter < 0:
		return fmt.Errorf("notBeforeMs and notAfterMs are milliseconds since 1970")
	}
	return nil
}

func moment(ms int64) time.Time {
	if ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}
