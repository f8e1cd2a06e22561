package job

import (
	"context"

	"tandem/internal/cli/kit"
	"tandem/internal/job/wire"
	"tandem/internal/op"
)

// Look says whether there is such a job where the command goes.
func Look(ctx context.Context, k *kit.Kit, id string) error {
	_, err := op.Do(ctx, k, wire.Get, wire.IDIn{ID: id})
	return err
}
