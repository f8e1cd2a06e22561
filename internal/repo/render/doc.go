// Package render turns a repository's state into text for people: the types
// that templates see (commits, refs, operations, diffs), the commit graph, and
// diffs in jj's formats.
//
// It reads through the values it is given and writes nothing but the output.
package render
