// Package wire holds what the operations of workspaces on this machine take and answer, and a handle for each. It has no service.
package wire

import "tandem/internal/op"

const (
	Forward = op.Def[ReachIn, struct{}]("workspace.forward")
	Reach   = op.Def[ReachIn, ReachOut]("workspace.reach")
	Rekey   = op.Def[RekeyIn, ReachOut]("workspace.rekey")
	Trust   = op.Def[TrustIn, struct{}]("workspace.trust")
)

// ReachIn names a server.
type ReachIn struct {
	Server string `json:"server" jsonschema:"HOST:PORT"`
	Key    string `json:"key,omitempty" jsonschema:"the fingerprint of the key that it must show; left out, the one that is known, or the first one seen"`
}

// ReachOut says how this machine stands to a server.
type ReachOut struct {
	Own     bool `json:"own"`     // it is this daemon itself
	Trusted bool `json:"trusted"` // this machine has joined it
}

// TrustIn remembers what lets this machine in at a server.
type TrustIn struct {
	Server string `json:"server" jsonschema:"HOST:PORT"`
	Token  string `json:"token" jsonschema:"the token the server gave"`
	Key    string `json:"key,omitempty" jsonschema:"the fingerprint that the server named with the token: by it the server is known at other addresses"`
}

// RekeyIn names a server and the key that it shows now.
type RekeyIn struct {
	Server string `json:"server" jsonschema:"HOST:PORT"`
	Key    string `json:"key" jsonschema:"the fingerprint, SHA256:…, as the server's owner says it"`
}
