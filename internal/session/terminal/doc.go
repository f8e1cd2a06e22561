// Package terminal drives real agent programs in terminals: it opens them in tmux, types prompts, knows when a turn is over
// and how it ended, carries their permission dialogs to people, and closes them. It is a session.Driver; the session itself,
// its turns and messages are rows of the session room.
//
// # Programs
//
// Claude Code is typed to and watched (claude.go, deliver.go, turn.go). Codex and OpenCode are spoken to through a
// server of their own, beside their terminal (spoken.go, codex.go, opencode.go), so nothing is typed but slash commands.
//
// # What it trusts
//
// In this order, each answer naming the one it was read from: the process (is it there?), the program's own hooks or server, its
// registry file, its transcript, the terminal's title, the screen. A lower one never overrules a higher one.
//
// # States of a seat
//
//	starting ──► ready ◄──► working ──► needs permission | asking | retrying | rate-limited
//	                ▲           │
//	                └───────────┘            dialog: something is open on the screen that a person has to answer
//	exited, crashed: the program is gone     hung: it works and nothing moves
//	rate-limited: it rests, and its provider refused the last turn; or it works, and tries again
//
// A turn ends ok, interrupted, or with an error and its kind.
//
// # Versions
//
// Each version of a program is probed when it is first met (probe.go), and what it showed is kept (check.go).
//
// # What it refuses
//
// It types only into an empty input box of a program that waits for a prompt, presses Enter only on its own text, and never
// answers a dialog. A prompt that may have been typed is never typed again. Text with control characters, which could end a
// paste, is refused, and so is text that the program would run as a shell command of its own.
package terminal
