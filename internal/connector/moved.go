package connector

import (
	"tandem/internal/connector/wire"
	"tandem/internal/egress"
)

// Moved says why a person decides an operation that everyday rights cover: it has this machine speak to an address inside it
// or its network, or signs in somewhere in the person's name. "" is nothing.
func (r *Room) Moved(operation string, in any) string {
	switch in := in.(type) {
	case wire.AddIn:
		if in.Inside || egress.PlainlyInside(in.URL) {
			return "its address is inside this machine or its network"
		}
	case wire.NameIn:
		if operation == "connector.login" {
			return "it signs in somewhere for the person"
		}
	}
	return ""
}
