//go:build !novectors

package vector

import (
	_ "embed"
	"sync"
)

//go:embed static.bin
var static string

// Digest is the SHA-256 of the table.
const Digest = "d365990b1dd35079a991af8acfd098bcad4a2efa6c061bfc10bc39e4bf7c0710"

var load = sync.OnceValue(func() *Table {
	t, err := Read(static)
	if err != nil {
		return nil // a test reads the table that is built in
	}
	t.Model = "minilm-static-" + Digest[:12]
	return t
})

// Builtin is the table that is part of the program, nil in one that was built without.
func Builtin() *Table { return load() }
