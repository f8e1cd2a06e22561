package space

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// The limits of a space. Members and Messages are the published defaults and
// can be set when a space is made.
const (
	DefaultMembers  = 5
	MaxMembers      = 200
	DefaultMessages = 30 // messages a minute and member
	MaxMessages     = 100_000
	otherPerMinute  = 600 // anything else, a minute and member
	KnocksPerMinute = 5   // join attempts a minute, invite and source
	liveKnocks      = 100 // joins under way of one source
	maxKnocks       = 2000
	KnockLife       = 30 * time.Second
	InviteLife      = 24 * time.Hour
	PresentFor      = 45 * time.Second // a member is there this long after its last pull
	PullLimit       = 500
	MaxLease        = 8 * time.Hour
	DefaultLease    = time.Hour
	MaxPiece        = 512<<10 + 64 // bytes of a sealed piece of an attachment
	PiecesOfMember  = 64 << 20     // bytes that a host keeps of one member's attachments
	PiecesOfSpace   = 256 << 20
	PieceLife       = 30 * 24 * time.Hour // how long it keeps them
)

func strict(data []byte, v any) error {
	if len(data) == 0 {
		return fmt.Errorf("it is missing")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if d.More() {
		return fmt.Errorf("something follows it")
	}
	return nil
}
