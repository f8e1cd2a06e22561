package job

import (
	"os"
	"testing"

	"tandem/internal/tool/confine"
)

// What checks run in a sandbox is started by this very program.
func TestMain(m *testing.M) {
	if confine.Called(os.Args) {
		os.Exit(confine.Main(os.Args, os.Stderr))
	}
	os.Exit(m.Run())
}
