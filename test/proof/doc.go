// Package proof holds the tests that look at tandem from outside, as its
// attackers and its failures do: the static program in a process of its own,
// reached by its socket, its port and its commands. Nothing here knows a room.
//
// Each test shows a line of docs/THREATS.md. Long ones run a tenth of their
// rounds by default and all of them with TANDEM_SOAK=1; chance prints its seed.
package proof
