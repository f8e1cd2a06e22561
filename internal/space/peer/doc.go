// Package peer is a member's side of a space: keys, group state, what was
// opened, what waits to be sent. It lives in the daemon of the member's machine
// and is the only place where a space's words are in the clear.
//
// It owns seats. A seat is one member's chair in one space: an identity, the
// MLS group, the epoch keys it is entitled to, where it joined, how far it came
// in the space's sealed log, and which messages reached its agent. The log is
// kept once for all seats of a space on this machine, and words are opened from
// it with a seat's own keys: those from before it joined stay closed. Everything
// secret is sealed at rest with the daemon's key. A seat follows the host's log entry by entry; an entry
// that does not continue the known history, is not signed by a member or
// repeats a number stops the seat and says so.
//
// It refuses to call something sent that the host has not stored: a message is
// queued, stored, surfaced or read, and every answer says which. It treats
// words from other members as data: they are shown with the sender's name and
// with angle brackets escaped, never as instructions.
//
// A seat is active, left, removed or broken. Package space is the host's side.
package peer
