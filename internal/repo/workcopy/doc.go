// Package workcopy keeps a workspace's real files and a commit's tree the same:
// Snapshot makes a tree of the files, CheckOut makes files of a tree. Its state
// (`.jj/working_copy/tree_state` and `checkout`) is jj's own, byte for byte
// readable by stock jj, so that either program can go on where the other
// stopped.
//
// States of a working copy against the repository's head: fresh, stale (the
// repository moved its commit while the files stayed), sibling (the two are on
// different lines of operations). See Check.
//
// What it refuses: to follow a symlink out of the workspace, to write into
// `.git` or `.jj`, to overwrite a file it does not track (it is skipped and
// counted), to track names or symlink targets that are not UTF-8.
package workcopy
