//go:build !linux && !darwin

package client

import "net"

// ours leaves it to the folder's access list.
func ours(net.Conn) error { return nil }
