package job

import (
	"context"
	"net/http"
	"slices"

	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/session/checkout"
)

// maxImage is how large a picture is shown, in bytes.
const maxImage = 8 << 20

// images are what a browser draws without running anything of it.
var images = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// image is a picture that the job changed, as it was or as it is.
func (r *Room) image(ctx context.Context, in wire.ImageIn) (out wire.ImageOut, err error) {
	const name = "job.image"
	j, err := r.get(ctx, op.CallerFrom(ctx).Tenant, in.ID)
	if err != nil {
		return out, err
	}
	missing := fault.New(fault.NotFound, name, "the job changed no picture %.200q", in.Path).
		WithNext("see what it changed: tandem job diff %s", j.ID)
	if j.Commit == "" || in.Commit != j.Base && in.Commit != j.Commit {
		return out, missing
	}
	if err := r.Tools.Genuine(ctx, j.Repo, j.Base, j.Commit, true); err != nil {
		return out, err
	}
	changes, err := r.Tools.Changed(ctx, j.Repo, j.Base, j.Commit)
	if err != nil {
		return out, err
	}
	if !sees(ctx, j.Repo, in.Path) || !slices.ContainsFunc(changes, func(c checkout.Change) bool {
		return c.Path == in.Path || in.Commit == j.Base && c.From == in.Path
	}) {
		return out, missing
	}
	data, err := r.Tools.Content(ctx, j.Repo, in.Commit, in.Path, maxImage+1)
	if err != nil {
		return out, missing
	}
	if out.Type = http.DetectContentType([]byte(data)); !slices.Contains(images, out.Type) {
		return out, missing
	}
	if len(data) > maxImage {
		return wire.ImageOut{}, fault.New(fault.Exhausted, name, "the picture is larger than the %d bytes that are shown", maxImage).
			WithNext("open it with git: git -C %s show %s:%s", quoted(j.Repo), in.Commit, quoted(in.Path))
	}
	out.Data = []byte(data)
	return out, nil
}
