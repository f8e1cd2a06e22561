// Package agents knows how real agent programs are started and what they leave behind: their command lines and
// configuration, the files that tell their state, and their transcripts. It reads and writes those files and nothing else;
// it starts no process and decides nothing.
//
// The formats are the programs' own and come without a promise. Everything here is read tolerantly: what is not understood
// is skipped, and the caller falls back to another signal.
package agents
