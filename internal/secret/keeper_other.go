//go:build !unix

package secret

// private has nothing to check where files have no mode; the data folder's
// own access list guards the key there.
func private(string) error { return nil }
