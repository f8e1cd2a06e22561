package setup

import (
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"runtime"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
)

// Where a service of the machine has its unit and its data. What it is to be told before anybody is there to type it, such as an
// address or the hash of the first PIN, stands in the file of variables.
const (
	systemFile = "/etc/systemd/system/tandem.service"
	systemData = "/var/lib/tandem"
)

const systemUnit = `[Unit]
Description=tandem, for agents and people on one codebase
Wants=network-online.target
After=network-online.target

[Service]
Type=exec
User={{.User}}
StateDirectory=tandem
StateDirectoryMode=0700
EnvironmentFile=-/etc/tandem/tandem.env
ExecStart={{.Program}} serve --daemon --data {{.Data}}
Environment="PATH={{quoted .Path}}"
{{reload}}
Restart=on-failure
RestartSec=2
KillSignal=SIGTERM
# Agents in terminals outlive the server, which finds them again.
KillMode=process
TimeoutStopSec=15
UMask=0077

[Install]
WantedBy=multi-user.target
`

// installSystem writes the unit of the machine, which starts with it and runs as an account that exists.
func installSystem(k *kit.Kit, as string, start bool) error {
	switch {
	case runtime.GOOS != "linux":
		return fault.New(fault.Invalid, "service", "a service of the machine is for systemd, and this is %s", runtime.GOOS).
			WithNext("install the service of this user: tandem service install")
	case as == "" || as == "root":
		return kit.Usagef("a service of the machine runs as an account of its own, not as root: tandem service install --system --as tandem")
	}
	if _, err := user.Lookup(as); err != nil {
		return fault.New(fault.NotFound, "service", "there is no account %q", as).
			WithNext("make it: useradd --system --create-home --shell /usr/sbin/nologin %s", as)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	content, err := render(systemUnit, unit{Program: self, Data: systemData, Path: "/usr/local/bin:/usr/bin:/bin", User: as})
	if err != nil {
		return err
	}
	if err := os.WriteFile(systemFile, []byte(content), 0o644); err != nil {
		return fault.New(fault.Denied, "service", "%s cannot be written: %w", systemFile, err).WithNext("run it as root")
	}
	if start {
		if err := tell("systemctl", "daemon-reload"); err != nil {
			return err
		}
		if err := tell("systemctl", "enable", "--now", filepath.Base(systemFile)); err != nil {
			return err
		}
	}
	return k.Show(map[string]any{"file": systemFile, "data": systemData, "started": start}, func(w io.Writer) {
		fmt.Fprintf(w, "wrote %s; data is in %s\n", systemFile, systemData)
		if start {
			fmt.Fprintln(w, "the service is running")
		}
	})
}

// uninstallSystem stops and removes it; its data stays.
func uninstallSystem(k *kit.Kit) (removed string, err error) {
	if _, err := os.Stat(systemFile); err != nil {
		return "", nil
	}
	if err := tell("systemctl", "disable", "--now", filepath.Base(systemFile)); err != nil {
		fmt.Fprintf(k.Err, "note: %s\n", err)
	}
	if err := os.Remove(systemFile); err != nil {
		return "", fault.New(fault.Denied, "service", "%s cannot be removed: %w", systemFile, err).WithNext("run it as root")
	}
	return systemFile, nil
}
