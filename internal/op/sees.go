package op

import "context"

type seesKey struct{}

// Sight is what a caller sees of files, wherever their content or names are shown. The gate makes it, out of one policy.
type Sight struct {
	// File says whether the caller may look at a file of this machine, by its absolute path.
	File func(path string) bool
	// Tracked says whether it may look at a path of a repository that it may read, by where that path lies in a checkout of it.
	Tracked func(path string, repository Resource) bool
	// Takes says whether it may have a path or pattern of a checkout to itself, and Tells whether it may hear that somebody else has it.
	Takes, Tells func(root, lease string, repository Resource) bool
}

// WithSight gives a context what its caller sees. The gate sets it; rooms ask it with Sees and SeesTracked.
func WithSight(ctx context.Context, s Sight) context.Context {
	return context.WithValue(ctx, seesKey{}, s)
}

// Sees reports whether the caller of ctx may look at a file of this machine, by its absolute path: what policy denies it by this name, by
// one that a link leads to or in another checkout of the same repository is not there for it, nor is what has to be asked for. Rooms
// ask it before they show, name or send what a file holds. Without a gate the answer is no.
func Sees(ctx context.Context, path string) bool {
	s, ok := ctx.Value(seesKey{}).(Sight)
	return ok && s.File(path)
}

// SeesTracked reports whether the caller of ctx, who may read a repository, may look at one path in its commits: all but what somebody
// denied or labelled in any checkout of it, and files that hold keys, where those are out of the caller's reach. Without a gate the
// answer is no.
func SeesTracked(ctx context.Context, path string, repository Resource) bool {
	s, ok := ctx.Value(seesKey{}).(Sight)
	return ok && s.Tracked(path, repository)
}

// Takes reports whether the caller of ctx may lease a path or pattern below a checkout's root: nothing that it covers is kept from the
// caller, whether it is there and somebody has it or not. Rooms ask it before they look at the leases of others. Without a gate the answer
// is no.
func Takes(ctx context.Context, root, lease string, repository Resource) bool {
	s, ok := ctx.Value(seesKey{}).(Sight)
	return ok && s.Takes(root, lease, repository)
}

// Tells reports whether the caller of ctx may hear that somebody else has leased a path or pattern below a checkout's root. Without a gate
// the answer is no.
func Tells(ctx context.Context, root, lease string, repository Resource) bool {
	s, ok := ctx.Value(seesKey{}).(Sight)
	return ok && s.Tells(root, lease, repository)
}
