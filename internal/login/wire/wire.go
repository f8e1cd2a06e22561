// Package wire is what the operations about logins take and answer, with a handle for each. It holds no service: doors and commands
// import it.
package wire

import (
	"time"

	"tandem/internal/login/device"
	"tandem/internal/op"
)

// The operations.
const (
	Add     = op.Def[AddIn, Login]("login.add")
	List    = op.Def[struct{}, ListOut]("login.list")
	Use     = op.Def[NameIn, Login]("login.use")
	Forget  = op.Def[NameIn, Login]("login.forget")
	Device  = op.Def[NameIn, DeviceOut]("login.device")
	PIN     = op.Def[PINIn, Login]("login.pin")
	Forward = "login.forward"
)

// Own is the name of this machine's own server, where a login is named.
const Own = "own"

// Login is a server that the person of this machine is logged in at.
type Login struct {
	Name     string    `json:"name" jsonschema:"what this machine calls the server"`
	Server   string    `json:"server" jsonschema:"HOST:PORT"`
	Key      string    `json:"key,omitempty" jsonschema:"the fingerprint of the server's key"`
	Person   string    `json:"person" jsonschema:"who logged in, as the server knows them"`
	Terminal string    `json:"terminal" jsonschema:"the actor as which commands act there"`
	Taken    bool      `json:"taken" jsonschema:"commands take this server unless they are told otherwise"`
	Device   string    `json:"device,omitempty" jsonschema:"the id there of this machine's key; without one it answers for nobody there"`
	MadeAt   time.Time `json:"made_at"`
}

// AddIn keeps a login that a server gave. Commands take it from then on.
type AddIn struct {
	Name     string `json:"name" jsonschema:"what this machine calls the server: letters, digits, - _ ."`
	Server   string `json:"server" jsonschema:"HOST:PORT"`
	Key      string `json:"key,omitempty" jsonschema:"the fingerprint of the server's key"`
	Person   string `json:"person"`
	Terminal string `json:"terminal"`
	Token    string `json:"token" jsonschema:"the token that the server gave"`
	// Of and Sealed are the machine's key there, where it has one.
	Of     device.Of      `json:"of,omitzero"`
	Sealed *device.Sealed `json:"sealed,omitempty" jsonschema:"the key with which this machine answers for its person there, sealed under the PIN"`
}

// DeviceOut is the key of this machine at a server, sealed under the PIN that its person set for it.
type DeviceOut struct {
	Of     device.Of     `json:"of"`
	Sealed device.Sealed `json:"sealed"`
}

// PINIn is the same key under another PIN.
type PINIn struct {
	Name   string        `json:"name" jsonschema:"what this machine calls the server"`
	Sealed device.Sealed `json:"sealed"`
}

// NameIn names a login.
type NameIn struct {
	Name string `json:"name" jsonschema:"what this machine calls the server"`
}

// ListOut lists logins by name.
type ListOut struct {
	Logins []Login `json:"logins"`
}

// Find is the login of a name or an address, nil where there is none.
func (l ListOut) Find(which string) *Login {
	for i := range l.Logins {
		if l.Logins[i].Name == which || l.Logins[i].Server == which {
			return &l.Logins[i]
		}
	}
	return nil
}

// Taken is the login that commands take, nil where they take this machine's own server.
func (l ListOut) Taken() *Login {
	for i := range l.Logins {
		if l.Logins[i].Taken {
			return &l.Logins[i]
		}
	}
	return nil
}
