// Package seal is the cryptography of a space, and nothing else: it does no
// input or output, keeps no clock and stores no file.
//
// It owns five things. An Identity is a member's long-lived key pair, whose id
// is a hash of its public key. A Group is the member's MLS state (RFC 9420):
// who belongs, and a fresh secret for every membership. An Envelope is what
// travels: a clear part that the host may referee by, a sealed part that only
// members can open, and a signature over both. A Handshake is CPace, with which
// a six-letter invite code becomes a strong key that neither the host nor a
// recording can test guesses against. A Key tags names (variables, paths) so
// that the host can compare them without reading them.
//
// It refuses what it cannot verify: an envelope without a signature, from a
// stranger, of another epoch, out of sequence, or changed in any byte. A group
// is changed by replacing it with the result of a successful step; a failed
// step leaves the old value as it was.
//
// The formats are in docs/formats/envelope.md, the reasons in docs/adr/0005-mls.md.
package seal
