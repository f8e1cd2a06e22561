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

	"tandem/internal/connector/wire"
	"tandem/internal/fault"
)

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
func check(c *wire.Connector) error {
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
	if err := checkGiven(c); err != nil {
		return err
	}
	for _, p := range c.Allow {
		if _, err := path.Match(p, "x"); err != nil {
			return bad("%.60q is not a pattern of tool names", p)
		}
	}
	return nil
}

// allows tells whether one of its tools may be shown at all.
func allows(c *wire.Connector, tool string) bool {
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
func digest(tools []wire.Tool) string {
	sorted := append([]wire.Tool(nil), tools...)
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

// ready says why a connector cannot be spoken to now, or nil.
func ready(c *wire.Connector) error {
	switch {
	case !c.Enabled:
		return fault.New(fault.Conflict, "connector.call", "%s is disabled", c.Name).
			WithNext("a person can enable it: tandem connector enable %s", c.Name)
	case c.State == wire.Quarantined:
		return fault.New(fault.Denied, "connector.call", "the tools of %s changed, and nobody has looked at them yet", c.Name).
			WithNext("a person accepts them: tandem connector accept %s", c.Name)
	case c.State == wire.AuthRequired:
		return fault.New(fault.Conflict, "connector.call", "%s wants a sign-in", c.Name).With("auth", "required").
			WithNext("a person signs in: tandem connector login %s", c.Name)
	case c.State != wire.Ready:
		return fault.New(fault.Unavailable, "connector.call", "%s is not ready: %s", c.Name, c.Failure).
			WithNext("look again: tandem connector sync %s", c.Name)
	}
	return nil
}

// usable says why a call cannot be made now, or nil.
func usable(c *wire.Connector, tool string) error {
	if err := ready(c); err != nil {
		return err
	}
	for _, t := range c.Tools {
		if t.Name == tool && allows(c, tool) {
			return nil
		}
	}
	return fault.New(fault.NotFound, "connector.call", "%s has no tool %.60q", c.Name, tool)
}
