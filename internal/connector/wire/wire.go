// Package wire is what the connector operations take and answer, with their
// handles. It holds no service: doors and commands import it.
package wire

import (
	"encoding/json"
	"tandem/internal/op"
	"tandem/internal/tool"
	"time"
)

// The operations of outside MCP servers.
const (
	List       = op.Def[Nothing, ListOut]("connector.list")
	Add        = op.Def[AddIn, *Connector]("connector.add")
	AddCommand = op.Def[CommandIn, *Connector]("connector.command")
	Update     = op.Def[UpdateIn, *Connector]("connector.update")
	Remove     = op.Def[NameIn, OK]("connector.remove")
	Secret     = op.Def[SecretIn, OK]("connector.secret")
	Sync       = op.Def[NameIn, *Connector]("connector.sync")
	Accept     = op.Def[AcceptIn, *Connector]("connector.accept")
	Call       = op.Def[CallIn, CallOut]("connector.call")
	Login      = op.Def[NameIn, LoginOut]("connector.login")
	Logout     = op.Def[NameIn, *Connector]("connector.logout")
)

// State is where a connector stands; see the package comment.
type State string

// The states.
const (
	Fresh       State = "new"
	Ready       State = "ready"
	Quarantined State = "quarantined"
	Failed      State = "failed"
	// AuthRequired: it wants a person to sign in first.
	AuthRequired State = "auth_required"
)

// Connector is an outside MCP server.
type Connector struct {
	Tenant  string   `json:"-"`
	Name    string   `json:"name"`
	URL     string   `json:"url,omitempty"`
	Command []string `json:"command,omitempty" jsonschema:"a program that speaks MCP on its standard input and output"`
	Network bool     `json:"network,omitempty" jsonschema:"the program may use the network"`
	Given
	Inside  bool     `json:"inside,omitempty" jsonschema:"its address is inside this machine or its network"`
	Header  string   `json:"header,omitempty" jsonschema:"the header that carries its secret"`
	Allow   []string `json:"allow,omitempty" jsonschema:"only these of its tools; * at the end matches the rest"`
	Enabled bool     `json:"enabled"`
	State   State    `json:"state"`
	Tools   []Tool   `json:"tools"`
	// Accepted is the digest of the tools that a person accepted, Digest that of the tools it offers.
	Accepted  string    `json:"accepted,omitempty"`
	Digest    string    `json:"digest,omitempty"`
	Failure   string    `json:"failure,omitempty"`
	AddedBy   string    `json:"added_by"`
	CreatedAt time.Time `json:"created_at"`
	SyncedAt  time.Time `json:"synced_at,omitzero"`
}

// Tool is one thing that a connector offers.
type Tool struct {
	Name   string          `json:"name"`
	Doc    string          `json:"doc"`
	Schema json.RawMessage `json:"schema"`
}

// AddIn adds a connector at an address.
type AddIn struct {
	Name   string   `json:"name"`
	URL    string   `json:"url" jsonschema:"the address of its streamable HTTP endpoint"`
	Header string   `json:"header,omitempty" jsonschema:"the header that carries its secret, e.g. Authorization"`
	Allow  []string `json:"allow,omitempty" jsonschema:"only these of its tools"`
	Inside bool     `json:"inside,omitempty" jsonschema:"its name leads inside this machine or its network; a person decides that"`
}

// CommandIn adds a connector that is a program.
type CommandIn struct {
	Name    string   `json:"name"`
	Command []string `json:"command" jsonschema:"absolute path and arguments"`
	Network bool     `json:"network,omitempty"`
	Allow   []string `json:"allow,omitempty"`
	Given
}

// Given is what a program has of this machine, beside the system's own programs.
type Given struct {
	Folder  string   `json:"folder,omitempty" jsonschema:"the folder that the program sees and works in, absolute; files in it that may hold keys stay out of reach"`
	Write   bool     `json:"write,omitempty" jsonschema:"the program may change the folder"`
	Env     []string `json:"env,omitempty" jsonschema:"variables of its environment, each NAME=VALUE; no secrets"`
	Secrets []string `json:"secrets,omitempty" jsonschema:"names of variables whose values are stored sealed, with connector.secret"`
}

// NameIn names a connector.
type NameIn struct {
	Name string `json:"name"`
}

// UpdateIn changes a connector; what is left out stays.
type UpdateIn struct {
	Name    string    `json:"name"`
	Enabled *bool     `json:"enabled,omitempty"`
	Allow   *[]string `json:"allow,omitempty"`
}

// SecretIn stores a connector's secret.
type SecretIn struct {
	Name   string `json:"name"`
	Secret string `json:"secret" jsonschema:"the value of its header, or of its variable; sealed, never shown"`
	For    string `json:"for,omitempty" jsonschema:"the variable of a program that has this value"`
}

// AcceptIn accepts what a connector offers.
type AcceptIn struct {
	Name   string `json:"name"`
	Digest string `json:"digest,omitempty" jsonschema:"the digest that was looked at; refused when it offers something else by now"`
}

// ListOut lists connectors.
type ListOut struct {
	Connectors []*Connector `json:"connectors"`
}

// CallIn is one call of a connector's tool.
type CallIn struct {
	Connector string          `json:"connector"`
	Tool      string          `json:"tool"`
	Args      json.RawMessage `json:"args"`
	Session   string          `json:"session,omitempty"`
	Turn      string          `json:"turn,omitempty"`
	Call      string          `json:"call,omitempty"`
}

// CallOut is what it answered.
type CallOut struct {
	Result tool.Result `json:"result"`
}

// OK says that it was done.
type OK struct {
	OK bool `json:"ok"`
}

// Nothing is an input without fields.
type Nothing struct{}

// LoginOut says where a person signs in.
type LoginOut struct {
	URL   string `json:"url,omitempty" jsonschema:"open this in a browser; empty when no sign-in is needed"`
	State State  `json:"state"`
}
