//go:build !linux

package host

import (
	"context"
	"errors"
)

// listenFor is for systems that tell changes of files.
func listenFor([]*served, *stirred) (func(context.Context), error) {
	return nil, errors.ErrUnsupported
}
