// Package testenv is what tests stand on: the programs they drive, a private
// PostgreSQL, free ports, short folders, a clean environment with an empty
// home, and the static program itself. Only tests import it.
//
// A program that is missing fails the test with the command that installs it;
// nothing is skipped because a machine is not prepared.
package testenv
