// Package installation is what makes an installation one: an identity that its
// data folder, its database and its keys share. A start that finds parts of
// two installations, or only some parts of one, is refused, and told which
// part is missing.
//
// The folder keeps the identity in installation.json, with where the database
// is (sealed, because its address may hold a password) and which repositories
// are served. The database keeps it in a row, with a mark of every key file: a
// mark shows whether a key is the one there was, and nothing of the key.
package installation
