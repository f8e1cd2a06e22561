// Package host serves repositories: it adopts or makes them, takes in what
// replicas send, merges it at once, and tells who watches.
//
// A repository on disk is jj's own (internal/repo/gitstore); its operation heads
// are the truth, and a person may run stock jj or git in its folder at any
// time. The room's tables say whose workspaces, changes
// and bookmarks are, and who has leased what.
//
// A push is judged by what it changes as a whole against the last operation
// that both sides know. The owner of a workspace moves it; everybody else may
// touch a working copy of theirs only by rebasing it the way a merge here would.
// Bookmarks need the right to write them. What git's own refs and a
// repository's remotes are is the server's to say. Whatever is refused changes
// nothing that a head names.
package host
