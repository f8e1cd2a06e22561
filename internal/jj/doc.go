// Package jj is jj's command line: its own argument parser with clap's texts,
// settings in layers, and one file for each command, over internal/repo.
//
// Main runs one command line and needs neither a daemon nor anything outside
// the repository and jj's own places for settings. What it does not know it
// hands to a stock jj on PATH; where there is none, it says what is missing. It
// never guesses.
package jj

//go:generate go test -run TestDocument -args -update
