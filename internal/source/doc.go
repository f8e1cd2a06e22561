// Package source owns what documents are imported from and searched: folders, repositories, sites and connectors that were bound, what
// came from them, and the search.
//
// A source is active, paused, quarantined or revoked. It begins paused: nothing is imported before a person has seen the preview and
// resumed it. What came from an active or a paused source is found. One that vanished, or lost most of its files at once, is
// quarantined: nobody finds what came from it until a person has looked. Revoking takes what came from it out of search at once,
// and deletes it.
//
// A source is read with the eyes of its owner: what policy denies the owner is never imported. Whoever searches finds what they may
// read of sources, without the files that policy keeps from them, and scores are counted over that alone. Where documents are is an
// origin: a folder of this machine, a served repository at a commit, pages of one server, or resources of a connector.
//
// An import looks at every file, reads those that changed in the box (boxed), and stores each in a change of its own: one that was cut
// off goes on where it was. What cannot be read is listed with a reason.
//
// It refuses links that lead out of the folder, keys by their names, and more files and text than its bounds.
package source
