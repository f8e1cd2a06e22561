package server

import (
	"context"
	"io"

	"tandem/internal/daemon"
)

// TrialCalled says whether this program was started to try a tenant's file, Trial does it.
func TrialCalled(args []string) bool { return daemon.TrialCalled(args) }

// Trial tries a tenant's file.
func Trial(ctx context.Context, in io.Reader, out io.Writer) int {
	return daemon.TrialMain(ctx, in, out)
}
