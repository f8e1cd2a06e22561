package replica

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/repo"
	"tandem/internal/repo/exchange"
	"tandem/internal/repo/gitstore"
)

// Remote is the way to a server: a client, and what comes before the routes when
// this machine's daemon passes requests on.
type Remote struct {
	Client *client.Client
	Prefix string
	Header http.Header
}

func (m Remote) send(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	header := m.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if body != nil {
		header.Set("Content-Type", exchange.ContentType)
		// A sync may be repeated: what is there already is not taken twice.
		header.Set("X-Idempotency-Key", "sync")
	}
	return m.Client.Do(ctx, method, m.Prefix+path, body, header)
}

// Invoke runs an operation on the server and answers in JSON: it makes the remote an op.Invoker.
func (m Remote) Invoke(ctx context.Context, name string, in any) (any, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	resp, err := m.Client.Do(ctx, http.MethodPost, m.Prefix+"/op/"+url.PathEscape(name), bytes.NewReader(body), m.Header)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var out json.RawMessage
	err = json.NewDecoder(resp.Body).Decode(&out)
	return out, err
}

// Sync brings the copy and the server to the same head in one request: what was
// made here goes up, what others made comes down. When others have moved the
// workspace's own commit, save is called first, so that what is on disk becomes
// an operation of its own and goes up before the files change. Sync reports
// whether the head here changed.
func (r *Replica) Sync(ctx context.Context, m Remote, save func() error) (moved bool, err error) {
	lock, err := gitstore.LockFile(ctx, r.path("sync.lock"))
	if err != nil {
		return false, err
	}
	defer lock.Unlock()
	head, err := r.bring(ctx, m)
	if err != nil {
		return false, err
	}
	if save != nil {
		touched, err := r.touches(ctx, head)
		if err != nil {
			return false, err
		}
		if touched {
			before, err := r.Store.Heads()
			if err != nil {
				return false, err
			}
			if err := save(); err != nil {
				return false, err
			}
			after, err := r.Store.Heads()
			if err != nil {
				return false, err
			}
			if !slices.Equal(before, after) {
				if head, err = r.bring(ctx, m); err != nil {
					return false, err
				}
			}
		}
	}
	return r.follow(ctx, head)
}

// touches says whether the server's head has another commit for this workspace
// than ours.
func (r *Replica) touches(ctx context.Context, head repo.OperationID) (bool, error) {
	own, err := r.Head()
	if err != nil || own == "" || own == head {
		return false, err
	}
	ours, err := r.pointerAt(ctx, own)
	if err != nil {
		return false, err
	}
	theirs, err := r.pointerAt(ctx, head)
	return ours != theirs, err
}

// bring exchanges with the server until both have everything, and gives its
// head. The caller holds the lock.
func (r *Replica) bring(ctx context.Context, m Remote) (repo.OperationID, error) {
	known, err := r.Known()
	if err != nil {
		return "", err
	}
	tips, err := r.Store.Heads()
	if err != nil {
		return "", err
	}
	head, err := r.exchange(ctx, m, known, tips, nil)
	var f *fault.Error
	if errors.As(err, &f) && f.Data["unknown"] != "" {
		if err = r.giveBack(ctx, m, known, f.Data["heads"]); err != nil {
			return "", err
		}
		if known, err = r.Known(); err == nil {
			head, err = r.exchange(ctx, m, known, tips, nil)
		}
	}
	return head, err
}

// exchange asks once. back is what the server had and lost, when that is what
// the question is about.
func (r *Replica) exchange(ctx context.Context, m Remote, known Known, tips []repo.OperationID, back *offer) (repo.OperationID, error) {
	var have []repo.OperationID
	if id, ok := repo.ParseOperationID(known.Head); ok && r.Store.HasOperation(id) {
		have = append(have, id)
	}
	delta, err := r.Store.Delta(ctx, have, tips)
	if err != nil {
		return "", err
	}
	said, err := r.said()
	if err != nil {
		return "", err
	}
	q := exchange.Question{Workspace: r.Workspace, Have: exchange.Hex(have), Heard: said.Last}
	if len(delta.Operations) > 0 {
		q.Heads = exchange.Hex(tips)
	}
	if back != nil {
		q.Heads, q.Back, q.Receipt, q.Told = exchange.Hex(tips), true, back.receipt, back.told
	}
	var fetch fetching
	if known.Head == "" && len(q.Heads) == 0 {
		if fetch, err = readHint[fetching](r.path("fetching.json")); err != nil {
			return "", err
		}
		q.Want, q.Skip = fetch.Head, fetch.Objects
	}
	pr, pw := io.Pipe()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		w := exchange.NewWriter(pw)
		err := w.JSON(exchange.Head, q)
		if err == nil {
			err = exchange.Send(ctx, w, r.Store, delta, 0)
		}
		pw.CloseWithError(err)
	}()
	defer func() { pr.Close(); <-sent }()
	resp, err := m.send(ctx, http.MethodPost, "/repo/"+url.PathEscape(r.Ref())+"/sync", pr)
	if err != nil {
		return "", r.unserved(err)
	}
	defer resp.Body.Close()
	in := exchange.NewReader(resp.Body)
	var a exchange.Answer
	if err := in.Head(&a); err != nil {
		return "", broken(err)
	}
	if r.ID != "" && a.Repository != "" && a.Repository != r.ID {
		return "", fault.New(fault.Conflict, "repo.sync", "%s answered for the repository %s, and this is a copy of %s (%s)", r.Server,
			a.Repository, r.Repo, r.ID)
	}
	head, ok := repo.ParseOperationID(a.Head)
	if !ok {
		return "", fmt.Errorf("the server's head is %q", a.Head)
	}
	limits := gitstore.DefaultLimits
	limits.Named, limits.Held = math.MaxInt64, math.MaxInt // a copy has all of its server's history
	quarantine := r.Store.Receive(limits)
	quarantine.Unkept, quarantine.Served = true, true
	if known.Head == "" {
		if fetch.Head != a.Head {
			fetch = fetching{Head: a.Head}
		}
		quarantine.Arrived = func(objects int) error {
			fetch.Objects += objects
			if r.Progress != nil {
				r.Progress(fetch.Objects, a.Objects)
			}
			return writeHint(r.path("fetching.json"), fetch)
		}
	}
	defer quarantine.Close()
	if err := exchange.Take(ctx, in, quarantine); err != nil {
		if q.Skip > 0 && fault.Is(err, fault.Invalid) {
			err = errors.Join(err, r.forgetFetch())
		}
		return "", broken(err)
	}
	if len(quarantine.Operations()) > 0 {
		if err := r.accept(ctx, quarantine, known, tips, head); err != nil {
			return "", err
		}
		_ = r.Store.Tidy(ctx) // what arrived is there even so, and the next sync tries again
	}
	if !r.Store.HasOperation(head) {
		return "", fmt.Errorf("the server's head %.12s did not arrive", a.Head)
	}
	if err := r.hear(said, a.Words); err != nil {
		return "", err
	}
	if q.Skip > 0 {
		if err := r.whole(ctx, head); err != nil {
			return "", errors.Join(err, r.forgetFetch())
		}
	}
	if err := r.forgetFetch(); err != nil {
		return "", err
	}
	if r.ID == "" && a.Repository != "" {
		// What the server said stands on what is here, or there is nothing here.
		r.ID = a.Repository
		if err := writeJSON(r.path("replica.json"), r.Config); err != nil {
			return "", err
		}
	}
	now := Known{Head: a.Head, Version: a.Version, Actor: a.Actor, Checkpoint: a.Checkpoint, Receipt: a.Receipt}
	if now == known {
		return head, nil
	}
	return head, writeHint(r.path("known.json"), now)
}

// accept makes what arrived part of the copy. What the head adds to the index is
// known from what arrived, so that nobody need read all the operations between
// to find it out.
func (r *Replica) accept(ctx context.Context, in *gitstore.Incoming, known Known, tips []repo.OperationID, head repo.OperationID) error {
	id, ok := repo.ParseOperationID(known.Head)
	if !ok || len(tips) != 1 {
		return in.Accept(ctx)
	}
	// A command that was made while an answer was on its way does not stand on
	// what came with that.
	if aside, err := repo.OperationRange(ctx, r.Store, tips, []repo.OperationID{id}); err != nil || len(aside) > 0 {
		return errors.Join(err, in.Accept(ctx))
	}
	ix, err := in.IndexOver(ctx, tips[0])
	if err != nil {
		return err
	}
	if err := in.Accept(ctx); err != nil {
		return err
	}
	return r.Store.SaveIndex(head, ix)
}

// fetching is how far the first fetch of a copy has come.
type fetching struct {
	Head    string `json:"head"`
	Objects int    `json:"objects"`
}

// forgetFetch ends a first fetch, or has the next one begin anew: one that goes on
// from objects that were said to be there, and are not, would fail every time.
func (r *Replica) forgetFetch() error {
	if err := os.Remove(r.path("fetching.json")); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// whole checks that everything an operation names is there, when it came in
// several pieces.
func (r *Replica) whole(ctx context.Context, head repo.OperationID) error {
	all, err := r.Store.Delta(ctx, nil, []repo.OperationID{head})
	if err != nil {
		return err
	}
	for id, err := range all.Objects(ctx) {
		if err != nil {
			return err
		}
		if !r.Store.Has(id) {
			return fmt.Errorf("object %x did not arrive", id)
		}
	}
	return nil
}

// unserved says what this is a copy of when the server has no such repository.
func (r *Replica) unserved(err error) error {
	var f *fault.Error
	if r.ID == "" || !errors.As(err, &f) || f.Kind != fault.NotFound {
		return err
	}
	return fault.New(fault.NotFound, f.Op, "this is a copy of %s: %w", r.Repo, err).WithNext("%s", f.Next)
}

// broken makes of a connection that ended in the middle of an answer a server
// that is away: the next sync asks again.
func broken(err error) error {
	if exchange.Cut(err) {
		return fault.New(fault.Unavailable, "repo.sync", "the connection to the server broke: %w", err)
	}
	return err
}

// follow makes the server's head ours. When something was made here meanwhile
// that it does not contain, ours stays, and goes up with the next sync.
func (r *Replica) follow(ctx context.Context, head repo.OperationID) (moved bool, err error) {
	if err := r.mirror(ctx, head); err != nil {
		return false, err
	}
	unlock, err := r.Store.LockHeads(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	heads, err := r.Store.Heads()
	if err != nil {
		return false, err
	}
	if len(heads) == 1 && heads[0] == head {
		return false, nil
	}
	own, err := repo.OperationRange(ctx, r.Store, []repo.OperationID{head}, heads)
	if err != nil || len(own) > 0 {
		return false, err
	}
	return true, r.Store.PublishHead(head, heads...)
}

// mirrored are the refs that jj imports and exports.
var mirrored = []string{"refs/heads/", "refs/tags/", "refs/remotes/"}

// mirror gives the copy's git the refs that the view says git has, so that a
// command that imports them finds nothing new.
func (r *Replica) mirror(ctx context.Context, head repo.OperationID) error {
	o, err := r.Store.Operation(ctx, head)
	if err != nil {
		return err
	}
	v, err := r.Store.View(ctx, o.View)
	if err != nil {
		return err
	}
	have := map[string]gitstore.Ref{}
	for _, prefix := range mirrored {
		refs, err := r.Store.Refs(prefix)
		if err != nil {
			return err
		}
		maps.Copy(have, refs)
	}
	removed, created, moved := map[string]string{}, map[string]string{}, map[string][2]string{}
	for name, ref := range have {
		if _, ok := v.GitRefs[name]; !ok && ref.ID != "" {
			removed[name] = ref.ID
		}
	}
	for name, t := range v.GitRefs {
		id, ok := t.AsResolved()
		if !ok || id == "" || !slices.ContainsFunc(mirrored, func(p string) bool { return strings.HasPrefix(name, p) }) {
			continue
		}
		switch ref, found := have[name]; {
		case found && ref.ID == string(id):
		case !found:
			created[name] = string(id)
		default:
			moved[name] = [2]string{ref.ID, string(id)}
		}
	}
	if err := r.Store.ChangeRefs(created, removed); err != nil {
		return err
	}
	for name, m := range moved {
		if err := r.Store.UpdateRef(name, m[0], m[1]); err != nil {
			return err
		}
	}
	return nil
}
