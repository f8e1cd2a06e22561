package repo

import (
	"encoding/hex"
	"math/bits"
	"strings"
)

// Ids are raw bytes kept in strings, so that they compare, sort and serve as
// map keys as they are. The empty id means "none".
type (
	// CommitID names a commit: the git object id, 20 bytes.
	CommitID string
	// ChangeID names a change through all its rewrites: 16 bytes.
	ChangeID string
	// TreeID names a directory's content: the git object id.
	TreeID string
	// FileID names a blob: a file's bytes or a symlink's target.
	FileID string
	// OperationID names an operation: 64 bytes.
	OperationID string
	// ViewID names a view: 64 bytes.
	ViewID string
)

// Lengths of ids in bytes.
const (
	CommitIDLen    = 20
	ChangeIDLen    = 16
	OperationIDLen = 64
)

// The virtual objects that exist in every repository and are never stored.
var (
	RootCommitID    = CommitID(strings.Repeat("\x00", CommitIDLen))
	RootChangeID    = ChangeID(strings.Repeat("\x00", ChangeIDLen))
	RootOperationID = OperationID(strings.Repeat("\x00", OperationIDLen))
	RootViewID      = ViewID(strings.Repeat("\x00", OperationIDLen))
)

// EmptyTreeID is git's id of the tree without entries.
const EmptyTreeID = TreeID("\x4b\x82\x5d\xc6\x42\xcb\x6e\xb9\xa0\x60\xe5\x4b\xf8\xd6\x92\x88\xfb\xee\x49\x04")

// Hex is the id as people write it.
func (id CommitID) Hex() string { return hex.EncodeToString([]byte(id)) }

// Hex is the id in plain hexadecimal; people see String.
func (id ChangeID) Hex() string { return hex.EncodeToString([]byte(id)) }

// Hex is the id as git writes it.
func (id TreeID) Hex() string { return hex.EncodeToString([]byte(id)) }

// Hex is the id as git writes it.
func (id FileID) Hex() string { return hex.EncodeToString([]byte(id)) }

// Hex is the id as jj writes it, and the operation's file name.
func (id OperationID) Hex() string { return hex.EncodeToString([]byte(id)) }

// Hex is the id as jj writes it, and the view's file name.
func (id ViewID) Hex() string { return hex.EncodeToString([]byte(id)) }

// String is the id in hexadecimal.
func (id CommitID) String() string { return id.Hex() }

// String is the id in jj's reverse hexadecimal, as people write it.
func (id ChangeID) String() string { return ReverseHex(id.Hex()) }

// String is the id in hexadecimal.
func (id OperationID) String() string { return id.Hex() }

// String is the id in hexadecimal.
func (id ViewID) String() string { return id.Hex() }

// ParseCommitID reads 40 hexadecimal digits.
func ParseCommitID(s string) (CommitID, bool) {
	b, ok := parseHex(s, CommitIDLen)
	return CommitID(b), ok
}

// ParseTreeID reads 40 hexadecimal digits.
func ParseTreeID(s string) (TreeID, bool) {
	b, ok := parseHex(s, CommitIDLen)
	return TreeID(b), ok
}

// ParseOperationID reads 128 hexadecimal digits.
func ParseOperationID(s string) (OperationID, bool) {
	b, ok := parseHex(s, OperationIDLen)
	return OperationID(b), ok
}

// ParseViewID reads 128 hexadecimal digits.
func ParseViewID(s string) (ViewID, bool) {
	b, ok := parseHex(s, OperationIDLen)
	return ViewID(b), ok
}

// ParseChangeID reads 32 letters of reverse hexadecimal.
func ParseChangeID(s string) (ChangeID, bool) {
	h, ok := ForwardHex(s)
	if !ok {
		return "", false
	}
	b, ok := parseHex(h, ChangeIDLen)
	return ChangeID(b), ok
}

func parseHex(s string, want int) (string, bool) {
	if len(s) != 2*want {
		return "", false
	}
	b, err := hex.DecodeString(s)
	return string(b), err == nil
}

const (
	hexDigits     = "0123456789abcdef"
	reverseDigits = "zyxwvutsrqponmlk"
)

// ReverseHex spells hexadecimal digits with the letters z to k, which no
// commit id contains, so that the two kinds of prefix are never confused.
func ReverseHex(s string) string {
	out := []byte(s)
	for i, c := range out {
		switch {
		case c >= '0' && c <= '9':
			out[i] = reverseDigits[c-'0']
		case c >= 'a' && c <= 'f':
			out[i] = reverseDigits[c-'a'+10]
		}
	}
	return string(out)
}

// ForwardHex undoes ReverseHex; letters of either case are accepted.
func ForwardHex(s string) (string, bool) {
	out := []byte(s)
	for i, c := range out {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c < 'k' || c > 'z' {
			return "", false
		}
		out[i] = hexDigits['z'-c]
	}
	return string(out), true
}

// SyntheticChangeID is the change id of a commit that git made without one:
// its last 16 bytes, backwards, the bits of each byte backwards.
func SyntheticChangeID(id CommitID) ChangeID {
	if len(id) < ChangeIDLen {
		return ""
	}
	tail := id[len(id)-ChangeIDLen:]
	out := make([]byte, ChangeIDLen)
	for i := range out {
		out[i] = bits.Reverse8(tail[ChangeIDLen-1-i])
	}
	return ChangeID(out)
}
