package settings

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"tandem/internal/fault"
	"tandem/internal/wholefile"
)

// Known is the setting of that key, nil when there is none.
func Known(key string) *Setting {
	for i := range table {
		if table[i].Key == key {
			return &table[i]
		}
	}
	return nil
}

// CheckChange refuses what cannot be written into config.toml: unknown keys,
// secrets (they belong into the secret room or .env), where the file itself is,
// and where commands look for the daemon that would write it.
func CheckChange(key, value string) error {
	s := Known(key)
	switch {
	case s == nil:
		return fault.New(fault.NotFound, "setting.set", "there is no setting %q", key).WithNext("see what there is: tandem settings")
	case s.Secret:
		return fault.New(fault.Invalid, "setting.set", "%s is a secret and is not kept in config.toml", key).
			WithNext("put it into .env in the data folder, or into the environment, as %s", s.Env[0])
	case key == "data" || key == "as_token" || key == "control_socket":
		return fault.New(fault.Invalid, "setting.set", "%s cannot be set from inside the data folder", key).
			WithNext("use the flag, or %s in the environment", s.Env[0])
	case value != "" && s.fits(value) != nil:
		return s.fits(value)
	case len(value) > 4096 || strings.ContainsAny(value, "\x00\n\r"):
		return fault.New(fault.Invalid, "setting.set", "a value is one line of at most 4096 bytes")
	}
	return nil
}

// fits refuses a value that the setting cannot have.
func (d *Setting) fits(value string) error {
	switch {
	case len(d.OneOf) > 0 && !slices.Contains(d.OneOf, value):
		return fault.New(fault.Invalid, "setting.set", "%s is one of %s, not %q", d.Key, strings.Join(d.OneOf, ", "), value)
	case d.Form != nil && !d.Form.fits(value):
		return fault.New(fault.Invalid, "setting.set", "%s is %s, not %q", d.Key, d.Form.words, value)
	}
	return nil
}

// Fits refuses a value that a setting cannot have, wherever it came from.
func (s *Settings) Fits(key string) error {
	v := s.values[key]
	if err := Known(key).fits(v.Value); err != nil {
		return fault.New(fault.Invalid, "settings", "%s (it comes from %s)", fault.Public(err).Msg, v.Source)
	}
	return nil
}

// Change writes one setting into a data folder's config.toml, whole or not at
// all; an empty value removes it. Comments in the file are not kept.
func Change(data, key, value string) error {
	if err := CheckChange(key, value); err != nil {
		return err
	}
	path := filepath.Join(data, "config.toml")
	tree := map[string]any{}
	if _, err := toml.DecodeFile(path, &tree); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fault.New(fault.Invalid, "setting.set", "%s: %w", path, err).WithNext("mend the file, or move it away")
	}
	at := tree
	parts := strings.Split(key, ".")
	for _, p := range parts[:len(parts)-1] {
		next, ok := at[p].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[p] = next
		}
		at = next
	}
	if last := parts[len(parts)-1]; value == "" {
		delete(at, last)
	} else {
		at[last] = value
	}
	var b bytes.Buffer
	if err := toml.NewEncoder(&b).Encode(tree); err != nil {
		return err
	}
	return wholefile.Write(path, b.Bytes())
}
