package daemon

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/forge"
	inbox "tandem/internal/inbox/wire"
	"tandem/internal/job"
	"tandem/internal/job/prepare"
	"tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/repo/host"
	"tandem/internal/session"
	"tandem/internal/team"
	"tandem/internal/tool"
)

// makeJobs gives the room of jobs what it does not own.
func (d *Daemon) makeJobs(box *tool.Sandbox) {
	r := job.New(d.db, d.journal, d.Log, job.People{
		Still: func(ctx context.Context, c op.Caller) error {
			c.Token = "" // a job outlives the sign-in by which it was started, and not its people
			return d.identity.Still(ctx, c)
		},
		Known: func(ctx context.Context, tenant, name string) error {
			_, err := d.identity.Caller(ctx, tenant, name, op.DoorInside)
			return err
		}})
	r.Rooms, r.Tools, r.Box, r.Folder = &d.inner, d.rooms.session.Checkouts, box, filepath.Join(d.data, "jobs")
	named, err := prepare.ParseRegistries(d.Settings.Get("job_registries"))
	if err != nil { // nothing is fetched from what nobody understands
		d.Log.Error("the setting job_registries is not understood", "err", err)
	}
	r.Needed = &prepare.Store{Folder: filepath.Join(d.data, "needed"), Registries: named, Box: box}
	if n, err := strconv.Atoi(d.Settings.Get("queue_train")); err == nil {
		r.Train = min(n, job.MaxTrain)
	}
	r.Limit, r.Fell, r.Used = d.limit(), d.rooms.terminal.Fell, d.used
	if d.self != nil {
		r.Owner = d.self.Server
	}
	r.Vouch, r.Sealed = d.journal.Vouch(), true
	r.TakeBack, r.End = d.rooms.session.TakeBack, d.endSession
	r.Served = d.servedFolder
	r.Told = func(tx *db.Tx, tenant string, j wire.Job, from wire.State) error {
		if d.rooms.team != nil {
			tx.AfterCommit(d.rooms.team.Rouse)
		}
		return d.rooms.tell.Job(tx, tenant, j, from)
	}
	r.Needs, r.Model = d.jobNeeds, d.rooms.models.Bind
	d.rooms.job = r
	d.makeForges()
}

// makeForges gives the room of forges what it does not own.
func (d *Daemon) makeForges() {
	keys, j := d.rooms.secret, d.rooms.job
	r := &forge.Room{DB: d.db, Journal: d.journal, Log: d.Log, Rooms: &d.inner, Tools: j.Tools, Vouch: d.journal.Vouch(), Home: j.Owner.Home,
		Every: time.Minute, Keys: forge.Keys{Lend: keys.Lend, Drop: keys.Drop, Put: func(tx *db.Tx, tenant, name, value, by string) error {
			_, err := keys.Put(tx, tenant, name, value, by)
			return err
		}}, Work: j.Shown, Landed: j.PulledIn}
	j.Pull, j.Unpost = r.Of, r.Forget
	d.rooms.forge = r
}

// limit is how long agents rest whose provider refused them for their rate.
func (d *Daemon) limit() time.Duration {
	n, err := strconv.Atoi(d.Settings.Get("limit_secs"))
	if err != nil || n < 1 {
		return time.Minute
	}
	return time.Duration(n) * time.Second
}

// makeTeams gives the room of teams what it does not own.
func (d *Daemon) makeTeams() {
	r := team.New(d.db, d.journal, d.Log, func(ctx context.Context, c op.Caller) error {
		c.Token = "" // as for jobs
		return d.identity.Still(ctx, c)
	})
	r.Sealed = true
	r.Rooms, r.Tools, r.Model = &d.inner, d.rooms.session.Checkouts, d.rooms.models.Bind
	r.Halt, r.End = d.rooms.job.Halt, d.endSession
	r.Told, r.Needs, r.Limit, r.Fell = d.rooms.tell.Team, d.jobNeeds, d.limit(), d.rooms.terminal.Fell
	r.Used = d.used
	if d.self != nil {
		r.Owner = d.self.Server
	}
	d.rooms.team = r
}

// used is what a session used up, for whoever may see it.
func (d *Daemon) used(ctx context.Context, id string) (session.Used, error) {
	s, err := op.Do(ctx, &d.inner, session.SessionGet, session.IDIn{ID: id})
	if err != nil {
		return session.Used{}, err
	}
	return d.rooms.session.Used(ctx, s)
}

// servedFolder is the git checkout of a repository that this server serves.
func (d *Daemon) servedFolder(ctx context.Context, name string) (string, error) {
	all, err := op.Do(ctx, &d.inner, host.RepoList, struct{}{})
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(all.Items, func(r host.Repository) bool { return r.Name == name })
	if i < 0 {
		return "", fault.New(fault.NotFound, "job.start", "no repository %.100q is served here", name).WithNext("see them: tandem repo list")
	}
	path := all.Items[i].Path
	if _, err := os.Lstat(filepath.Join(path, ".git")); err != nil {
		return "", fault.New(fault.Conflict, "job.start", "the repository %s has no git checkout, and a job works in one", name).
			WithNext("clone it, and start the job there: git clone %s FOLDER", filepath.Join(path, ".jj", "repo", "store", "git"))
	}
	return path, nil
}

// endSession ends what a session does for a job that is over, whoever started it.
func (d *Daemon) endSession(ctx context.Context, tenant, id string, program bool) error {
	if program {
		if _, err := d.rooms.terminal.Shut(ctx, id); err != nil {
			return err
		}
	}
	return d.rooms.session.Quiet(ctx, tenant, id)
}

// jobNeeds is what of the caller's inbox keeps a session from going on. Who may not read the inbox is not told.
func (d *Daemon) jobNeeds(ctx context.Context, session string) (out []wire.Need) {
	all, err := op.Do(ctx, &d.inner, inbox.List, inbox.In{})
	if err != nil {
		return nil
	}
	for _, row := range all.Rows {
		if row.Session == session && row.Kind.Waits() {
			out = append(out, wire.Need{What: row.What, Next: row.Next})
		}
	}
	return out
}
