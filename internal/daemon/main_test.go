package daemon

import (
	"os"
	"testing"

	"tandem/internal/tool/confine"
)

// Boxes are entered by this very program: a daemon in a test starts the test's.
func TestMain(m *testing.M) {
	if confine.Called(os.Args) {
		os.Exit(confine.Main(os.Args, os.Stderr))
	}
	os.Exit(m.Run())
}
