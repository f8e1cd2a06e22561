// Package scripted is a model server for tests, and for the check of agent programs that must not cost anything: it speaks Anthropic
// Messages, OpenAI Responses and OpenAI Chat on
// loopback and says what a script tells it to. It owns the scripts' language, the three wires as a server sees them,
// and a record of every request.
//
// A script is data (Script, also as JSON): rules that match a request, each with the turns to play. Without a matching
// rule the prompt itself is the script: directives in double brackets, one per model call, as in
//
//	please work [[tool Bash {"command":"ls"}]] [[say done]]
//
// The n-th call since the newest prompt plays the n-th directive; `;;` joins blocks of one reply; past the end it says
// DONE; without any directive it echoes. The server keeps no state about conversations, so a client may restart,
// resume or fork and still get the same answers. Only `errn` counts, by prompt.
//
// Real agent programs can be pointed at it (see the command in scriptedmodel). It refuses nothing but requests that
// are not JSON: authentication is recorded by the header's name and never checked.
package scripted
