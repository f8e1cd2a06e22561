package panel

import (
	"time"

	"tandem/internal/panel/ui"
)

// Check is one thing that doctor looked at.
type Check struct {
	Name string
	Tone ui.Tone
	Said string
	Mend string
}

// Setting is a value and where it came from.
type Setting struct {
	Key    string
	Value  string
	Source string // default, config.toml, .env, environment, flag
	Doc    string
}

// PasskeyRow is a registered passkey.
type PasskeyRow struct {
	ID      string
	Name    string
	Created time.Time
	LastUse time.Time
}

// BrowserRow is a browser that is signed in.
type BrowserRow struct {
	ID      string
	Agent   string
	Since   time.Time
	Seen    time.Time
	Current bool
}

// SystemView is the server itself.
type SystemView struct {
	Now      time.Time
	Status   []ui.Pair
	Storage  []ui.Pair
	Checks   []Check
	Settings []Setting
	Passkeys []PasskeyRow
	Browsers []BrowserRow
	PIN      bool
	Problem  string
}

func (c Check) word() string {
	switch c.Tone {
	case ui.Good:
		return "fine"
	case ui.Warn:
		return "look"
	case ui.Bad:
		return "broken"
	}
	return "note"
}
