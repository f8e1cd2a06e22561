// Package codex speaks with a Codex app-server: JSON-RPC in a WebSocket on a unix socket, as a second client beside the
// terminal that a person sees. It owns one connection and what it knows of the conversation on it.
//
// The terminal's program makes the conversation; this side learns of it, asks for the careful approval policy, and hears its
// turns once it has one (before that there is nothing that could be subscribed to). What was missed is read afterwards, so
// every item and every end is told once.
//
// Permissions and questions go to both clients, and the first answer wins; what was answered in the terminal is told here.
package codex
