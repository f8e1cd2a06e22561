//go:build !unix

package renew

import (
	"context"
	"errors"
)

// lockFile refuses: where there is no box, no session is lent a sign-in.
func lockFile(context.Context, string) (free func(), err error) {
	return nil, errors.ErrUnsupported
}
