package remote

import (
	"context"
	"errors"
	"net/http"

	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/identity"
	logins "tandem/internal/login/wire"
	"tandem/internal/op"
)

// LoggedIn passes a command's request on to the server of a login: /login/{name}/{path...}. It is for the programs of this user,
// whose terminal the login is, and for nobody who works for them under rules of their own.
func (m *Remotes) LoggedIn(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	ctx, err := m.at.Gate().Admit(r.Context(), logins.Forward, logins.NameIn{Name: name})
	if c := op.CallerFrom(ctx); err == nil && (c.Door != op.DoorSocket || !c.Here()) {
		err = fault.New(fault.Denied, logins.Forward, "a login is for the commands of its person's own terminal")
	}
	if err == nil {
		err = m.forLogin(w, r.WithContext(ctx), name)
	}
	if err != nil {
		m.at.Fail(w, r, err)
	}
}

func (m *Remotes) forLogin(w http.ResponseWriter, r *http.Request, name string) error {
	l, token, err := m.at.Logins.Token(r.Context(), identity.LocalTenant, name)
	if err != nil {
		return err
	}
	server, err := m.serverOf(r.Context(), l)
	if err != nil {
		return notThere(l, err)
	}
	resp, err := m.carry(r, server, "/"+r.PathValue("path"), token)
	if err != nil {
		return notThere(l, err)
	}
	if resp.StatusCode == http.StatusUnauthorized {
		resp.Body.Close()
		return fault.New(fault.Unauthenticated, logins.Forward, "%s lets %s in no more", l.Name, l.Terminal).
			WithNext("ask there for another invitation (tandem invite --person %s); to forget this login: tandem login forget %s", l.Person, l.Name)
	}
	answer(w, resp)
	return nil
}

// serverOf meets the server of a login. It has the key that it had when the person logged in, or one that came after that; what is kept
// of other servers may be lost or wrong. One that had a key is not spoken to in the clear.
func (m *Remotes) serverOf(ctx context.Context, l logins.Login) (*met, error) {
	a, err := client.ParseAddress(l.Server)
	if err != nil {
		return nil, err
	}
	if l.Key == "" {
		return m.meet(ctx, a)
	}
	if err := m.pins().Expect(a.Host, l.Key); err != nil {
		var f *fault.Error
		if errors.As(err, &f) && f.Kind == fault.Denied {
			err = f.WithNext("ask the server's owner for its fingerprint (there: tandem status); if it is this one, "+
				"log in anew with another invitation: tandem login %s#INVITE --name %s", l.Server, l.Name)
		}
		return nil, err
	}
	server, err := m.meet(ctx, a)
	if err == nil && server.Key == "" { // it was met before it had one
		m.forget(a.Host)
		server, err = m.meet(ctx, a)
	}
	return server, err
}

// notThere is the server of a login that cannot be reached; a key that is not its own is told as that.
func notThere(l logins.Login, err error) error {
	if fault.Is(err, fault.Denied) {
		return err
	}
	return fault.New(fault.Unavailable, logins.Forward, "cannot reach %s at %s: %w", l.Name, l.Server, err).
		WithNext("try again when it is there; for this machine's own server: --server own")
}
