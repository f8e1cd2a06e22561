package daemon

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/settings"
	"tandem/internal/testenv"
)

// The mode is kept with the house: a start from another shell, or after a crash, lets in nobody whom the one before refused, unless a
// person kept that. People are told whenever the mode or the key ring is another one than at the last start.
func TestTheModeServedLastIsKept(t *testing.T) {
	pin, err := identity.HashPIN("246813579")
	if err != nil {
		t.Fatal(err)
	}
	data, ring := testenv.Dir(t)+"/data", newPlane(t).ring("ring-1")
	for i, c := range []struct {
		flags  map[string]string
		file   string // what a person keeps before
		mode   authMode
		says   string
		events int
	}{
		{nil, "", localSingleTenant, "", 0},
		{map[string]string{"auth_mode": "hosted_single_tenant", "pin_hash": pin}, "", hostedSingleTenant, "", 1},
		{nil, "", hostedSingleTenant, "", 1},
		{map[string]string{"auth_mode": "local_single_tenant"}, "", "", "tandem settings set auth_mode local_single_tenant", 1},
		{map[string]string{"assertion.public_keys": ring}, "", hostedSingleTenant, "", 2},
		{map[string]string{"assertion.public_keys": newPlane(t).ring("ring-1")}, "", hostedSingleTenant, "", 3},
		{map[string]string{"auth_mode": "enterprise_required", "assertion.public_keys": ring}, "", enterpriseRequired, "", 4},
		{nil, "", "", "write auth_mode = ", 4},
		{map[string]string{"auth_mode": "hosted_single_tenant"}, "", "", "tandem settings set auth_mode hosted_single_tenant", 4},
		{map[string]string{"auth_mode": "hosted_single_tenant"}, "local_single_tenant", hostedSingleTenant, "", 5},
		{nil, "", localSingleTenant, "", 6},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			flags := map[string]string{"data": data, "listen": "127.0.0.1:0", "secret_keeper": "file",
				"done_webhook": "http://127.0.0.1:1/nobody"} // so the notices wait
			maps.Copy(flags, c.flags)
			if c.file != "" {
				if err := settings.Change(data, "auth_mode", c.file); err != nil {
					t.Fatal(err)
				}
			}
			s, err := settings.Load(flags, nil)
			if err != nil {
				t.Fatal(err)
			}
			d := &Daemon{Settings: s, Version: "test"}
			d.Ready = func(d *Daemon) {
				defer d.stop()
				told, err := d.journal.Read(t.Context(), identity.LocalTenant, 0, 100, journal.Filter{Type: "server.mode"})
				if err != nil || len(told) != c.events || d.mode != c.mode {
					t.Errorf("in the mode %s, with %d events: %v", d.mode, len(told), err)
				}
				var notices int
				if err := d.db.QueryRow(t.Context(), "SELECT count(DISTINCT notice) FROM notice_way WHERE body LIKE '%server.mode%'").
					Scan(&notices); err != nil || notices != c.events {
					t.Errorf("%d notices: %v", notices, err)
				}
			}
			err = d.Run(t.Context())
			if err == nil && c.says != "" || err != nil && (c.says == "" || !strings.Contains(fault.Public(err).Next, c.says)) {
				t.Errorf("ended with: %v", err)
			}
		})
	}
}
