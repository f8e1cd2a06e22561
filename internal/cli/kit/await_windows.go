package kit

import (
	"context"
	"os"
)

// awaitKey does not wait: a console's key cannot be waited for together with something else, so that a question there ends with the
// next key that is pressed.
func awaitKey(ctx context.Context, _ *os.File) error { return context.Cause(ctx) }
