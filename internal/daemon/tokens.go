package daemon

import (
	"context"
	"os"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/secret"
)

// The tokens that come from settings have ids of their own, so that a changed
// setting replaces the old one.
var givenTokens = []struct{ id, actor, setting, variable string }{
	{"tok_api", identity.API, "api_token", "TANDEM_API_TOKEN"},
	{"tok_connector", identity.Connector, "connector_token", "TANDEM_TOKEN"},
}

// ownTokens are the names under which these tokens are sealed. What stands there is let in after the next start.
var ownTokens = secret.Owned{Prefix: "token/"}

// keepTokens makes the tokens that settings name work, and makes those that
// they do not name. They are sealed, so that a person can be shown them again.
func (d *Daemon) keepTokens(ctx context.Context) error {
	for _, t := range givenTokens {
		given, err := d.given(t.setting)
		if err != nil {
			return err
		}
		if given != "" {
			if err := identity.CheckSecret(t.variable, given); err != nil {
				return err
			}
		}
		seal := given
		if revoked, err := d.identity.Revoked(ctx, identity.LocalTenant, t.id); err != nil {
			return err
		} else if revoked && given == "" { // what a person took back is never given out again
			seal = identity.NewSecret("tdm_")
		}
		token, err := d.sealToken(ctx, "token/"+t.actor, seal,
			func(tx *db.Tx, token string) (op.Sealed, error) { return identity.KeepIn(tx, t.id, t.actor, token) })
		if err == nil {
			err = d.identity.Keep(ctx, t.id, t.actor, token, d.recordToken)
		}
		if fault.Is(err, fault.Unavailable) { // the keyring is locked: what was known before still works
			d.Log.Warn("the token cannot be unsealed", "token", t.id, "err", err)
			err = nil
			if given != "" {
				err = d.identity.Keep(ctx, t.id, t.actor, given, d.recordToken)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sealToken brings a sealed token up to date: given replaces it, and where
// there is neither a new one is made. keep lets it in from then on, if it is one that does. It returns the token.
func (d *Daemon) sealToken(ctx context.Context, name, given string, keep func(tx *db.Tx, token string) (op.Sealed, error)) (token string,
	err error) {
	err = d.rooms.secret.Lend(ctx, identity.LocalTenant, name, func(v []byte) error { token = string(v); return nil })
	if err != nil && !fault.Is(err, fault.NotFound) {
		return "", err
	}
	if err == nil && (given == "" || given == token) {
		return token, nil
	}
	if token = given; given == "" {
		token = identity.NewSecret("tdm_")
	}
	return token, d.db.Write(ctx, func(tx *db.Tx) error {
		if _, err := d.rooms.secret.Put(tx, identity.LocalTenant, name, token, identity.System); err != nil {
			return err
		}
		e := journal.Event{Tenant: identity.LocalTenant, Type: "secret.set", Actor: identity.System, Resource: "secret:/" + name}
		if keep != nil {
			row, err := keep(tx, token)
			if err != nil {
				return err
			}
			e.Seals = journal.SealsOf([]op.Sealed{row})
		}
		_, err := d.journal.Append(tx, e)
		return err
	})
}

// recordToken vouches for a token that settings brought.
func (d *Daemon) recordToken(tx *db.Tx, row op.Sealed) error {
	_, err := d.journal.Append(tx, journal.Event{Tenant: identity.LocalTenant, Type: "token.keep", Actor: identity.System,
		Resource: strings.Replace(row.Subject, ":", ":/", 1),
		Seals:    journal.SealsOf([]op.Sealed{row})})
	return err
}

// given is the value of a setting, or what the file holds that
// SETTING_file names.
func (d *Daemon) given(setting string) (string, error) {
	if v := d.Settings.Get(setting); v != "" {
		return v, nil
	}
	path := d.Settings.Get(setting + "_file")
	if path == "" {
		return "", nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fault.New(fault.Invalid, "settings", "%s_file cannot be read: %w", setting, err).WithNext("check the path and its permissions")
	}
	if strings.TrimSpace(string(data)) == "" {
		return "", fault.New(fault.Invalid, "settings", "%s_file is empty", setting).WithNext("write it first, or leave the setting out")
	}
	return strings.TrimSpace(string(data)), nil
}
