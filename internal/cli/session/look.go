package session

import (
	"context"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	room "tandem/internal/session"
)

// Look says whether there is such a session where the command goes.
func Look(ctx context.Context, k *kit.Kit, id string) error {
	_, err := op.Do(ctx, k, room.SessionGet, room.IDIn{ID: id})
	return err
}
