package setup

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
)

// unit is what both service managers are told.
type unit struct {
	Program, Data, Path string
	User                string // of a service of the machine
}

const systemdUnit = `[Unit]
Description=tandem, for agents and people on one codebase
After=network.target

[Service]
Type=exec
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
WantedBy=default.target
`

const launchdPlist = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>dev.tandem.server</string>
	<key>ProgramArguments</key>
	<array>
		<string>{{.Program}}</string>
		<string>serve</string>
		<string>--daemon</string>
		<string>--data</string>
		<string>{{.Data}}</string>
	</array>
	<key>EnvironmentVariables</key>
	<dict>
		<key>PATH</key>
		<string>{{html .Path}}</string>
	</dict>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>Umask</key>
	<integer>63</integer>
</dict>
</plist>
`

func newService(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "service", Short: "Start tandem with the machine (systemd, launchd)"}
	var noStart, system bool
	var as string
	install := &cobra.Command{
		Use: "install", Short: "Install and start the service of this user", Args: cobra.NoArgs,
		Long: "Install and start the service of this user: systemd on Linux, launchd on macOS. A server that runs already gives way to it. " +
			"What was said to tandem up on the command line is not passed on unless it was kept: start it as you want it " +
			"(tandem up --listen 0.0.0.0:13013), keep that (tandem settings keep), then install the service. " +
			"On Linux the service runs while this user is logged in; with loginctl enable-linger it starts with the machine. " +
			"With --system it is a service of the machine, for systemd and as root: it runs as the account that --as names, " +
			"keeps its data in /var/lib/tandem, and reads what it is to be told from /etc/tandem/tandem.env.",
		Example: "  tandem service install\n  tandem service install --no-start\n  tandem service install --system --as tandem",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if system {
				return installSystem(k, as, !noStart)
			}
			return installService(cmd.Context(), k, !noStart)
		},
	}
	install.Flags().BoolVar(&system, "system", false, "a service of the machine, not of this user")
	install.Flags().StringVar(&as, "as", "", "the account that a service of the machine runs as")
	install.Flags().BoolVar(&noStart, "no-start", false, "only write the file")
	uninstall := &cobra.Command{
		Use: "uninstall", Short: "Stop and remove the service; its data stays", Args: cobra.NoArgs,
		Example: "  tandem service uninstall\n  tandem service uninstall --system",
		RunE: func(cmd *cobra.Command, _ []string) error {
			remove := uninstallService
			if system {
				remove = uninstallSystem
			}
			removed, err := remove(k)
			if err != nil {
				return err
			}
			said := "there was no service"
			if removed != "" {
				said = "removed " + removed
			}
			return k.Show(map[string]any{"removed": removed}, func(w io.Writer) { fmt.Fprintln(w, said) })
		},
	}
	uninstall.Flags().BoolVar(&system, "system", false, "the service of the machine, not of this user")
	cmd.AddCommand(install, uninstall)
	return cmd
}

// serviceFile is where the service manager of a system looks, and the text.
func serviceFile(goos, home string) (path, text string, err error) {
	switch goos {
	case "linux":
		return filepath.Join(home, ".config", "systemd", "user", "tandem.service"), systemdUnit, nil
	case "darwin":
		return filepath.Join(home, "Library", "LaunchAgents", "dev.tandem.server.plist"), launchdPlist, nil
	}
	return "", "", fault.New(fault.Invalid, "service", "there is no service for %s yet", goos).
		WithNext("start it with your session: tandem up")
}

// reloads is how systemd tells the server to read its settings again.
const reloads = "ExecReload=/bin/kill -HUP $MAINPID"

func render(text string, u unit) (string, error) {
	t, err := template.New("unit").Funcs(template.FuncMap{"reload": func() string { return reloads },
		"quoted": strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`).Replace}).Parse(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, u)
	return b.String(), err
}

func installService(ctx context.Context, k *kit.Kit, start bool) error {
	s, err := k.Settings()
	if err != nil {
		return err
	}
	path, text, err := serviceFile(runtime.GOOS, s.Home)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	search := "/usr/local/bin:/usr/bin:/bin"
	for _, kv := range k.Env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			search = v
		}
	}
	if strings.ContainsAny(self+s.Data(), " \t\"'\\%<>&") {
		return fault.New(fault.Invalid, "service", "a path with spaces or quotes cannot be written into a service file safely").
			WithNext("install tandem and its data folder under a plain path")
	}
	if theirs, err := serves(path); err == nil && !sameFolder(theirs, s.Data()) {
		return fault.New(fault.Conflict, "service", "the service of this user is of another data folder, %s", theirs).
			WithNext("remove that one first: tandem service uninstall --data %s", theirs)
	}
	content, err := render(text, unit{Program: self, Data: s.Data(), Path: search})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		return err
	}
	if start {
		if runtime.GOOS == "linux" { // where there is no service manager, the server that runs goes on
			if err := tell("systemctl", "--user", "daemon-reload"); err != nil {
				return err
			}
		}
		if _, err := stopServer(ctx, k); err != nil {
			return err
		}
		if err := manage(runtime.GOOS, path, true); err != nil {
			return err
		}
	}
	return k.Show(map[string]any{"file": path, "started": start}, func(w io.Writer) {
		fmt.Fprintf(w, "wrote %s\n", tilde(path, s.Home))
		if start {
			fmt.Fprintln(w, "the service is running")
		}
		switch {
		case runtime.GOOS == "linux" && lingers():
			fmt.Fprintln(w, "it starts with the machine: this account lingers")
		case runtime.GOOS == "linux":
			fmt.Fprintln(w, "it runs while you are logged in; to start it with the machine: loginctl enable-linger")
		}
	})
}

// lingers reports whether systemd runs the services of this account while nobody is logged in.
func lingers() bool {
	me, err := user.Current()
	if err != nil {
		return false
	}
	_, err = os.Stat(filepath.Join("/var/lib/systemd/linger", me.Username))
	return err == nil
}

// dataOf finds the data folder in a service file, of systemd or of launchd.
var dataOf = regexp.MustCompile(`--data(?:</string>\s*<string>|\s+)([^\s<]+)`)

// serves is the data folder of the service that is installed; an error says that there is none. One account has one service, and
// --data may mean another installation than that.
func serves(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if m := dataOf.FindSubmatch(text); m != nil {
		return string(m[1]), nil
	}
	return "a folder that the file does not name", nil
}

func sameFolder(a, b string) bool {
	for _, p := range []*string{&a, &b} {
		if real, err := filepath.EvalSymlinks(*p); err == nil {
			*p = real
		}
	}
	return filepath.Clean(a) == filepath.Clean(b)
}

func uninstallService(k *kit.Kit) (removed string, err error) {
	s, err := k.Settings()
	if err != nil {
		return "", err
	}
	path, _, err := serviceFile(runtime.GOOS, s.Home)
	if err != nil {
		return "", nil // nothing was ever written here
	}
	theirs, err := serves(path)
	if err != nil {
		return "", nil
	}
	if !sameFolder(theirs, s.Data()) {
		fmt.Fprintf(k.Err, "note: the service is of %s and stays as it is\n", theirs)
		return "", nil
	}
	stopped := manage(runtime.GOOS, path, false)
	if err := os.Remove(path); err != nil {
		return "", err
	}
	if stopped != nil {
		fmt.Fprintf(k.Err, "note: %s\n", stopped)
	}
	return path, nil
}

// manage tells the service manager to start or stop the unit.
func manage(goos, path string, on bool) error {
	switch {
	case goos == "linux" && on:
		return tell("systemctl", "--user", "enable", "--now", "tandem.service")
	case goos == "linux":
		return tell("systemctl", "--user", "disable", "--now", "tandem.service")
	case on:
		return tell("launchctl", "load", "-w", path)
	}
	return tell("launchctl", "unload", "-w", path)
}

func tell(program string, args ...string) error {
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		return fault.New(fault.Unavailable, "service", "%s %s did not work: %s", program, strings.Join(args, " "),
			strings.TrimSpace(string(out)+" "+err.Error())).
			WithNext("the file is in place: run that command yourself, or use --no-start")
	}
	return nil
}
