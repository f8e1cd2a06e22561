package resource

import (
	"encoding/json"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"tandem/internal/fault"
	"tandem/internal/resource/wire"
)

// Limits of a key and its value.
const (
	MaxKey   = 512
	MaxValue = 64 << 10
	// MaxKeys is how many keys a tenant has.
	MaxKeys = 100_000
	MaxTTL  = 365 * 24 * time.Hour
)

// Change is a wish to put a value.
type Change struct {
	Value    json.RawMessage
	IfMatch  *int64 // the revision it must have
	IfAbsent bool   // it must not exist
	Fence    *int64 // the fencing number the writer was given
	Own      bool   // the writer becomes its owner
	TTL      time.Duration
}

// Put applies a change by an actor to what is there (nil when absent). nextFence
// is used when the key becomes present. The result has everything but a key.
func Put(cur *wire.Resource, c Change, by string, admin bool, nextFence int64, now time.Time) (*wire.Resource, error) {
	if err := checkValue(c.Value); err != nil {
		return nil, err
	}
	if c.TTL < 0 || c.TTL > MaxTTL {
		return nil, tooLong()
	}
	if !cur.Live(now) {
		cur = nil
	}
	if err := mayChange(cur, c.IfMatch, c.Fence, by, admin); err != nil {
		return nil, err
	}
	if cur != nil && c.IfAbsent {
		return nil, taken(cur)
	}
	next := &wire.Resource{Value: c.Value, Rev: 1, Fence: nextFence, UpdatedBy: by, UpdatedAt: now}
	if cur != nil {
		next.Key, next.Rev, next.Fence, next.Owner, next.ExpiresAt = cur.Key, cur.Rev+1, cur.Fence, cur.Owner, cur.ExpiresAt
	}
	if c.Own {
		next.Owner = by
	}
	if c.TTL > 0 {
		end := now.Add(c.TTL)
		next.ExpiresAt = &end
	}
	return next, nil
}

func tooLong() error {
	return fault.New(fault.Invalid, "resource.put", "a time to live lies between 1 ms and %d days", int(MaxTTL.Hours()/24))
}

// Delete says whether an actor may remove what is there.
func Delete(cur *wire.Resource, ifMatch, fence *int64, by string, admin bool, now time.Time) error {
	if !cur.Live(now) {
		return fault.New(fault.NotFound, "resource.delete", "there is no such key")
	}
	return mayChange(cur, ifMatch, fence, by, admin)
}

func mayChange(cur *wire.Resource, ifMatch, fence *int64, by string, admin bool) error {
	if cur == nil {
		switch {
		case ifMatch != nil && *ifMatch != 0:
			return fault.New(fault.Conflict, "resource.put", "the key does not exist, so it has no revision %d", *ifMatch).
				WithNext("put it with if_absent to create it")
		case fence != nil:
			return fault.New(fault.Conflict, "resource.put", "the key is gone: fence %d holds nothing any more", *fence).
				WithNext("take it again with if_absent")
		}
		return nil
	}
	if cur.Owner != "" && cur.Owner != by && !admin {
		return taken(cur)
	}
	if fence != nil && *fence != cur.Fence {
		return fault.New(fault.Conflict, "resource.put", "%s was taken by somebody else since: its fence is %d, not %d", cur.Key, cur.Fence,
			*fence).
			WithNext("read the key, then take it again when it is free")
	}
	if ifMatch != nil && *ifMatch != cur.Rev {
		return fault.New(fault.Conflict, "resource.put", "%s is at revision %d, not %d", cur.Key, cur.Rev, *ifMatch).
			WithNext("read the key and try again with its revision")
	}
	return nil
}

func taken(cur *wire.Resource) error {
	holder := cur.Owner
	if holder == "" {
		return fault.New(fault.Conflict, "resource.put", "%s exists already, at revision %d", cur.Key, cur.Rev).
			WithNext("change it at that revision (--if-match, if_match_rev), or choose another key")
	}
	e := fault.New(fault.Conflict, "resource.put", "%s is held by %s", cur.Key, holder).With("owner", holder)
	if cur.ExpiresAt != nil {
		return e.WithNext("it is free again at %s at the latest", cur.ExpiresAt.Format(time.RFC3339))
	}
	return e.WithNext("ask %s to release it", holder)
}

// CheckKey refuses keys that are not plain relative paths.
func CheckKey(key string) error {
	bad := func(why string) error {
		return fault.New(fault.Invalid, "resource", "%q is not a key: %s", clip(key), why).WithNext("use a path such as lock/deploy")
	}
	switch {
	case key == "":
		return bad("it is empty")
	case len(key) > MaxKey:
		return bad("it is longer than 512 bytes")
	case !utf8.ValidString(key):
		return bad("it is not UTF-8")
	case strings.ContainsFunc(key, func(r rune) bool { return !unicode.IsPrint(r) || r == '\\' }):
		return bad("it has a character that cannot be seen")
	}
	for _, part := range strings.Split(key, "/") {
		if part == "" || part == "." || part == ".." {
			return bad("its parts must have names")
		}
	}
	return nil
}

func checkValue(v json.RawMessage) error {
	switch {
	case len(v) == 0:
		return fault.New(fault.Invalid, "resource.put", "the value is missing").WithNext(`give any JSON, e.g. --value '{"state":"ok"}'`)
	case len(v) > MaxValue:
		return fault.New(fault.Invalid, "resource.put", "the value has %d bytes; %d are allowed", len(v), MaxValue)
	case !json.Valid(v):
		return fault.New(fault.Invalid, "resource.put", "the value is not JSON")
	}
	return nil
}

func clip(s string) string { return fault.Clip(s, 60) }
