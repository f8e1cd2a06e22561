// Package bench measures what the house promises: each figure beside the bare
// thing it is compared with, in the same run. `make bench` prints it.
package bench
