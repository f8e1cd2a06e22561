package repo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/repo/replica"
)

// remoteOut is where a workspace's repository is served.
type remoteOut struct {
	Server    string `json:"server"`
	Repo      string `json:"repo"`
	Workspace string `json:"workspace"`
	Waiting   int    `json:"waiting"` // operations that the server has not got yet
}

func newRemote(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{
		Use: "remote", Short: "Say which server a workspace belongs to", Args: cobra.NoArgs,
		Example: "  tandem remote\n  tandem remote set your-server:13013",
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := here()
			if err != nil {
				return err
			}
			defer r.Close()
			return showRemote(cmd.Context(), k, r)
		},
	}
	var token string
	set := &cobra.Command{
		Use: "set HOST:PORT", Short: "Tell a workspace that its server moved", Args: cobra.ExactArgs(1),
		Long: `Tell a workspace that its server is at another address now. What waits here goes
there at once. A server that does not have this repository is refused, and the
workspace stays where it was.`,
		Example: "  tandem remote set your-server:14014\n  tandem remote set your-server:14014#INVITE",
		RunE:    func(cmd *cobra.Command, args []string) error { return setRemote(cmd.Context(), k, args[0], token) },
	}
	set.Flags().StringVar(&token, "token", "", "a token of the server's")
	cmd.AddCommand(set, newTrust(k))
	return cmd
}

// here is the workspace that this folder lies in.
func here() (*replica.Replica, error) {
	r, err := inside()
	if err == nil && r == nil {
		err = fault.New(fault.NotFound, "remote", "this folder is in no workspace of a server").
			WithNext("make one: tandem init --tandem-server HOST:PORT [PATH]")
	}
	return r, err
}

// inside is the workspace that this folder lies in, nil when there is none.
func inside() (*replica.Replica, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return replica.Find(dir)
}

func showRemote(ctx context.Context, k *kit.Kit, r *replica.Replica) error {
	waiting, err := r.Waiting(ctx)
	if err != nil {
		return err
	}
	return k.Show(remoteOut{r.Server, r.Repo, r.Workspace, waiting}, func(w io.Writer) {
		fmt.Fprintf(w, "%s/%s, workspace %s\n", r.Server, r.Repo, r.Workspace)
		if waiting > 0 {
			fmt.Fprintf(w, "%d operations wait to be sent\n", waiting)
		}
	})
}

func setRemote(ctx context.Context, k *kit.Kit, server, token string) error {
	a, err := address(k, server)
	if err != nil {
		return err
	}
	r, err := here()
	if err != nil {
		return err
	}
	defer r.Close()
	m, err := enter(ctx, k, a, token)
	if err != nil {
		return err
	}
	was := r.Config
	if err := r.Move(a.Host); err != nil {
		return err
	}
	m.Header.Set("Tandem-Replica", r.Store.Dir())
	if _, err := r.Sync(ctx, m, nil); err != nil {
		return errors.Join(err, r.Move(was.Server))
	}
	return showRemote(ctx, k, r)
}
