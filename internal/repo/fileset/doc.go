// Package fileset is jj's language for selecting files: it parses an
// expression, expands aliases, and turns it into a matcher of repository
// paths. Paths also live here: the translation between what people type and
// see from their directory and the paths inside the repository.
//
// It touches no files.
package fileset
