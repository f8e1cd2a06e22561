// Package parts holds the packs that come with the program.
package parts

import (
	"embed"
	"io/fs"
)

//go:embed nightly-tests weekly-report vendor-risk
var all embed.FS

// Names are the packs, in the order in which people meet them.
var Names = []string{"nightly-tests", "weekly-report", "vendor-risk"}

// Folder is a pack by its name, nil when none of that name comes with the program.
func Folder(name string) fs.FS {
	for _, n := range Names {
		if n == name {
			dir, err := fs.Sub(all, n)
			if err == nil {
				return dir
			}
		}
	}
	return nil
}
