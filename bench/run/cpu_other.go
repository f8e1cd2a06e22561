//go:build !unix

package main

import "time"

var began = time.Now()

// worked is how long this process was there: what it was at work is not asked for here.
func worked() time.Duration { return time.Since(began) }
