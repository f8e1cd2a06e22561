package peer

import (
	"crypto/rand"
	"strings"
	"unicode"

	"tandem/internal/fault"
)

var firstNames = []string{"Amber", "Brisk", "Cobalt", "Cosmic", "Crimson", "Dapper", "Electric", "Ember", "Frosty", "Golden", "Hidden",
	"Indigo",
	"Jolly", "Lucid", "Lunar", "Mellow", "Misty", "Neon", "Nimble", "Polar", "Quiet", "Radiant", "Rapid", "Silver", "Solar", "Steady", "Sunny",
	"Swift",
	"Velvet", "Vivid", "Wandering", "Zesty"}

var lastNames = []string{"Badger", "Beacon", "Bison", "Comet", "Condor", "Coyote", "Dolphin", "Falcon", "Finch", "Gecko", "Heron", "Ibex",
	"Jaguar",
	"Kestrel", "Lemur", "Lynx", "Marten", "Meteor", "Narwhal", "Ocelot", "Orca", "Osprey", "Otter", "Panther", "Pelican", "Puffin", "Quasar",
	"Raven",
	"Sparrow", "Tapir", "Walrus", "Wombat"}

// newName makes a username up: two words, such as CosmicOtter.
func newName() string {
	var b [2]byte
	rand.Read(b[:])
	return firstNames[b[0]%32] + lastNames[b[1]%32]
}

// CheckName refuses names that could not be typed or would mislead.
func CheckName(name string) error {
	ok := name != "" && len(name) <= 40 && !strings.HasPrefix(name, "mem_") && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.", r)
	})
	if ok {
		return nil
	}
	return fault.New(fault.Invalid, "space.rename", "%q is not a username: letters, digits, - _ . and at most 40 of them", clip(name))
}

func clip(s string) string { return fault.Clip(s, 60) }
