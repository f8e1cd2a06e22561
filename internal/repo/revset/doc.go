// Package revset is jj's language for selecting commits: it parses an
// expression, expands aliases, resolves names against a view, and evaluates
// the result over an index of the commit graph.
//
// It reads through the Index and Names it is given and writes nothing.
package revset
