package daemon

import (
	"context"
	"os"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/identity"
)

// The tokens that come from settings have ids of their own, so that a changed
// setting replaces the old one.
var givenTokens = []struct{ id, actor, setting, variable string }{
	{"tok_api", identity.API, "api_token", "TANDEM_API_TOKEN"},
	{"tok_connector", identity.Connector, "connector_token", "TANDEM_TOKEN"},
}

// keepTokens makes the tokens that settings name work.
func (d *Daemon) keepTokens(ctx context.Context) error {
	for _, t := range givenTokens {
		secret, err := d.givenToken(t.setting)
		if err != nil {
			return err
		}
		if secret == "" {
			continue
		}
		if err := identity.CheckSecret(t.variable, secret); err != nil {
			return err
		}
		if err := d.identity.Keep(ctx, t.id, t.actor, secret); err != nil {
			return err
		}
	}
	return nil
}

// givenToken is the value of a setting, or what the file holds that
// SETTING_file names.
func (d *Daemon) givenToken(setting string) (string, error) {
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
	return strings.TrimSpace(string(data)), nil
}
