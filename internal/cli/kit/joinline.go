package kit

import (
	"context"
	"fmt"

	"tandem/internal/server/wire"

	"tandem/internal/client"
	"tandem/internal/op"
	"tandem/internal/repo/host"
)

// JoinLine is what somebody types on another machine to use an invitation: it
// makes a workspace of what this server serves, in a folder of that name, or a
// space where nothing is served. invite is what goes behind #.
func JoinLine(ctx context.Context, c *client.Client, st *wire.Status, invite string) (string, error) {
	address := st.Address
	if address == "" {
		address = st.Listen // for programs of this machine
	}
	list, err := op.Do(ctx, c, host.RepoList, struct{}{})
	if err != nil {
		return "", err
	}
	switch n := len(list.Items); {
	case n == 0 && st.Address != "":
		return fmt.Sprintf("tandem space create --host=%s#%s", address, invite), nil
	case n == 0:
		return fmt.Sprintf("tandem init --tandem-server=%s#%s", address, invite), nil
	case n > 1: // which one is meant must be said
		address += "/" + list.Items[0].Name
	}
	return fmt.Sprintf("tandem init --tandem-server=%s#%s %s", address, invite, list.Items[0].Name), nil
}
