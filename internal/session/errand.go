package session

import (
	"context"
	"errors"
	"path/filepath"

	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
	"tandem/internal/session/aside"
	"tandem/internal/session/wire"
	"tandem/internal/tool"
	"tandem/internal/tool/box"
)

// Errand is a command that no session runs.
type Errand struct {
	Op      string // for whose errors
	Folder  string // that it may change, and that a person granted for it; "" is none
	Line    string
	Network bool
}

// bash is the tool that commands are to policy.
const bash = "bash"

// Errand lets run start a command in its box, which shows the folder as the caller of ctx sees it, and afterwards takes out of the folder
// what appeared there and version control would run later. A denial that comes meanwhile ends run's context.
func (r *Room) Errand(ctx context.Context, e Errand, run func(context.Context, box.Box) error) ([]*wire.Aside, error) {
	c := op.CallerFrom(ctx)
	c.Scope = nil // what one operation was given says nothing of files
	seen := op.WithCaller(ctx, c)
	scope, err := r.errandScope(seen, e)
	if err != nil {
		return nil, err
	}
	dir := "/"
	if fs := scope.Folders(); len(fs) > 0 {
		dir = fs[0].Path
	}
	b, err := r.sandbox.Box(scope, dir, e.Line, e.Network)
	if err != nil {
		return nil, err
	}
	keeps := &b
	if !r.sandbox.Hides() {
		keeps = nil // it cannot make a part of a folder read-only
	}
	again := func(context.Context) (*tool.Scope, error) { return r.errandScope(seen, e) }
	shown, done := r.whileShown(seen, bash, again, scope, !e.Network)
	defer done()
	w := aside.Work{Tenant: c.Tenant, ID: id.New("work")}
	if err := r.Aside.Look(ctx, w, scope.Writable(), keeps); err != nil {
		return nil, err
	}
	err = run(shown, b)
	found, lost := r.Aside.Settle(context.WithoutCancel(ctx), w, true)
	return found, errors.Join(err, lost)
}

// Grants says whether a folder lies in one that was granted to sessions.
func (r *Room) Grants(ctx context.Context, tenant, folder string) (bool, error) {
	all, err := r.granted(ctx, outside{ctx, r.db}, tenant)
	return len(holding(all, folder)) > 0, err
}

// errandScope is the folder of an errand as the caller of ctx sees it, and no more of the granted folder that holds it.
func (r *Room) errandScope(ctx context.Context, e Errand) (*tool.Scope, error) {
	no := func(format string, args ...any) (*tool.Scope, error) {
		return nil, fault.New(fault.Denied, e.Op, format, args...)
	}
	if r.house.Sight == nil {
		return no("nobody can say what policy keeps from this command")
	}
	if why, err := r.house.Tool(ctx, bash); err != nil || why != "" {
		if err == nil {
			_, err = no("commands do not run here: %s", why)
		}
		return nil, err
	}
	sight, err := r.house.Sight(ctx, bash)
	if err != nil {
		return nil, err
	}
	if by := sight.Offline(); e.Network && by != "" {
		return no("commands have no network here: %s denies it", by)
	}
	if e.Folder == "" {
		return tool.NewScope(nil, r.Hidden...), nil
	}
	if !filepath.IsAbs(e.Folder) {
		return nil, fault.New(fault.Invalid, e.Op, "the folder %q is no absolute path", e.Folder)
	}
	all, err := r.granted(ctx, outside{ctx, r.db}, op.CallerFrom(ctx).Tenant)
	if err != nil {
		return nil, err
	}
	around := holding(all, e.Folder)
	if len(around) == 0 {
		return nil, fault.New(fault.Denied, e.Op, "%s is not granted to sessions, so no command runs in it", e.Folder).
			WithNext("a person can grant it: tandem grant folder %s", e.Folder)
	}
	granted := tool.NewScope(around, r.Hidden...)
	at, err := granted.Locate("/", e.Folder, true)
	if err != nil {
		return nil, err
	}
	if at.Path != filepath.Clean(e.Folder) { // whoever may write beside it chose where it leads, after a person read its name
		return no("%s leads through a link to %s, and no command follows it", e.Folder, at.Path)
	}
	if s := sight.Of(tool.Slashed(at.Path)); s.Hidden {
		return no("%s is kept from this command by %s", e.Folder, s.By)
	}
	scope, err := r.seeing(ctx, tool.NewScope([]tool.Folder{{Path: at.Path, Outfit: granted.Outfit()}}, r.Hidden...), bash)
	if err != nil {
		return nil, err
	}
	exposed, err := r.sandbox.Exposed(scope)
	if err == nil && exposed != "" { // a session would ask; nobody is here to be asked
		return no("no command runs in %s by itself: %s", e.Folder, exposed)
	}
	return scope, err
}

// Suspended reports whether an error says that the tenant is suspended: what was under way waits until it is resumed.
func Suspended(err error) bool {
	return fault.Is(err, fault.Denied) && fault.Public(err).Data["reason"] == "tenant suspended"
}

// Erased reports whether a refusal is that of a tenant that goes: nothing of it is news, and its words are not written down any more.
func Erased(err error) bool {
	return fault.Is(err, fault.Denied) && fault.Public(err).Data["reason"] == "tenant erased"
}
