// Package secret keeps what must not be read: sealed at rest, lent to one call,
// and redacted wherever text leaves the program.
//
// It owns the tables secret and secret_key. A value is sealed with AES-256-GCM
// under a master key that is not in the database but with a keeper: the
// operating system's keyring, or a file of mode 0600 in the data folder. The
// seal binds tenant, name, version and key, so a row copied to another place
// does not open. Rotation makes a new master key and seals everything anew in
// one transaction.
//
// A value is never read back by an operation, except by a person present
// (secret.unmask). Rooms borrow it with Lend for the length of one function,
// and it is wiped after. The Redactor knows values only by keyed hashes and
// replaces them, in every form they are likely to take, in logs, errors,
// events and output.
//
// It refuses values shorter than 8 bytes: they are guessed, not kept.
package secret
