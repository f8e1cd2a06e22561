package resource

import (
	"encoding/json"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/resource/wire"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func held(owner string, ttl time.Duration) *wire.Resource {
	end := noon.Add(ttl)
	return &wire.Resource{Key: "lock/x", Value: json.RawMessage("1"), Rev: 3, Fence: 7, Owner: owner, ExpiresAt: &end}
}

func ptr(n int64) *int64 { return &n }

func TestPutRules(t *testing.T) {
	v := json.RawMessage(`"v"`)
	for _, c := range []struct {
		name  string
		cur   *wire.Resource
		c     Change
		by    string
		admin bool
		want  fault.Kind // Internal means it succeeds
		rev   int64
		fence int64
	}{
		{"create", nil, Change{Value: v}, "a", false, fault.Internal, 1, 9},
		{"create if absent", nil, Change{Value: v, IfAbsent: true}, "a", false, fault.Internal, 1, 9},
		{"if absent on a live key", held("", time.Hour), Change{Value: v, IfAbsent: true}, "a", false, fault.Conflict, 0, 0},
		{"if absent on an expired key", held("b", -time.Hour), Change{Value: v, IfAbsent: true}, "a", false, fault.Internal, 1, 9},
		{"a moment of expiry counts as expired", held("b", 0), Change{Value: v, IfAbsent: true}, "a", false, fault.Internal, 1, 9},
		{"somebody else's", held("b", time.Hour), Change{Value: v}, "a", false, fault.Conflict, 0, 0},
		{"somebody else's, as admin", held("b", time.Hour), Change{Value: v}, "a", true, fault.Internal, 4, 7},
		{"own renewed", held("a", time.Hour), Change{Value: v, Fence: ptr(7)}, "a", false, fault.Internal, 4, 7},
		{"stale fence", held("a", time.Hour), Change{Value: v, Fence: ptr(6)}, "a", false, fault.Conflict, 0, 0},
		{"fence of a key that is gone", nil, Change{Value: v, Fence: ptr(7)}, "a", false, fault.Conflict, 0, 0},
		{"right revision", held("", time.Hour), Change{Value: v, IfMatch: ptr(3)}, "a", false, fault.Internal, 4, 7},
		{"wrong revision", held("", time.Hour), Change{Value: v, IfMatch: ptr(2)}, "a", false, fault.Conflict, 0, 0},
		{"revision of a missing key", nil, Change{Value: v, IfMatch: ptr(2)}, "a", false, fault.Conflict, 0, 0},
		{"no value", nil, Change{}, "a", false, fault.Invalid, 0, 0},
		{"not JSON", nil, Change{Value: json.RawMessage("{")}, "a", false, fault.Invalid, 0, 0},
		{"too long a life", nil, Change{Value: v, TTL: 2 * MaxTTL}, "a", false, fault.Invalid, 0, 0},
	} {
		got, err := Put(c.cur, c.c, c.by, c.admin, 9, noon)
		if c.want != fault.Internal {
			if err == nil || fault.KindOf(err) != c.want {
				t.Errorf("%s: %v, want %v", c.name, err, c.want)
			}
			continue
		}
		if err != nil || got.Rev != c.rev || got.Fence != c.fence {
			t.Errorf("%s: %+v, %v; want rev %d fence %d", c.name, got, err, c.rev, c.fence)
		}
	}
}

func TestKeysArePlainPaths(t *testing.T) {
	for key, ok := range map[string]bool{
		"lock/deploy": true, "a": true, "ünï/cödé": true, "": false, "/a": false, "a/": false, "a//b": false, "a/../b": false,
		".": false, "a\x00b": false, "a\u202eb": false, `a\b`: false, "a\nb": false,
	} {
		if err := CheckKey(key); (err == nil) != ok {
			t.Errorf("CheckKey(%q) = %v", key, err)
		}
	}
}
