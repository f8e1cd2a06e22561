package connector

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"time"

	"tandem/internal/fault"
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

// Limits of what an outside server may send.
const (
	maxTools  = 500
	maxSchema = 256 << 10
	maxResult = 200 << 10
	maxDoc    = 16 << 10
	maxOffer  = 1 << 20 // all tools together
)

// toolName is how a tool may be called, as MCP has it: what a person grants is a name, and never a pattern that the other side chose.
var toolName = regexp.MustCompile(`^[A-Za-z0-9_./-]{1,128}$`)

var name = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

// check refuses a connector that cannot be what it says.
func (c *Connector) check() error {
	bad := func(format string, args ...any) error {
		return fault.New(fault.Invalid, "connector.add", format, args...)
	}
	switch {
	case len(c.Name) > 32 || !name.MatchString(c.Name) || strings.Contains(c.Name, "__"):
		return bad("%.60q is not a name: lower-case letters, digits, - and single _, at most 32", c.Name)
	case (c.URL == "") == (len(c.Command) == 0):
		return bad("a connector has an address or a command, and not both")
	case c.URL != "":
		u, err := url.Parse(c.URL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
			return bad("%.100q is not an http or https address without a password", c.URL)
		}
	case !filepath.IsAbs(c.Command[0]):
		return bad("a command begins with the absolute path of its program")
	}
	for _, p := range c.Allow {
		if _, err := path.Match(p, "x"); err != nil {
			return bad("%.60q is not a pattern of tool names", p)
		}
	}
	return nil
}

// allows tells whether one of its tools may be shown at all.
func (c *Connector) allows(tool string) bool {
	if len(c.Allow) == 0 {
		return true
	}
	for _, p := range c.Allow {
		if ok, _ := path.Match(p, tool); ok {
			return true
		}
	}
	return false
}

// digest is what a person accepts: names, descriptions and schemas of all tools. A description is part of it, because the
// model obeys it.
func digest(tools []Tool) string {
	sorted := append([]Tool(nil), tools...)
	sort.Slice(sorted, func(i, j int) bool { return sorted[i].Name < sorted[j].Name })
	h := sha256.New()
	h.Write([]byte("tandem connector tools v1\n"))
	enc := json.NewEncoder(h)
	for _, t := range sorted {
		if err := enc.Encode(t); err != nil {
			return "" // never equal to an accepted one
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// usable says why a call cannot be made now, or nil.
func (c *Connector) usable(tool string) error {
	switch {
	case !c.Enabled:
		return fault.New(fault.Conflict, "connector.call", "%s is disabled", c.Name).WithNext("a person can enable it: tandem connector enable %s", c.Name)
	case c.State == Quarantined:
		return fault.New(fault.Denied, "connector.call", "the tools of %s changed, and nobody has looked at them yet", c.Name).WithNext("a person accepts them: tandem connector accept %s", c.Name)
	case c.State == AuthRequired:
		return fault.New(fault.Conflict, "connector.call", "%s wants a sign-in", c.Name).With("auth", "required").WithNext("a person signs in: tandem connector login %s", c.Name)
	case c.State != Ready:
		return fault.New(fault.Unavailable, "connector.call", "%s is not ready: %s", c.Name, c.Failure).WithNext("look again: tandem connector sync %s", c.Name)
	case !c.allows(tool):
		return fault.New(fault.NotFound, "connector.call", "%s has no tool %.60q", c.Name, tool)
	}
	for _, t := range c.Tools {
		if t.Name == tool {
			return nil
		}
	}
	return fault.New(fault.NotFound, "connector.call", "%s has no tool %.60q", c.Name, tool)
}
