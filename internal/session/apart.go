package session

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/session/checkout"
	"tandem/internal/tool"
)

// Checkout is a checkout of a repository that was made for a session alone.
type Checkout = checkout.Checkout

// CheckoutIn makes one for a session with a model.
type CheckoutIn struct {
	Directory string        `json:"directory" jsonschema:"a granted folder in the repository, absolute"`
	Name      string        `json:"name" jsonschema:"letters, digits, - and _: the checkout lies beside the repository, with this at the end of its name"`
	Kind      checkout.Kind `json:"kind" jsonschema:"worktree (git) or workspace (jj)"`
}

// DiscardOut says what is gone.
type DiscardOut struct {
	OK bool `json:"ok"`
	Checkout
}

func (r *Room) checkoutOps() []op.Op {
	return []op.Op{
		op.Touching(SessionCheckout.Effect(op.Spec{Right: "session.create", Method: "POST", Path: "/session-checkouts", MCP: "-",
			Doc: "Make a checkout of a repository for one session, beside it: a git worktree on a branch of its own, or a jj workspace.\nWhat is " +
				"not committed in the repository stays there."},
			func(CheckoutIn) op.Resource { return at("") }, r.checkout, nil),
			func(_ context.Context, in CheckoutIn) op.Touch { return Branching(in.Directory) }),
		SessionKeep.Effect(op.Spec{Right: "session.write", Method: "POST", Path: "/sessions/{id}/keep", MCP: "-",
			Doc: "Keep what a session did in its own checkout: its branch or commits stay in the repository, and the checkout's folder goes."}, one,
			r.keep, nil),
		SessionDiscard.Effect(op.Spec{Right: "session.write", Method: "POST", Path: "/sessions/{id}/discard", MCP: "-",
			Doc: "Discard a session's own checkout with all that was done in it. The repository is as if it had not been."}, one, r.discard, nil),
	}
}

// Branching is what making a checkout touches: the folder whose repository gets a branch. Who may not change that folder, or only with an
// approval, makes none, or asks.
func Branching(folder string) op.Touch {
	clean := filepath.ToSlash(filepath.Clean(folder))
	if !filepath.IsAbs(folder) { // it is refused for that
		return op.Touch{}
	}
	return op.Touch{Also: []op.Resource{{Kind: "folder", Path: "/" + strings.TrimPrefix(clean, "/")}}}
}

func (r *Room) checkout(ctx context.Context, in CheckoutIn) (Checkout, error) {
	all, err := r.granted(ctx, outside{ctx, r.db}, op.CallerFrom(ctx).Tenant)
	if err != nil {
		return Checkout{}, err
	}
	for _, f := range holding(all, in.Directory) {
		if !f.ReadOnly {
			return r.Apart(ctx, in.Kind, in.Directory, in.Name)
		}
	}
	return Checkout{}, fault.New(fault.Denied, "session.checkout", "%.200s lies in no folder that was granted for changes", in.Directory).
		WithNext("a person grants it: tandem grant folder %s", in.Directory)
}

// Apart makes a checkout of the repository that holds a folder, for a session that the caller opens. Whether the folder may be used is for
// the caller to know.
func (r *Room) Apart(ctx context.Context, kind checkout.Kind, folder, name string) (Checkout, error) {
	c := op.CallerFrom(ctx)
	switch {
	case OpenerOf(c) != "":
		return Checkout{}, fault.New(fault.Denied, "session.checkout", "a session makes no checkout beside its own folder").
			WithNext("let a person open it")
	case kind != checkout.Worktree && kind != checkout.Workspace:
		return Checkout{}, fault.New(fault.Invalid, "session.checkout", "kind is worktree or workspace, not %.40q", kind)
	}
	made, err := r.Checkouts.Add(ctx, kind, folder, name)
	if err != nil {
		return made, err
	}
	err = r.db.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error {
		if _, err := tx.Exec("INSERT INTO session_checkout (tenant, path, repo, body, made_by, created_at) VALUES (?, ?, ?, ?, ?, ?)",
			c.Tenant, made.Path, made.Repo, encode(made), c.Name, tx.Now()); err != nil {
			return err
		}
		return r.vouchCheckout(tx, c, EventCheckoutMade, sealCheckout(made, c.Tenant))
	})
	if err != nil { // nobody would know of it
		return made, errors.Join(err, r.Checkouts.Discard(context.WithoutCancel(ctx), made))
	}
	op.Note(ctx, "checkout", made.Path)
	return made, nil
}

// The events that vouch for a checkout, and for its end.
const (
	EventCheckoutMade = "session.checkout_made"
	EventCheckoutGone = "session.checkout_gone"
)

// vouchCheckout has an event of its own vouch for a checkout's row, or for its end, in the transaction that writes it: what makes a
// checkout works outside the database, and uses the checkout before its outcome is known.
func (r *Room) vouchCheckout(tx *db.Tx, c op.Caller, typ string, row op.Sealed) error {
	payload := encode(map[string]any{"checkout": strings.TrimPrefix(row.Subject, "checkout:")})
	_, err := r.journal.Append(tx, journal.Event{Tenant: c.Tenant, Type: typ, Actor: c.Name, For: c.For, Resource: at("").String(),
		Payload: json.RawMessage(payload), Seals: journal.SealsOf([]op.Sealed{row})})
	return err
}

// checkouts are those that were made for sessions, as far as the journal vouches for them.
func (r *Room) checkouts(ctx context.Context, q reader, tenant string) ([]Checkout, error) {
	rows, err := q.rows("SELECT body FROM session_checkout WHERE tenant = ? ORDER BY path", tenant)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (Checkout, error) { return scanCheckout(rows) })
	return slices.DeleteFunc(all, func(c Checkout) bool { return !r.Vouch.Holds(ctx, sealCheckout(c, tenant)) }), err
}

// withCheckouts are folders that were granted, and the checkouts of repositories in them: a checkout is granted as its repository is.
func (r *Room) withCheckouts(ctx context.Context, q reader, tenant string, all []tool.Folder) ([]tool.Folder, error) {
	made, err := r.checkouts(ctx, q, tenant)
	out := all
	for _, c := range made {
		if st, err := os.Lstat(c.Path); err != nil || !st.IsDir() || !beside(c) { // exchanged by a link it is another folder
			continue
		}
		for _, f := range holding(all, c.Repo) {
			out = append(out, tool.Folder{Path: c.Path, ReadOnly: f.ReadOnly, Outfit: f.Outfit})
		}
	}
	return out, err
}

// beside says whether a checkout is where checkouts are made: a row cannot lend what lies elsewhere.
func beside(c Checkout) bool {
	return filepath.Dir(c.Path) == filepath.Dir(c.Repo) && strings.HasPrefix(filepath.Base(c.Path), filepath.Base(c.Repo)+"-")
}

// its is the checkout that a session works in, when that can be taken away: nobody works there.
func (r *Room) its(ctx context.Context, id string) (*Session, Checkout, error) {
	s, err := r.Get(ctx, op.CallerFrom(ctx).Tenant, id)
	if err != nil {
		return nil, Checkout{}, err
	}
	if err := s.DrivenBy(op.CallerFrom(ctx)); err != nil {
		return nil, Checkout{}, err
	}
	made, err := r.checkouts(ctx, outside{ctx, r.db}, s.Tenant)
	if err != nil {
		return nil, Checkout{}, err
	}
	for _, c := range made {
		if s.Directory == "" || !within(c.Path, s.Directory) {
			continue
		}
		if t, err := r.Next(ctx, s.Tenant, s.ID); err != nil || t != nil {
			if err == nil {
				err = fault.New(fault.Conflict, "session.keep", "a turn is open").WithNext("wait for it, or stop it: tandem session cancel %s", s.ID)
			}
			return nil, c, err
		}
		if r.Live != nil && r.Live(s.ID) {
			return nil, c, fault.New(fault.Conflict, "session.keep", "the program of %s still runs there", s.Title).
				WithNext("close it first: tandem session close %s", s.Title)
		}
		return s, c, r.empty(ctx, s.Tenant, c.Path) // another one may work there by now
	}
	return nil, Checkout{}, fault.New(fault.Conflict, "session.keep", "%s has no checkout of its own", s.Title).
		WithNext("see what it changed: tandem session diff %s", s.ID)
}

func (r *Room) keep(ctx context.Context, in IDIn) (checkout.Kept, error) {
	s, c, err := r.its(ctx, in.ID)
	if err != nil {
		return checkout.Kept{}, err
	}
	kept, err := r.Checkouts.Keep(ctx, c)
	if err != nil {
		return kept, err
	}
	op.Note(ctx, "commits", kept.Commits)
	return kept, r.forgetCheckout(ctx, s, c)
}

func (r *Room) discard(ctx context.Context, in IDIn) (DiscardOut, error) {
	s, c, err := r.its(ctx, in.ID)
	if err != nil {
		return DiscardOut{}, err
	}
	if err := r.Checkouts.Discard(ctx, c); err != nil {
		return DiscardOut{}, err
	}
	return DiscardOut{true, c}, r.forgetCheckout(ctx, s, c)
}

// Undo takes a checkout back whose session could not be opened.
func (r *Room) Undo(ctx context.Context, tenant string, c Checkout) error {
	ctx = context.WithoutCancel(ctx)
	if err := r.Checkouts.Discard(ctx, c); err != nil {
		return err
	}
	return r.forgetCheckout(ctx, &Session{Tenant: tenant}, c)
}

// TakeBack takes a checkout away that was made for a session and in which none works; it does nothing where there is none.
func (r *Room) TakeBack(ctx context.Context, tenant, path string) error {
	made, err := r.checkouts(ctx, outside{ctx, r.db}, tenant)
	i := slices.IndexFunc(made, func(c Checkout) bool { return c.Path == path })
	if err != nil || i < 0 {
		return err
	}
	if err := r.empty(ctx, tenant, path); err != nil {
		return err
	}
	return r.Undo(ctx, tenant, made[i])
}

// Left is a checkout of the repository that holds a folder, made for another session, in which no agent works any more. Whether the folder
// may be used is for the caller to know: a checkout is granted as its repository is.
func (r *Room) Left(ctx context.Context, path, folder string) (Checkout, error) {
	c := op.CallerFrom(ctx)
	if OpenerOf(c) != "" {
		return Checkout{}, fault.New(fault.Denied, "session.open", "a session takes over no checkout").WithNext("let a person open it")
	}
	made, err := r.checkouts(ctx, outside{ctx, r.db}, c.Tenant)
	if err != nil {
		return Checkout{}, err
	}
	for _, k := range made {
		if st, err := os.Lstat(k.Path); k.Path != filepath.Clean(path) || err != nil || !st.IsDir() || !beside(k) || !within(k.Repo, folder) {
			continue
		}
		return k, r.empty(ctx, c.Tenant, k.Path)
	}
	return Checkout{}, fault.New(fault.NotFound, "session.open", "%.200s is no checkout that was made for a session beside that folder", path)
}

// empty refuses a checkout in which an agent works.
func (r *Room) empty(ctx context.Context, tenant, path string) error {
	rows, err := r.db.Query(ctx, "SELECT "+sessionColumns+" FROM session WHERE tenant = ? AND (directory = ? OR directory LIKE ?)", tenant,
		path,
		strings.NewReplacer("%", "_", `\`, "_").Replace(path)+"/%")
	there, err := db.Collect(rows, err, func(rows *sql.Rows) (*Session, error) { return scanSession(rows) })
	if err != nil {
		return err
	}
	for _, s := range there {
		if !within(path, s.Directory) {
			continue
		}
		t, err := r.Next(ctx, tenant, s.ID)
		if err != nil {
			return err
		}
		if t != nil || r.Live != nil && r.Live(s.ID) {
			return fault.New(fault.Conflict, "session.discard", "the session %s still works in %s", s.ID, path).
				WithNext("close it first: tandem session close %s", s.Title)
		}
	}
	return nil
}

func (r *Room) forgetCheckout(ctx context.Context, s *Session, c Checkout) error {
	who := op.CallerFrom(ctx)
	who.Tenant = s.Tenant
	return r.db.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error {
		if _, err := tx.Exec("DELETE FROM session_checkout WHERE tenant = ? AND path = ?", s.Tenant, filepath.Clean(c.Path)); err != nil {
			return err
		}
		return r.vouchCheckout(tx, who, EventCheckoutGone, op.Sealed{Tenant: s.Tenant, Subject: checkoutSubject(c.Path)})
	})
}
