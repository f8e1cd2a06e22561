// Package journal is the record of what was decided and done: an append-only
// sequence of events under one Merkle tree, written in the same transaction as
// the change that each event tells of.
//
// It owns the tables journal_*. An event is a row without gaps in its
// sequence; its payload stands outside the leaf, so that retention may delete
// it while every proof still holds. The leaf of an event is a fixed record of
// 92 bytes that holds salted hashes of both (docs/formats/journal.md). One head
// row holds the size and the right edge of the tree and is taken last in a
// transaction; every 256th event closes a tile. Nothing else is read or
// rewritten, so an append costs the same in a long history as in a short one.
//
// The journal refuses to change or delete an event, and refuses to sign a tree
// that does not continue the last one it signed.
package journal
