//go:build !linux

package watch

import (
	"context"
	"errors"
)

// Ears hear that something changed in folders. There are none on this machine: folders are looked at now and then.
type Ears struct{}

// Listen says that nothing is heard here.
func Listen(func(folder string)) (*Ears, error) {
	return nil, errors.New("folders are not heard on this machine")
}

// Follow hears nothing.
func (*Ears) Follow([]string) map[string]bool { return nil }

// Run ends with ctx.
func (*Ears) Run(ctx context.Context) { <-ctx.Done() }
