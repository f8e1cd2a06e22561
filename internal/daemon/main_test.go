package daemon

import (
	"context"
	"os"
	"testing"

	"tandem/internal/source/boxed"
	"tandem/internal/tool/confine"
)

// Boxes are entered by this very program: a daemon in a test starts the test's.
func TestMain(m *testing.M) {
	if confine.Called(os.Args) {
		os.Exit(confine.Main(os.Args, os.Stderr))
	}
	if boxed.Called(os.Args) {
		os.Exit(boxed.Main(context.Background(), os.Stdin, os.Stdout))
	}
	if TrialCalled(os.Args) {
		os.Exit(TrialMain(context.Background(), os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}
