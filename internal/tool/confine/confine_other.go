//go:build !linux

package confine

import "errors"

var errNone = errors.New("only Linux has Landlock")

// Works says whether this machine can confine, and if not, why.
func Works() error { return errNone }

func become(Plan) error { return errNone }

// Scopes says whether the kernel can keep a program from abstract sockets.
func Scopes() bool { return false }
