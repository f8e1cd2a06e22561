package daemon

import (
	"context"
	"errors"

	"tandem/internal/connector"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/repo/host"
	sources "tandem/internal/source"
)

// makeSources gives the room of sources what it does not own.
func (d *Daemon) makeSources() {
	still := func(ctx context.Context, c op.Caller) error {
		c.Token = "" // a source outlives the sign-in by which it was bound, and not its person
		return d.identity.Still(ctx, c)
	}
	r := sources.New(d.db, still, d.Log)
	r.Vouch, r.Rooms, r.Home, r.Hidden, r.Forgot = d.journal.Vouch(), &d.inner, d.self.Home, []string{d.data}, d.forgotten
	r.Reads.Machine = d.rooms.session.Sandbox().Machine
	r.Inside = func(tenant string) bool { return tenant == identity.LocalTenant }
	r.Repos = sources.Repos{Files: d.repoFiles,
		Shown: func(ctx context.Context, repo string) func(string) bool { return d.rooms.repo.Shown(ctx, repo) },
		Tip: func(ctx context.Context, repo, bookmark string) (string, bool) {
			return d.rooms.repo.Tip(ctx, repo, bookmark)
		}}
	r.Connectors = sources.Connectors{Found: d.rooms.connector.Found,
		Read: func(ctx context.Context, name, uri string) ([]byte, error) {
			data, err := d.rooms.connector.ReadResource(ctx, name, uri)
			if no := (*connector.Refusal)(nil); errors.As(err, &no) {
				err = &sources.Refusal{Gone: no.Gone, Why: no.Why}
			}
			return data, err
		},
		List: func(ctx context.Context, name string) (out []sources.Resource, err error) {
			all, err := d.rooms.connector.Resources(ctx, name)
			for _, one := range all {
				out = append(out, sources.Resource(one))
			}
			return out, err
		}}
	d.rooms.source = r
}

// repoFiles are the files of a served repository at a commit, for who reads documents in it.
func (d *Daemon) repoFiles(ctx context.Context, repo, at string) (*sources.Files, error) {
	f, err := d.rooms.repo.Files(ctx, repo, at)
	if err != nil {
		return nil, err
	}
	walk := func(ctx context.Context, under string, visit func(path, id, odd string) error) error {
		return f.Walk(ctx, under, func(one host.File) error { return visit(one.Path, one.ID, one.Odd) })
	}
	return &sources.Files{Repo: f.Repo, Name: f.Name, At: f.At, Commit: f.Commit, Walk: walk, Open: f.Open}, nil
}
