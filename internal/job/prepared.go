package job

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/prepare"
	"tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/tool/box"
)

// Checks have no network. What they depend on is fetched before they run, from registries that a person named, by the lock files of the
// commit alone. A lock file that the job changed names what its agent chose: that is fetched once a person said so.

// unanswered says that a job changed lock files, and nobody said yet that what these name is fetched.
type unanswered struct {
	lock    wire.Lock
	digests []string // of each file
}

func (u *unanswered) Error() string {
	return "the job changed " + strings.Join(u.lock.Files, ", ") + ", and tandem fetches what is new there when a person says so"
}

// named are the kinds of lock files for which a registry is.
func (r *Room) named() []prepare.Kind {
	if r.Needed == nil {
		return nil
	}
	return r.Needed.Registries.Named()
}

// locks are the lock files of a commit, of some kinds.
func (r *Room) locks(ctx context.Context, repo, commit string, kinds []prepare.Kind) ([]prepare.File, error) {
	if len(kinds) == 0 {
		return nil, nil
	}
	names, err := r.Tools.Files(ctx, repo, commit)
	if err != nil {
		return nil, err
	}
	return prepare.Find(names, kinds, func(name string) (string, error) {
		if !slices.Contains(names, name) {
			return "", fault.New(fault.Conflict, "job.prepare", "a lock file needs %s, and the commit does not have it", printed(name))
		}
		return r.Tools.Content(ctx, repo, commit, name, prepare.MaxLock+1)
	})
}

// allowed refuses lock files that are neither the base's nor such that a person said yes to.
func (r *Room) allowed(ctx context.Context, j *Job, files []prepare.File) error {
	if len(files) == 0 {
		return nil
	}
	ground, err := r.ground(ctx, j) // what a job below chose counts once a person said so
	if err != nil {
		return err
	}
	base, err := r.locks(ctx, j.Repo, ground, r.named())
	if err != nil { // what is wrong with them is mended by the job
		r.Log.Warn("read the lock files of a job's base", "job", j.ID, "err", err)
		base = nil
	}
	u := &unanswered{}
	for _, f := range files {
		sum := f.Digest()
		if slices.ContainsFunc(base, func(b prepare.File) bool { return b.Digest() == sum }) {
			continue
		}
		var by string
		err := r.DB.QueryRow(ctx, "SELECT by_name FROM job_lock WHERE tenant = ? AND repo = ? AND digest = ?", j.Tenant, j.Repo, sum).Scan(&by)
		if err == nil && r.Vouch.Holds(ctx, lockSeal(j.Tenant, j.Repo, sum, by)) {
			continue
		}
		if err != nil && !db.NoRows(err) {
			return err
		}
		was := prepare.File{Kind: f.Kind}
		if i := slices.IndexFunc(base, func(b prepare.File) bool { return b.Path == f.Path }); i >= 0 {
			was = base[i]
		}
		u.digests = append(u.digests, sum)
		u.lock.Files = append(u.lock.Files, printed(f.Path))
		u.lock.New = append(u.lock.New, prepare.Added(was, f, 50)...)
	}
	if len(u.digests) == 0 {
		return nil
	}
	sum := sha256.Sum256([]byte(strings.Join(u.digests, "\n")))
	u.lock.Digest = hex.EncodeToString(sum[:])
	return u
}

// needs makes what the check of a commit depends on; release is called when it has run.
func (r *Room) needed(ctx context.Context, j *Job) (ready []prepare.Ready, release func(), err error) {
	files, err := r.locks(ctx, j.Repo, j.Commit, r.named())
	if err == nil {
		err = r.allowed(ctx, j, files)
	}
	if err != nil || len(files) == 0 {
		return nil, func() {}, err
	}
	return r.Needed.Prepare(ctx, prepare.Parts(files))
}

// provide shows a box what its check depends on, to be read alone.
func (r *Room) provide(b *box.Box, tree string, ready []prepare.Ready) error {
	for _, p := range ready {
		switch p.Kind {
		case prepare.Go:
			b.Mounts = append(b.Mounts, box.Read(p.Path)...)
			// GOFLAGS stays as it is: -mod=readonly there would have another module of the repository ignore its vendor folder
			for _, kv := range []string{"GOMODCACHE=" + p.Path, "GOPROXY=off", "GOSUMDB=off"} {
				name, _, _ := strings.Cut(kv, "=")
				b.Env = append(slices.DeleteFunc(b.Env, func(had string) bool { return strings.HasPrefix(had, name+"=") }), kv)
			}
		case prepare.NPM:
			at := filepath.Join(tree, filepath.FromSlash(p.Dir), "node_modules")
			if !r.Box.Machine.InPlace() {
				b.Mounts = append(b.Mounts, box.Mount{From: p.Path, At: at})
				continue
			}
			if err := os.Symlink(p.Path, at); err != nil {
				return err
			}
			b.Mounts = append(b.Mounts, box.Read(p.Path)...)
		}
	}
	return nil
}

// unnamed takes away what lock files hold: only who may see all files reads that.
func (j *Job) unnamed() {
	if j.Lock != nil {
		j.Lock.New = nil
	}
}

// allow takes a person's word that what changed lock files name is fetched. It is asked for once for each.
func (r *Room) allow(ctx context.Context, tx *db.Tx, in wire.PrepareIn) (*wire.Job, error) {
	c := op.CallerFrom(ctx)
	j, err := scan(tx.QueryRow(columns+"tenant = ? AND id = ?", c.Tenant, in.ID))
	if db.NoRows(err) {
		return nil, op.NoSuch("job", in.ID)
	}
	if err == nil {
		err = r.counts(tx, j)
	}
	if err != nil {
		return nil, err
	}
	for _, sum := range j.Locks {
		if _, err := tx.Exec("INSERT INTO job_lock (tenant, repo, digest, by_name, at) VALUES (?, ?, ?, ?, ?) "+
			"ON CONFLICT (tenant, repo, digest) DO UPDATE SET by_name = excluded.by_name, at = excluded.at",
			c.Tenant, j.Repo, sum, c.Name, tx.Now()); err != nil {
			return nil, err
		}
		op.Row(ctx, lockSeal(c.Tenant, j.Repo, sum, c.Name))
	}
	op.Note(ctx, "lock", in.Lock)
	return r.move(ctx, tx, in.ID, Event{Kind: Allowed, Text: in.Lock})
}

// lacking says of which kind a dependency is that a red check lacked: one of a lock file for which nobody named a registry.
func (r *Room) lacking(ctx context.Context, j *Job, output string) prepare.Kind {
	named := r.named()
	unnamed := slices.DeleteFunc(slices.Clone(prepare.Kinds), func(k prepare.Kind) bool { return slices.Contains(named, k) })
	files, err := r.locks(ctx, j.Repo, j.Commit, unnamed)
	if err != nil { // then it is a red check as any other
		r.Log.Warn("read the lock files of a red check", "job", j.ID, "err", err)
		return ""
	}
	kind, _ := prepare.Wanting(output, files)
	return kind
}

// lacks is what a job says whose check fails for want of a dependency. Its agent cannot mend that, and is not told.
func lacks(kind string) string {
	what, how := "a Go module", "go"
	if kind == string(prepare.NPM) {
		what, how = "an npm package", "npm"
	}
	return "the check is red and lacks " + what + " that the lock file names, which its agent cannot fetch: a registry has to be named " +
		"with the setting job_registries (" + how + "=https://…); then: tandem job resume"
}
