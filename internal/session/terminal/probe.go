package terminal

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/provider/scripted"
	"tandem/internal/session"
	"tandem/internal/session/agents"
)

// A probe is a turn of the real program in a session of its own that nobody sees: in an empty home, with tandem's own model on
// loopback, so that it costs nothing and needs no account. It is made when a version is first used, beside the session that
// somebody opened, and says which of the version's signals work.

// probeTime is how long a probe may take, on a machine that may be busy.
const probeTime = 3 * time.Minute

// ProbeIn asks for a check of a program.
type ProbeIn struct {
	Agent string `json:"agent,omitempty" jsonschema:"claude (the default), codex or opencode"`
	Real  bool   `json:"real,omitempty" jsonschema:"ask the model that the program uses, once, instead of tandem's own"`
	Cwd   string `json:"cwd,omitempty" jsonschema:"where a real one works: an allowed folder; the default one when left out"`
}

// ChecksOut lists what is known of versions.
type ChecksOut struct {
	Programs []Checked `json:"programs"`
}

func (d *Driver) checkOps() []op.Op {
	return []op.Op{
		SessionProbe.Effect(op.Spec{Right: "session.create", Method: "POST", Path: "/terminals-probe", MCP: "-",
			Doc: "Check which signals of an agent program work, with one short turn of it in a session that is closed again.\nNo model is " +
				"asked unless real says so."},
			func(ProbeIn) op.Resource { return at("") }, d.probeOp, nil),
		SessionPrograms.Read(op.Spec{Right: "session.list", Masked: true, Method: "GET", Path: "/terminals-programs", MCP: "-",
			Doc: "List the versions of agent programs that were checked, and which of their signals work."},
			func(ReapIn) op.Resource { return at("") },
			func(ctx context.Context, _ ReapIn) (ChecksOut, error) {
				all, err := d.checked(ctx, op.CallerFrom(ctx).Tenant, "", "")
				return ChecksOut{append([]Checked{}, all...)}, err
			}),
	}
}

func (d *Driver) probeOp(ctx context.Context, in ProbeIn) (Checked, error) {
	agent := orElse(in.Agent, agents.ClaudeName)
	if err := agents.Check(agent, "", ""); err != nil {
		return Checked{}, err
	}
	if in.Real {
		return d.probeReal(ctx, agent, in.Cwd)
	}
	return d.probe(ctx, agent)
}

// meet checks a version that was not probed before, in the background, as the session that met it.
func (d *Driver) meet(ctx context.Context, tenant string, v Seat) {
	c, err := d.caller(tenant, v.Session)(ctx)
	if err != nil {
		d.log.Error("check a program", "session", v.Session, "err", err)
		return
	}
	key := c.Tenant + " " + v.Agent + " " + v.Version
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.probing[key] {
		return
	}
	d.probing[key] = true
	d.all.Go(func() {
		if _, err := d.probe(op.WithCaller(d.base, c), v.Agent); err != nil && d.base.Err() == nil {
			d.log.Warn("a program could not be checked", "agent", v.Agent, "version", v.Version, "err", err)
			d.spread(tenant, Checked{Agent: v.Agent, Version: v.Version,
				Verdict: "warning: " + v.Agent + " " + v.Version + " could not be checked: " + fault.Public(err).Msg})
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.probing, key)
	})
}

// probe checks the installed version of a program, and tells the sessions that run it.
func (d *Driver) probe(ctx context.Context, agent string) (Checked, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	if err := d.tmux.Missing(); err != nil {
		return Checked{}, err
	}
	model := &scripted.Server{}
	if err := model.Start("127.0.0.1:0"); err != nil {
		return Checked{}, err
	}
	defer model.Close()
	s, err := d.openProbe(ctx, agent, model.URL())
	if err != nil {
		return Checked{}, err
	}
	defer d.dropProbe(context.WithoutCancel(ctx), s.row.Tenant, s.row.Session)
	for s.view().State == Starting && ctx.Err() == nil {
		time.Sleep(50 * time.Millisecond)
	}
	wait := int(probeTime.Milliseconds())
	out, err := d.Send(ctx, s.row.Session, SendIn{Name: s.row.Name, Text: agents.Probe(agent), Wait: &wait})
	v := s.view()
	switch {
	case err != nil:
		return Checked{}, err
	case ctx.Err() != nil || !out.Idle: // nothing is known: it is tried again when the version is met again
		return Checked{}, fault.New(fault.Conflict, "session.probe", "the turn did not end; the program is %s %s", v.State, v.Detail).
			WithNext("start it once by hand, and look")
	case v.Version == "":
		return Checked{}, fault.New(fault.Conflict, "session.probe", "the program does not say which version it is").
			WithNext("start it once by hand, and look")
	}
	d.log.Info("a program was probed", "agent", agent, "version", v.Version, "turn", out.Status, "reason", out.Reason)
	s.stop()
	<-s.done // its signals were its own until then
	for end := time.Now().Add(5 * time.Second); len(judged(agent, v.Version, s.signals, d.db.Now()).Missing) > 0 &&
		time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		s.prog.read(ctx) // what is written down may come after the end
	}
	got, err := d.keep(context.WithoutCancel(ctx), s.row.Tenant, agent, v.Version, s.signals, true)
	if err != nil {
		return Checked{}, err
	}
	d.spread(s.row.Tenant, got)
	return got, nil
}

// spread says of every session that runs a version what is known of it.
func (d *Driver) spread(tenant string, c Checked) {
	d.mu.Lock()
	var all []*seat
	for _, s := range d.seats {
		all = append(all, s)
	}
	d.mu.Unlock()
	for _, s := range all {
		s.update(func(r *row) bool {
			if r.Tenant != tenant || r.Agent != c.Agent || r.Version != c.Version || r.Check == c.Verdict {
				return false
			}
			r.Check = c.Verdict
			return true
		})
	}
}

// openProbe starts a program on its stage.
func (d *Driver) openProbe(ctx context.Context, agent, base string) (*seat, error) {
	program, err := d.find(agent)
	if err != nil {
		return nil, err
	}
	confined, err := d.confinement(ctx)
	if err != nil {
		return nil, err
	}
	c := op.CallerFrom(ctx)
	r := &row{Tenant: c.Tenant, Lives: d.Lives, Program: program, Probe: true,
		Seat: Seat{Name: "probe-" + newConversation()[:8], Agent: agent, State: Starting, Signal: "launch", Confined: confined}}
	stage := &agents.Stage{Base: base}
	err = d.db.Write(ctx, func(tx *db.Tx) error {
		ses := &session.Session{Title: "check of " + agent, Directory: "/", Driver: DriverName, Model: agent + "/default", Owner: "tandem"}
		if err := d.room.Add(ctx, tx, c, ses, nil); err != nil {
			return err
		}
		r.Session, r.CreatedAt, r.Since = ses.ID, tx.Now(), tx.Now()
		stage.Home = d.stageOf(ses.ID)
		r.Folder, r.Config = stage.Folder(), agents.StateFolder(agent, nil, stage.Home)
		if err := save(tx, r); err != nil {
			return err
		}
		return d.room.Added(tx, c, ses, r.seal())
	})
	if err != nil {
		return nil, err
	}
	s := d.seat(r)
	s.stage = stage
	if err = stage.Write(agent); err == nil {
		err = s.launch(ctx)
	}
	if err != nil {
		d.dropProbe(context.WithoutCancel(ctx), r.Tenant, r.Session)
		return nil, err
	}
	d.start(s)
	return s, nil
}

// stageOf is the home of a probe's program. It lies beside the session's own folder, which a confined program cannot write to.
func (d *Driver) stageOf(session string) string {
	return filepath.Join(d.data(), filepath.Base(d.Folder), session+".probe")
}

// dropProbe ends a probe and removes all of it, also one that a crash left behind.
func (d *Driver) dropProbe(ctx context.Context, tenant, id string) {
	_, err := d.Shut(ctx, id)
	if err == nil {
		err = d.db.Write(ctx, func(tx *db.Tx) error {
			if _, err := tx.Exec("DELETE FROM terminal WHERE tenant = ? AND session = ?", tenant, id); err != nil {
				return err
			}
			if err := d.room.Forget(tx, tenant, id); err != nil {
				return err
			}
			return d.room.Gone(tx, op.Caller{Tenant: tenant, Name: "tandem"}, id, seatSubject(id))
		})
	}
	if err == nil {
		err = os.RemoveAll(d.stageOf(id))
	}
	if err != nil {
		d.log.Error("remove a probe", "session", id, "err", err)
	}
}

// refuseProbe answers the hooks of a probe: its tool is asked about and refused, so that both are seen and nothing runs.
func (s *seat) refuseProbe(h hooked) HookOut {
	switch {
	case h.Event == "PermissionRequest":
		return decision(map[string]any{"behavior": "deny", "message": "this was only a check"})
	case h.Event == "PreToolUse" && s.row.Agent == agents.ClaudeName: // the others ask through their server
		return verdict("PreToolUse", "ask", "this is only a check")
	}
	return HookOut{}
}

// probeReal checks a program with one turn of the model that it uses.
func (d *Driver) probeReal(ctx context.Context, agent, cwd string) (Checked, error) {
	seat, err := d.Open(ctx, OpenIn{Name: "probe-" + newConversation()[:8], Agent: agent, Cwd: cwd})
	if err != nil {
		return Checked{}, err
	}
	defer func() {
		if _, err := d.Shut(context.WithoutCancel(ctx), seat.Session); err != nil {
			d.log.Error("close a probe", "session", seat.Session, "err", err)
		}
	}()
	wait := int(probeTime.Milliseconds())
	out, err := d.Send(ctx, seat.Session, SendIn{Name: seat.Name, Text: "Reply with the word ok and nothing else.", Wait: &wait})
	if err != nil {
		return Checked{}, err
	}
	if out.Status != "done" {
		return Checked{}, fault.New(fault.Conflict, "session.probe", "the probe's turn did not go well: %s %s", out.Status, out.Reason).
			WithNext("start the program once by hand, and look")
	}
	v := d.seen(seat.Session)
	all, err := d.checked(ctx, op.CallerFrom(ctx).Tenant, agent, v.Version)
	if err != nil {
		return Checked{}, err
	}
	if len(all) == 0 || v.Version == "" {
		return Checked{}, fault.New(fault.Conflict, "session.probe", "the program does not say which version it is")
	}
	return all[0], nil
}

// seen is a live seat as it is now.
func (d *Driver) seen(id string) Seat {
	if s := d.live(id); s != nil {
		return s.view()
	}
	return Seat{}
}
