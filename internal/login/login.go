package login

import (
	"strings"
	"unicode"

	"tandem/internal/fault"
	"tandem/internal/login/wire"
)

// CheckName refuses names that could be mistaken for something else: an address, or this machine's own server.
func CheckName(name string) error {
	ok := name != "" && name != wire.Own && len(name) <= 64 && !strings.HasPrefix(name, "-") && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.", r)
	})
	if ok {
		return nil
	}
	return fault.New(fault.Invalid, "login", "%q is not a name for a server: letters, digits, - _ . and at most 64 of them; not %s", name,
		wire.Own).
		WithNext("choose one: tandem login HOST:PORT#INVITE --name NAME")
}

// Secret is under which name a login's token is sealed.
func Secret(name string) string { return prefix + name }

const prefix = "login/"
