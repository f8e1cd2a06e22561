// Package health is what a server knows of how it is: whether it can do its work and what keeps it from that, whether its clock is right,
// and what it counted since its start.
//
// It decides nothing about anybody, and refuses nobody. Whoever asks often does not make it write often: a look lasts two seconds. What it
// finds it writes into the log when it changes, counts of refusals once a minute, and a step of the clock into the journal.
package health
