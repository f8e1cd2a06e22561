package op

import "context"

// Touch is what a tool's call is known to touch beyond its resource, taken from its typed arguments. Policy reads it where
// a grant or rule speaks of paths, commands or hosts.
type Touch struct {
	Tool  string   `json:"tool"`
	Paths []string `json:"paths,omitempty"` // absolute and clean
	Shell string   `json:"shell,omitempty"` // a shell line that will run
	Hosts []string `json:"hosts,omitempty"` // without port
	// Also are further resources that it touches: each needs the right's permission as the first one does.
	Also []Resource `json:"also,omitempty"`
	// Opaque says that more will happen than is listed.
	Opaque bool `json:"opaque,omitempty"`
	// Boxed says that a sandbox hides every file that policy keeps from the caller, Offline that it has no network, Within the folders
	// that it keeps the call in.
	Boxed   bool     `json:"boxed,omitempty"`
	Offline bool     `json:"offline,omitempty"`
	Within  []string `json:"within,omitempty"`
	// Caution says why a person should decide this call whatever policy allows; "" when nothing speaks for that.
	Caution string `json:"caution,omitempty"`
}

// Touching adds to a row what its calls touch.
func Touching[In any](o Op, touch func(ctx context.Context, in In) Touch) Op {
	o.touch = func(ctx context.Context, in any) *Touch {
		t := touch(ctx, in.(In))
		return &t
	}
	return o
}

// Touch is what this call would touch; nil when the operation is not a tool's call.
func (o *Op) Touch(ctx context.Context, in any) *Touch {
	if o.touch == nil {
		return nil
	}
	return o.touch(ctx, in)
}

// Placing replaces how a row finds its resource, for one that has to know who calls.
func Placing[In any](o Op, resource func(ctx context.Context, in In) Resource) Op {
	o.resource = func(ctx context.Context, in any) Resource { return resource(ctx, in.(In)) }
	return o
}
