// Package repo is jj's model of a repository, as values and pure rules: ids,
// commits, trees, conflicts (the merge algebra), views, operations, the commit
// index, transactions that rewrite history and rebase what follows, and the
// three-way merge of concurrent operations.
//
// It does no I/O. Where a rule needs an object it asks a Store, which
// internal/repo/gitstore implements on disk and Memory in this package in
// memory. Values are immutable once shared: whoever wants to change a View,
// a Tree or a Merge makes a copy first.
//
// Ids, formats and the results of every rule equal those of jj 0.45, so that a
// repository written through this package opens in stock jj and the other way
// round. A property test against stock jj in internal/repo/gitstore guards it.
//
// What it refuses: repositories whose objects are not named by SHA-1, and
// commits that merge the virtual root commit with another.
package repo
