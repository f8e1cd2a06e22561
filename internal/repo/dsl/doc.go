// Package dsl holds what jj's three little languages (revsets, filesets and
// templates) share: source spans, one syntax tree, aliases and their
// expansion, string escapes, and errors that point into the source text.
//
// It owns no grammar and resolves no names; each language brings its own
// parser and meaning.
package dsl
