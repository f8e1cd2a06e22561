package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"time"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/settings"
)

// A tenant's file is tried before it comes to a server: a server of its own, in a box and with nothing else in it, takes the tenant, starts
// again with it, lets every room run and reads what it has. What would keep that server from starting keeps no other one.

// trialWord is the first argument by which this program knows that it is to try a tenant's file.
const trialWord = "try-tenant"

// watched is how long the rooms of such a server run.
const watched = 2 * time.Second

// trial says what is tried.
type trial struct {
	Folder  string            `json:"folder"` // that server's own
	Version string            `json:"version"`
	In      identity.ImportIn `json:"in"`
}

// tried is what came of it: nothing, or why no server is to take the file.
type tried struct {
	Done bool       `json:"done"`
	Kind fault.Kind `json:"kind,omitempty"`
	Why  string     `json:"why,omitempty"`
	Next string     `json:"next,omitempty"`
}

// TrialCalled says whether this program was started to try a tenant's file.
func TrialCalled(args []string) bool { return len(args) == 2 && args[1] == trialWord }

// TrialMain tries one.
func TrialMain(ctx context.Context, in io.Reader, out io.Writer) int {
	var t trial
	if err := bindTrial(); err != nil {
		return 3
	}
	if err := json.NewDecoder(in).Decode(&t); err != nil {
		return 1
	}
	v := tried{Done: true}
	if err := t.run(ctx); err != nil {
		f := fault.Public(err)
		v = tried{true, f.Kind, f.Msg, f.Next}
		if f.Kind == fault.Internal {
			v.Kind, v.Why = fault.Invalid, err.Error()
		}
	}
	if err := json.NewEncoder(out).Encode(v); err != nil {
		return 1
	}
	return 0
}

func (t *trial) run(ctx context.Context) error {
	var tenant string
	err := t.within(ctx, func(ctx context.Context, d *Daemon) (err error) {
		tenant, err = d.takes(ctx, t.In)
		return err
	})
	if err != nil {
		return err
	}
	err = t.within(ctx, func(ctx context.Context, d *Daemon) error { return d.livesWith(ctx, tenant) })
	if err != nil {
		return fmt.Errorf("a server that has it does not work: %w", err)
	}
	return nil
}

// within does something with that server, which listens nowhere.
func (t *trial) within(ctx context.Context, do func(context.Context, *Daemon) error) error {
	s, err := settings.Load(map[string]string{"data": filepath.Join(t.Folder, "data"), "secret_keeper": "file"}, []string{"HOME=" + t.Folder})
	if err != nil {
		return err
	}
	d := &Daemon{Settings: s, Version: t.Version, OnDemand: true, tries: true}
	return d.open(ctx, func(ctx context.Context) error { return do(ctx, d) })
}

// takes has it take the tenant as a person would, confirm whatever it brings, and open it.
func (d *Daemon) takes(ctx context.Context, in identity.ImportIn) (tenant string, err error) {
	c, err := d.identity.Caller(ctx, identity.LocalTenant, identity.Owner, op.DoorSocket)
	if err != nil {
		return "", err
	}
	c.Present = "pin"
	ctx = op.WithCaller(ctx, c)
	out, err := d.identity.Carry.In(ctx, in)
	if err != nil {
		return "", err
	}
	list, err := d.journal.Adopted(ctx)
	if err == nil {
		_, err = d.gate.Invoke(ctx, string(journal.AuditConfirm), journal.ConfirmIn{Digest: list.Digest})
	}
	if err == nil {
		_, err = d.gate.Invoke(ctx, string(identity.TenantResume), map[string]any{"name": out.ID})
	}
	return out.ID, err
}

// livesWith lets the rooms run for a while and reads what the tenant has, as its people would.
func (d *Daemon) livesWith(ctx context.Context, tenant string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &serving{Daemon: d, ctx: ctx}
	if err := d.rooms.peer.Start(ctx); err != nil {
		return err
	}
	if err := s.run(ctx); err != nil {
		return err
	}
	defer func() { cancel(); s.running.Wait() }()
	for _, look := range []func(context.Context) error{d.soundWith, func(ctx context.Context) error { return d.readsAll(ctx, tenant) }} {
		if err := look(ctx); err != nil {
			return err
		}
	}
	select {
	case <-d.stopping:
		return errors.New("its rooms stopped it")
	case <-time.After(watched):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// soundWith holds the rows against the journal, as a start and people do.
func (d *Daemon) soundWith(ctx context.Context) error {
	_, err := d.journal.Orphans(ctx)
	return err
}

// readers are so many people of a tenant who look at it.
const readers = 3

// readsAll does every operation that lists something, as people of the tenant: what a room cannot read shows there.
func (d *Daemon) readsAll(ctx context.Context, tenant string) error {
	people, err := d.identity.People(ctx, tenant, readers)
	if err != nil {
		return err
	}
	for _, name := range people {
		c, err := d.identity.Caller(ctx, tenant, name, op.DoorSocket)
		if err != nil {
			return err
		}
		c.Present = "pin"
		for _, o := range d.gate.Table().All() {
			if o.Class != op.ClassRead || o.Waits || o.Public || needsInput(o) {
				continue
			}
			ctx, cancel := context.WithTimeout(op.WithCaller(ctx, c), 30*time.Second)
			_, err := d.gate.Do(ctx, o, reflect.Zero(o.In).Interface())
			cancel()
			if fault.Is(err, fault.Internal) {
				return fmt.Errorf("%s cannot be answered: %w", o.Name, err)
			}
		}
	}
	return nil
}

func needsInput(o *op.Op) bool {
	for _, f := range o.Fields() {
		if f.Required {
			return true
		}
	}
	return false
}
