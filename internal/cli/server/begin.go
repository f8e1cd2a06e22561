package server

import (
	"fmt"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/daemon"
)

// beginning is what one start alone is told.
type beginning struct {
	fresh   bool
	without []string
}

func (b *beginning) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&b.fresh, "new", false, "begin a new installation: keys, data, settings and repositories that are there are set aside")
	cmd.Flags().StringArrayVar(&b.without, "without", nil,
		"go on without a key that is lost, such as journal.key; what was sealed or signed with it is lost, too")
}

// anew sets aside what is there, when a new installation is to begin.
func (b *beginning) anew(k *kit.Kit) error {
	if !b.fresh {
		return nil
	}
	aside, err := daemon.SetAside(k.Data())
	if err == nil && aside != "" {
		fmt.Fprintf(k.Err, "what was there is set aside in %s\n", aside)
	}
	return err
}

// args passes on what is left for the server to know.
func (b *beginning) args() (args []string) {
	for _, w := range b.without {
		args = append(args, "--without="+w)
	}
	return args
}
