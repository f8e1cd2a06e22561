// Package wire is what the tunnel operations take and answer, with their
// handles. It holds no service: doors and commands import it.
package wire

import (
	"encoding/json"
	"strings"
	"tandem/internal/fault"
	"tandem/internal/op"
	"time"
)

// The operations of public addresses.
const (
	Share = op.Def[ShareIn, ShareOut]("tunnel.share")
	Show  = op.Def[Nothing, Status]("tunnel.status")
	Stop  = op.Def[Nothing, Status]("tunnel.stop")
)

// ShareIn says how the bridge is to be reached.
type ShareIn struct {
	Mode string `json:"mode,omitempty" jsonschema:"tailscale (the default), quick or desktop"`
}

// ShareOut is what goes into a chat app.
type ShareOut struct {
	Status
	Connector string          `json:"connector" jsonschema:"the file that holds this, readable by this user only"`
	MCP       string          `json:"mcp_url,omitempty" jsonschema:"the address with the connector's token: whoever has it drives sessions"`
	OAuth     string          `json:"oauth_url,omitempty" jsonschema:"the address for apps that sign in by OAuth; a person consents in the panel"`
	Config    json.RawMessage `json:"config" jsonschema:"as apps take it"`
}

// Nothing is no input.
type Nothing struct{}

// State is where a tunnel stands; see the package comment.
type State string

// The states.
const (
	Open    State = "open"
	Closed  State = "closed"
	Dropped State = "dropped"
)

// Status is the tunnel as people see it.
type Status struct {
	Mode   Mode      `json:"mode,omitempty"`
	State  State     `json:"state"`
	URL    string    `json:"url,omitempty" jsonschema:"the public address, without a token"`
	Port   string    `json:"port,omitempty" jsonschema:"of loopback, to which it leads; nothing but the bridge is there"`
	Apart  bool      `json:"apart,omitempty" jsonschema:"that port is the tunnel's own"`
	Since  time.Time `json:"since,omitzero"`
	Reason string    `json:"reason,omitempty" jsonschema:"why it is not open"`
	// Spreading is set from the opening on until the bridge answered through the address for the first time.
	Spreading string `json:"spreading,omitempty" jsonschema:"why the address does not answer yet; it is asked again until it does"`
	PID       int    `json:"pid,omitempty" jsonschema:"of the tunnel's program"`
}

// Mode is how a chat app reaches the bridge.
type Mode string

// The modes.
const (
	Tailscale Mode = "tailscale" // a funnel: the address stays
	Quick     Mode = "quick"     // Cloudflare's quick tunnel: no account, a new address each time
	Desktop   Mode = "desktop"   // no tunnel: the app starts tandem mcp itself
)

// ParseMode reads a mode; "web" is an older name of quick, and nothing means tailscale.
func ParseMode(s string) (Mode, error) {
	switch m := Mode(strings.ToLower(strings.TrimSpace(s))); m {
	case "":
		return Tailscale, nil
	case "web":
		return Quick, nil
	case Tailscale, Quick, Desktop:
		return m, nil
	}
	return "", fault.New(fault.Invalid, "tunnel", "%.40q is not a mode", s).WithNext("use tailscale, quick or desktop")
}
