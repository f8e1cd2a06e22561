package server

import (
	"context"

	"tandem/internal/cli/kit"
	"tandem/internal/client"
)

// Ensure makes sure that a server listens, not only one that was started on
// demand, and prints nothing.
func Ensure(ctx context.Context, k *kit.Kit) error {
	s, err := k.Settings()
	if err != nil {
		return err
	}
	if err := replaceOnDemand(ctx, k); err != nil {
		return err
	}
	if _, err := k.Running(ctx); !client.Absent(err) {
		return err
	}
	if err := k.Spawn(s, "serve", "--daemon"); err != nil {
		return err
	}
	return k.Started(ctx, s, k.At(s))
}
