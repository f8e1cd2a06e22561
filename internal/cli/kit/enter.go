package kit

import (
	"context"
	"fmt"
	"os"

	"tandem/internal/client"
	"tandem/internal/daemon"
	"tandem/internal/op"
)

// Enter makes sure that a server lets this machine in: it is this machine's
// own, a token was given, it was joined before, or it is joined now. The daemon
// remembers what lets us in; a token that was used is returned.
func (k *Kit) Enter(ctx context.Context, a client.Address, token string) (string, error) {
	reach, err := op.Do(ctx, k, daemon.WorkspaceReach, daemon.ReachIn{Server: a.Host, Key: a.Fingerprint})
	if err != nil {
		return "", err
	}
	s, err := k.Settings()
	if err != nil {
		return "", err
	}
	if token == "" && a.Invite == "" {
		token = s.Get("api_token")
	}
	key := ""
	if !reach.Own && token == "" && (!reach.Trusted || a.Invite != "") {
		name, err := os.Hostname()
		if err != nil {
			name = "machine"
		}
		joined, err := client.Join(ctx, a, client.OpenPins(s.Data()+"/known_servers"), name, func(q client.Asking) {
			fmt.Fprintf(k.Err, "%s\nserver:  %s %s\nrequest: %s, as the person who approves it sees it\nwaiting until somebody there approves "+
				"it; interrupted, the same command goes on waiting\n", q.Words, q.Server.Host, q.Server.Key, q.Key)
		})
		if err != nil {
			return "", err
		}
		token, key = joined.Secret, joined.Key
	}
	if !reach.Own && token != "" {
		_, err := op.Do(ctx, k, daemon.WorkspaceTrust, daemon.TrustIn{Server: a.Host, Token: token, Key: key})
		return token, err
	}
	return token, nil
}
