// Package backup is the form of a copy of a server: named entries in one sealed
// stream, in a file, or in a folder in which a copy has only what the ones before
// it had not.
//
// A copy is whole or it is not read: every record is sealed under the copy's key and
// its place, and the last one says how many there were. The key is locked with a
// passphrase or to a recipient, or lies open in the copy; then the seal shows damage
// and hides nothing. The package knows nothing of what the entries mean.
package backup
