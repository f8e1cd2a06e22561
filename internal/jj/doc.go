// Package jj is jj's command line: its own argument parser with clap's texts,
// settings in layers, and one file for each command, over internal/repo.
//
// Main runs one command line and needs neither a daemon nor anything outside
// the repository and jj's own places for settings. What it does not know it
// hands to a stock jj on PATH; where there is none, it says what is missing. It
// never guesses.
//
// A run is an env: streams, settings and arguments. A command that needs a
// workspace opens a session in it. The session alone changes something; what it
// asks is asked of its parts, which share one state, the repository at an
// operation: opLog and revisions say what a text names, printer shows it,
// gitSide is git's side of the repository, toolbox the programs that people
// edit and merge in.
//
// Each file of a command begins with the version of jj whose behaviour it
// follows. Words and exit codes are part of that behaviour: scripts and editors
// read them. NOTICE at the top of the source says what comes from Jujutsu.
package jj

//go:generate go test -run TestDocument -args -update
