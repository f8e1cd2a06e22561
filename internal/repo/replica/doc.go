// Package replica is a client's copy of a served repository: an ordinary jj
// repository in the workspace's folder, plus a few files in .jj/repo/tandem that
// say which server it belongs to and how far both are known to agree.
//
// Commands work on the copy. Sync brings both up to date in one request. Only
// the server merges: the copy follows the head it answers with, and never shows
// two heads of its own making. What was made while the server was away waits as
// one line of operations.
//
// It refuses to move to a head that does not contain everything made here, and
// takes in nothing that is not whole.
package replica
