package repo

import (
	"context"
	"errors"
	"net/http"

	"tandem/internal/cli/kit"
	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/repo/host"
	"tandem/internal/repo/replica"
)

// way is how to reach a server: through this machine's daemon, which holds the
// connection and the credential.
func way(ctx context.Context, k *kit.Kit, server, token string) (replica.Remote, error) {
	c, err := k.Client(ctx)
	if err != nil {
		return replica.Remote{}, err
	}
	m := replica.Remote{Client: c, Prefix: "/remote/" + server, Header: http.Header{}}
	if token == "" {
		s, err := k.Settings()
		if err != nil {
			return m, err
		}
		token = s.Get("api_token")
	}
	if token != "" {
		m.Header.Set("Tandem-Remote-Token", token)
	}
	return m, nil
}

// enter makes sure that the server lets us in, and says how to reach it.
func enter(ctx context.Context, k *kit.Kit, a client.Address, token string) (replica.Remote, error) {
	return enterAs(ctx, k, a, token, "")
}

// enterAs is enter for a newcomer who says how people there will call it.
func enterAs(ctx context.Context, k *kit.Kit, a client.Address, token, name string) (replica.Remote, error) {
	if token == "" && a.Invite != "" {
		known, err := member(ctx, k, a)
		if err != nil || known {
			if known {
				k.NameKept(a.Host, name)
			}
			m, lost := way(ctx, k, a.Host, "")
			return m, errors.Join(err, lost)
		}
	}
	token, err := k.Enter(ctx, a, token, name)
	if err != nil {
		return replica.Remote{}, err
	}
	return way(ctx, k, a.Host, token)
}

// member says whether the server lets this machine in already. Another invitation would make it somebody else there, to whom the work
// of its workspaces does not belong.
func member(ctx context.Context, k *kit.Kit, a client.Address) (bool, error) {
	reach, err := k.Reach(ctx, a)
	if err != nil || reach.Own || !reach.Trusted {
		return false, err
	}
	m, err := way(ctx, k, a.Host, "")
	if err != nil {
		return false, err
	}
	m.Header.Del("Tandem-Remote-Token") // of a setting: the question is what this machine was given
	_, err = op.Do(ctx, m, host.RepoList, struct{}{})
	return err == nil, nil
}

// choose finds the repository that an address means.
func choose(ctx context.Context, m replica.Remote, a client.Address) (host.Repository, error) {
	list, err := op.Do(ctx, m, host.RepoList, struct{}{})
	if err != nil {
		return host.Repository{}, err
	}
	names := ""
	for _, r := range list.Items {
		if r.Name == a.Repo || a.Repo != "" && r.ID == a.Repo || a.Repo == "" && len(list.Items) == 1 {
			return r, nil
		}
		names += " " + r.Name
	}
	switch {
	case len(list.Items) == 0:
		return host.Repository{}, fault.New(fault.NotFound, "init", "%s serves no repository", a.Host).
			WithNext("start it with one: tandem up --repo PATH")
	case a.Repo == "":
		return host.Repository{}, fault.New(fault.Invalid, "init", "%s serves several repositories:%s", a.Host, names).
			WithNext("name one: %s/NAME", a.Host)
	}
	return host.Repository{}, fault.New(fault.NotFound, "init", "%s serves no repository %q; it has:%s", a.Host, a.Repo, names)
}

// address is the server that a command line or the settings name.
func address(k *kit.Kit, flags ...string) (client.Address, error) {
	for _, f := range flags {
		if f != "" {
			return client.ParseAddress(f)
		}
	}
	s, err := k.Settings()
	if err != nil {
		return client.Address{}, err
	}
	if v := s.Get("server"); v != "" {
		return client.ParseAddress(v)
	}
	return client.Address{}, nil
}
