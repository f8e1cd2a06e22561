package wire

import (
	"net/url"
	"regexp"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/settings"
)

// The operations that say whether a phone is told.
const (
	PhoneSet = op.Def[PhoneIn, PhoneOut]("phone.set")
	PhoneOff = op.Def[identity.Nothing, identity.OK]("phone.off")
)

// PhoneIn is how a phone is told.
type PhoneIn struct {
	Topic string `json:"topic,omitempty" jsonschema:"the topic of ntfy that the phone subscribes to; whoever knows it reads what is told; absent keeps the one there is"`
	// Address is where the phone reaches the panel.
	Address string `json:"address,omitempty" jsonschema:"the panel's address as the phone reaches it, which a notice then links to; absent changes nothing"`
}

// PhoneOut is what was set, as far as it is no secret.
type PhoneOut struct {
	Server  string `json:"server" jsonschema:"the server of ntfy that took a first notice"`
	Address string `json:"address,omitempty" jsonschema:"where a notice leads; empty: it has no link"`
}

// topics are ntfy's own rule, and long enough that nobody comes upon one.
var topics = regexp.MustCompile(`^[-_A-Za-z0-9]{12,64}$`)

// Check refuses what is no topic and no address.
func (in PhoneIn) Check() error {
	switch {
	case in.Topic != "" && !topics.MatchString(in.Topic):
		return fault.New(fault.Invalid, string(PhoneSet), "a topic is 12 to 64 letters, digits, - and _: whoever guesses it reads what is told")
	case in.Address == "":
		return nil
	}
	if u, err := url.Parse(in.Address); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return fault.New(fault.Invalid, string(PhoneSet), "%.80q is no address of a panel: it is such as https://house.example:39731", in.Address)
	}
	return settings.CheckChange("panel_address", in.Address)
}
