// Package exchange is the wire of a sync: how operations, views and git objects
// travel between a replica and its server, both ways in one request. It owns the
// frames (docs/formats/sync.md) and the sending and taking in of a Delta; it
// refuses frames that are too large, out of order or cut short. What arrives
// goes into gitstore's quarantine and nowhere else.
package exchange
