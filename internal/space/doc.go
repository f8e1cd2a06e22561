// Package space is the host's side of a collaboration room: who belongs, in
// which order things were said, and what may be said now.
//
// It owns a space's log. Each thing a member says arrives as an envelope that
// this package cannot open; it checks that the sender is a member of the
// current epoch, that the signature and the sender's sequence are right, and
// that sizes and rates are kept, and then appends it. Every entry carries the
// hash of the one before, so that members who keep a copy notice when history
// is changed, cut or forked. One commit is accepted per epoch: that is how the
// members agree on who they are.
//
// It refuses strangers, envelopes of another epoch, replays, holes, and
// anything when the space is hosted elsewhere (a member took over with a higher
// term). It never holds a key, a name or a text.
//
// A space is open, or stepped down. A member is present from the commit that
// added it until it leaves or is removed. The board's tasks are in package
// board, the members' side in package peer.
package space
