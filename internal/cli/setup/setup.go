// Package setup holds the commands around the installation: setup, doctor, service
// and uninstall. Setup runs other commands; the rest works on this machine's files, not through operations.
package setup

import (
	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	return []*cobra.Command{newSetup(k), newDoctor(k), newService(k), newUninstall(k)}
}
