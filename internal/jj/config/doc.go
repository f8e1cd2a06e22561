// Package config reads jj's settings: TOML files and command-line values in
// layers, where a later layer wins, tables merge and the text of a value is
// kept as it was written.
//
// It knows where the files of a user, a repository and a workspace are, and can
// change one value in a file without touching the rest. It writes nothing else.
package config
