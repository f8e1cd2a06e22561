// Package gitstore keeps a repository on disk exactly as stock jj 0.45 does:
// git objects (loose and packed) with jj's commit headers, operations and views
// under their content ids, operation heads under jj's lock, the commit index in
// jj's segment format, git refs, and the skeleton of `.jj`. Both programs may
// use the same repository at the same time.
//
// What is written is durable before it is named: objects are held back until
// Flush, which writes them (loose when few, one pack when many), syncs and
// renames; an operation's file follows, and only then a head names it. A crash
// at any moment leaves at worst files that nothing names.
//
// It refuses repositories whose store is not git with SHA-1, and never follows
// a path that comes out of the repository's content.
package gitstore
