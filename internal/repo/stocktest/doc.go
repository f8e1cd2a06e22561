// Package stocktest runs stock jj 0.45.1 for tests that hold ours against it:
// found where `make test-tools` puts it, in an environment in which equal
// commands make equal ids. It is imported by tests alone.
package stocktest
