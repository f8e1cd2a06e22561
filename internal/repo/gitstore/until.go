package gitstore

import (
	"context"
	"io"
)

// until reads until a context ends: for what is long and lies here, where no
// connection breaks off.
type until struct {
	ctx context.Context
	r   io.Reader
}

// Read reads the next piece.
func (u until) Read(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(b)
}
