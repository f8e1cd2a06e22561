// Package wire is what the resource operations take and answer, with their
// handles. It holds no service: doors and commands import it.
package wire

import (
	"encoding/json"
	"time"

	"tandem/internal/op"
)

// The operations of shared keys.
const (
	List   = op.Def[ListIn, ListOut]("resource.list")
	Get    = op.Def[KeyIn, *Resource]("resource.get")
	Put    = op.Def[PutIn, PutOut]("resource.put")
	Delete = op.Def[DeleteIn, DeleteOut]("resource.delete")
	Sweep  = op.Def[struct{}, SweepOut]("resource.sweep")
)

// Resource is one shared key.
type Resource struct {
	Key       string          `json:"key" jsonschema:"the path of the key, e.g. lock/deploy"`
	Value     json.RawMessage `json:"value" jsonschema:"any JSON value"`
	Rev       int64           `json:"rev" jsonschema:"raised by one with every change"`
	Fence     int64           `json:"fence" jsonschema:"larger each time the key is taken; pass it on so that a late writer is refused"`
	Owner     string          `json:"owner,omitempty" jsonschema:"the actor who alone may change it"`
	UpdatedBy string          `json:"updated_by"`
	UpdatedAt time.Time       `json:"updated_at"`
	ExpiresAt *time.Time      `json:"expires_at,omitempty"`
}

// Live reports whether the key is present at a time.
func (r *Resource) Live(now time.Time) bool {
	return r != nil && (r.ExpiresAt == nil || now.Before(*r.ExpiresAt))
}

// KeyIn names one key.
type KeyIn struct {
	Key string `json:"key" jsonschema:"the path of the key, e.g. lock/deploy"`
}

// ListIn asks for a page of keys.
type ListIn struct {
	Prefix string `json:"prefix,omitempty" jsonschema:"only keys that begin with this"`
	After  string `json:"after,omitempty" jsonschema:"only keys behind this one: the last of the page before"`
	Limit  int    `json:"limit,omitempty" jsonschema:"at most this many, 100 when left out, 1000 at most"`
}

// ListOut is a page of keys.
type ListOut struct {
	Items []*Resource `json:"items"`
	Count int         `json:"count"`
	More  bool        `json:"more"`
}

// PutIn changes or creates a key.
type PutIn struct {
	Key       string          `json:"key" jsonschema:"the path of the key, e.g. lock/deploy"`
	Value     json.RawMessage `json:"value" jsonschema:"any JSON value, 64 KB at most"`
	IfMatch   *int64          `json:"if_match_rev,omitempty" jsonschema:"change it only when it is at this revision"`
	IfAbsent  bool            `json:"if_absent,omitempty" jsonschema:"only create it; a conflict when it exists"`
	Fence     *int64          `json:"fence,omitempty" jsonschema:"the fencing number you were given when you took it"`
	Own       bool            `json:"own,omitempty" jsonschema:"become its owner: nobody else can change it until it expires or is deleted"`
	TTL       int64           `json:"ttl_ms,omitempty" jsonschema:"it disappears by itself after this many milliseconds"`
	UpdatedBy string          `json:"updated_by,omitempty" jsonschema:"accepted for older clients and ignored: the caller's own identity is recorded"`
}

// PutOut is the key as it is now.
type PutOut struct {
	OK bool `json:"ok"`
	Resource
}

// DeleteIn removes a key.
type DeleteIn struct {
	Key       string `json:"key" jsonschema:"the path of the key"`
	IfMatch   *int64 `json:"if_match_rev,omitempty" jsonschema:"only when it is at this revision"`
	Fence     *int64 `json:"fence,omitempty" jsonschema:"the fencing number you were given when you took it"`
	UpdatedBy string `json:"updated_by,omitempty" jsonschema:"accepted for older clients and ignored"`
}

// DeleteOut says that a key is gone.
type DeleteOut struct {
	OK  bool   `json:"ok"`
	Key string `json:"key"`
}

// SweepOut counts the keys whose time had passed.
type SweepOut struct {
	Expired []string `json:"expired"`
}
