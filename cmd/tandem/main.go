// Command tandem lets a team of AI agents and people work on one
// codebase, from many machines, under real authority.
package main

import (
	"os"

	"tandem/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args, os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
