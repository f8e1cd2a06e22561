// Package setup holds the commands around the installation: doctor, service
// and uninstall. They work on this machine's files, not through operations.
package setup

import (
	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	return []*cobra.Command{newDoctor(k), newService(k), newUninstall(k)}
}
