package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"tandem/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"tandem": func() { os.Exit(cli.Main(os.Args, os.Environ(), os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs every script below testdata/script: the product's behaviour,
// told as commands and what they print.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: false,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("TANDEM_PORT", "0")
			env.Defer(func() { stopDaemon(home) })
			return os.MkdirAll(home, 0o700)
		},
	})
}

// stopDaemon ends a daemon that a script left running.
func stopDaemon(home string) {
	env := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	cli.Main([]string{"tandem", "down"}, env, os.Stdin, discard{}, discard{})
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
