package kit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/remote/wire"
)

// Enter makes sure that a server lets this machine in: it is this machine's
// own, a token was given, it was joined before, or it is joined now. The daemon
// remembers what lets us in; a token that was used is returned. name is what people there will call this machine, "" for its own name.
func (k *Kit) Enter(ctx context.Context, a client.Address, token, name string) (string, error) {
	reach, err := k.Reach(ctx, a)
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
	if reach.Own || token != "" || reach.Trusted && a.Invite == "" {
		k.NameKept(a.Host, name)
	} else {
		given := name
		if host, err := os.Hostname(); err == nil {
			name = cmp.Or(name, host)
		}
		name = cmp.Or(name, "machine")
		joined, err := client.Join(ctx, a, client.OpenPins(s.Data()+"/known_servers"), name, func(q client.Asking) {
			fmt.Fprintf(k.Err, "%s\nserver:  %s %s\nrequest: %s, as the person who approves it sees it\nwaiting until somebody there approves "+
				"it; interrupted, the same command goes on waiting\n", q.Words, q.Server.Host, q.Server.Key, q.Key)
		})
		if f := (*fault.Error)(nil); reach.Trusted && errors.As(err, &f) && f.Data["reason"] == identity.InvitationOver {
			fmt.Fprintf(k.Err, "that invitation lets nobody in any more; this machine has joined %s before, and goes on as it is known "+
				"there\n", a.Host)
			k.NameKept(a.Host, given)
			return "", nil
		}
		if err != nil {
			return "", err
		}
		token, key = joined.Secret, joined.Key
	}
	if !reach.Own && token != "" {
		_, err := op.Do(ctx, k, wire.Trust, wire.TrustIn{Server: a.Host, Token: token, Key: key})
		return token, err
	}
	return token, nil
}

// NameKept says that a name for a newcomer is not taken, because the server knows already who this is.
func (k *Kit) NameKept(host, name string) {
	if name != "" {
		fmt.Fprintf(k.Err, "%s knows already who you are, and --name %s was left out\n", host, name)
	}
}

// Reach says how this machine stands to a server. An invitation may name another key than the one that is known, because the server lost
// it: whoever types the line accepts that key with their PIN, as tandem remote trust does. Nothing else that was sent, kept or planted
// does, and where there is no PIN or no terminal it stays refused.
func (k *Kit) Reach(ctx context.Context, a client.Address) (wire.ReachOut, error) {
	reach, err := op.Do(ctx, k, wire.Reach, wire.ReachIn{Server: a.Host, Key: a.Fingerprint})
	var f *fault.Error
	if !errors.As(err, &f) || f.Data["reason"] != client.InvitedKey || a.Invite == "" || !k.ourselves() || !k.Asks() {
		return reach, err
	}
	if who, lost := op.Do(ctx, k, identity.ActorWhoami, identity.Nothing{}); lost != nil || !who.PIN {
		return reach, err
	}
	fmt.Fprintf(k.Err, "%s\nIf whoever gave you this line is the owner of that server, your PIN accepts its key here.\n", f.Msg)
	defer k.Leave() // for this alone
	return op.Do(ctx, k, wire.Rekey, wire.RekeyIn{Server: a.Host, Key: a.Fingerprint})
}
