package remote

import (
	"context"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/space/peer"
)

// Server is how this machine stands to a server that is to host a space.
func (m *Remotes) Server(ctx context.Context, host string) (peer.Server, error) {
	if m.Own(host) {
		return peer.Server{Own: true}, nil
	}
	if op.CallerFrom(ctx).Tenant != identity.LocalTenant { // before anything says whether it has
		return peer.Server{}, fault.New(fault.Denied, string(peer.SpaceCreate), "the house joined other servers for itself alone").
			WithNext("leave the host out: this server hosts it")
	}
	token, err := m.token(ctx, host)
	if err != nil {
		return peer.Server{}, err
	}
	pin, err := m.pins().Known(host)
	return peer.Server{Token: token, Pin: pin}, err
}
