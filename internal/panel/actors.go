package panel

import (
	"net/url"
	"strings"
	"time"

	"tandem/internal/panel/ui"
)

// ActorRow is somebody who acts here.
type ActorRow struct {
	ID       string
	Name     string
	Kind     string // person, agent, session, service
	For      string // whom they act for
	State    string // active, suspended
	LastSeen time.Time
	Created  time.Time
}

// TokenRow is a credential, without its secret.
type TokenRow struct {
	ID      string
	Name    string
	Actor   string
	Scopes  []string
	Decides bool
	Expires time.Time
	LastUse time.Time
	Revoked bool
}

// ActorsView is everybody who acts here, and the tokens they use.
type ActorsView struct {
	Now      time.Time
	Actors   []ActorRow
	Tokens   []TokenRow
	Scopes   []string // that a new token may have
	Minted   string   // a token just made, shown this once
	Problem  string
	PIN      bool
	Passkeys int
}

// ActorView is one actor, with what they may see and do.
type ActorView struct {
	ActorRow
	Now    time.Time
	Chain  []string
	Grants []GrantRow
	Tokens []TokenRow
	Sees   []string // operations that exist for this actor
	Hidden int      // operations that do not
	Recent []ui.Moment
}

func actorHref(id string) string { return "/panel/actors/" + url.PathEscape(id) }

func tokenState(now time.Time, t TokenRow) (ui.Tone, string) {
	switch {
	case t.Revoked:
		return ui.Bad, "revoked"
	case !t.Expires.IsZero() && !t.Expires.After(now):
		return ui.Quiet, "expired"
	}
	return ui.Good, "valid"
}

func actorTone(state string) ui.Tone {
	if state == "active" {
		return ui.Good
	}
	return ui.Quiet
}

func join(s []string) string { return strings.Join(s, ", ") }
