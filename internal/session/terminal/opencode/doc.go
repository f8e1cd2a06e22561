// Package opencode speaks with an OpenCode program over its own HTTP API and event stream, beside the terminal in which the
// same process runs. It owns one session of that program: it makes it, shows it in the terminal, prompts it, and tells what
// happens to it. Other sessions of the same program are not its business.
//
// The stream tells when something happens; what was said is read from the stored messages, whole.
package opencode
