// Package wire is what the operations of packs take and answer.
package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"tandem/internal/op"
)

// The operations of packs.
const (
	List    = op.Def[struct{}, ListOut]("pack.list")
	Preview = op.Def[Pack, PreviewOut]("pack.preview")
	Install = op.Def[InstallIn, Installed]("pack.install")
	Remove  = op.Def[NameIn, RemoveOut]("pack.remove")
)

// Pack is a folder as it was read: prompts and settings stand where they are meant.
type Pack struct {
	Name        string       `json:"name"`
	Title       string       `json:"title,omitempty"`
	Version     string       `json:"version"`
	About       string       `json:"about,omitempty"`
	Automations []Automation `json:"automations"`
	Grants      []Grant      `json:"grants,omitempty" jsonschema:"what its automations are allowed beside what they need for themselves"`
	Knowledge   []Space      `json:"knowledge,omitempty"`
}

// Automation is a definition of a pack.
type Automation struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Grant is what an automation of a pack is allowed or denied.
type Grant struct {
	Automation  string   `json:"automation" toml:"automation" jsonschema:"one of the pack's own"`
	Effect      string   `json:"effect,omitempty" toml:"effect" jsonschema:"allow (the default), ask or deny"`
	Resource    string   `json:"resource" toml:"resource"`
	Permissions []string `json:"permissions" toml:"permissions"`
	Tools       []string `json:"tool_patterns,omitempty" toml:"tools"`
	Note        string   `json:"note,omitempty" toml:"note"`
}

// Space is a knowledge space of a pack.
type Space struct {
	Name    string `json:"name" toml:"name"`
	Purpose string `json:"purpose" toml:"purpose"`
	Items   []Item `json:"items" toml:"-"`
}

// Item is one document of a knowledge space. It answers nobody until a person has promoted it.
type Item struct {
	Key   string `json:"key"`
	Title string `json:"title"`
	Body  string `json:"body"`
}

// Digest names what a pack is.
func (p Pack) Digest() string {
	data, err := json.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("a pack cannot be written: %v", err)) // it holds texts alone
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Installed is a pack that somebody installed.
type Installed struct {
	Name        string    `json:"name"`
	Title       string    `json:"title,omitempty"`
	Version     string    `json:"version"`
	Digest      string    `json:"digest"`
	Automations []string  `json:"automations"`
	By          string    `json:"by"`
	At          time.Time `json:"at"`
}

// ListOut lists what is installed.
type ListOut struct {
	Packs []Installed `json:"packs"`
}

// PreviewOut is what a pack would be allowed, and what it changes.
type PreviewOut struct {
	Name      string   `json:"name"`
	Digest    string   `json:"digest"`
	Installed string   `json:"installed,omitempty" jsonschema:"the digest of what is installed under this name"`
	May       []May    `json:"may"`
	Cannot    []string `json:"cannot,omitempty" jsonschema:"why it cannot be installed here"`
	Ungranted []string `json:"ungranted,omitempty" jsonschema:"folders in which nobody may work yet"`
	Changes   string   `json:"changes,omitempty" jsonschema:"against what is installed"`
}

// May is one thing that a pack would be allowed.
type May struct {
	Whose string `json:"whose"`
	What  string `json:"what"`
}

// InstallIn is a pack that somebody looked at.
type InstallIn struct {
	Pack   Pack   `json:"pack"`
	Digest string `json:"digest" jsonschema:"of the pack that was looked at"`
	Was    string `json:"was,omitempty" jsonschema:"the digest of what was installed when it was looked at"`
}

// NameIn names a pack.
type NameIn struct {
	Name string `json:"name"`
}

// RemoveOut says what became of a pack's things.
type RemoveOut struct {
	Removed []string `json:"removed"`
	Stays   []string `json:"stays,omitempty" jsonschema:"what is left, and why"`
}
