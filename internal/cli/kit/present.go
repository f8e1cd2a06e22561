package kit

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/login/device"
	login "tandem/internal/login/wire"
	"tandem/internal/op"
)

// callThrough runs an operation at the server of a login. Where that needs the person present, the PIN for that server is asked for
// here, and opens this machine's key for one signature; the PIN goes nowhere.
func (k *Kit) callThrough(ctx context.Context, c *client.Client, l *login.Login, name string, in, out any) error {
	if k.prove != nil {
		return c.WithProof(k.prove).Call(ctx, name, in, out)
	}
	if client.NeedsPresence(name) && l.Device != "" {
		prove, err := k.proof(ctx, l, name)
		if err != nil {
			return err
		}
		if prove != nil {
			return k.proven(c.WithProof(prove).Call(ctx, name, in, out), prove)
		}
	}
	err := c.Call(ctx, name, in, out)
	var f *fault.Error
	if !errors.As(err, &f) || f.Data["presence"] != "required" {
		return err
	}
	if l.Device == "" {
		return f.WithNext("no PIN was set for %s when you logged in there; log in anew, at a terminal, with another invitation", l.Name)
	}
	prove, failed := k.proof(ctx, l, name)
	switch {
	case failed != nil:
		return failed
	case prove == nil:
		return err
	}
	return k.proven(c.WithProof(prove).Call(ctx, name, in, out), prove)
}

// proven keeps a proof that the server took: a command of several calls asks once.
func (k *Kit) proven(err error, prove client.Prove) error {
	if err == nil {
		k.prove = prove
	}
	return err
}

// proof asks for the PIN of a login. It is nil where there is no terminal: the server says what is missing then. Whether the PIN is
// right is known here, before anything is sent.
func (k *Kit) proof(ctx context.Context, l *login.Login, name string) (client.Prove, error) {
	own, err := k.Own(ctx)
	if err != nil {
		return nil, err
	}
	key, err := op.Do(ctx, own, login.Device, login.NameIn{Name: l.Name})
	if err != nil {
		return nil, err
	}
	pin, err := k.Secret(fmt.Sprintf("%s needs your PIN for %s: ", name, l.Name))
	switch {
	case errors.Is(err, context.Canceled):
		return nil, err
	case err != nil:
		return nil, nil
	}
	private, err := key.Sealed.Open(key.Of, pin)
	if err != nil {
		return nil, wrongPIN(err, l.Name)
	}
	clear(private)
	there := own.Through(l.Name)
	return func(ctx context.Context, operation string, body []byte) (string, error) {
		asked, err := op.Do(ctx, there, identity.DeviceChallenge, identity.ChallengeIn{Device: key.Of.Device})
		if err != nil {
			return "", err
		}
		signature, err := key.Sealed.Sign(device.Act{Of: key.Of, Operation: operation, Nonce: asked.Nonce, Input: body}, pin)
		if err != nil {
			return "", wrongPIN(err, l.Name)
		}
		return key.Of.Device + " " + asked.Nonce + " " + base64.RawURLEncoding.EncodeToString(signature), nil
	}, nil
}

func wrongPIN(err error, name string) error {
	if errors.Is(err, device.ErrPIN) {
		return fault.New(fault.Denied, "presence", "this is not your PIN for %s", name).
			WithNext("try again; if you forgot it, ask there for another invitation and log in anew")
	}
	return err
}

// Unnamed reports whether a server refused because nobody said whom the call is for, as it does in the modes where every request says so.
func Unnamed(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && f.Data["reason"] == "unnamed"
}

// Said is a client of this machine's server that says who calls: with the token of the settings, or with the PIN.
func (k *Kit) Said(c *client.Client) (*client.Client, error) {
	s, err := k.Settings()
	if err != nil {
		return nil, err
	}
	if t := s.Get("as_token"); t != "" {
		return c.WithToken(t), nil
	}
	pin, err := k.Secret("This server wants to know who calls; your PIN: ")
	if err != nil {
		return nil, err
	}
	k.pin = pin
	return c.WithPIN(pin), nil
}
