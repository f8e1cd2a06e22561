package tunnel

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"time"

	"tandem/internal/fault"
)

// funnel is a Tailscale Funnel: a public port to a port of loopback. The Tailscale daemon owns it.
type funnel struct{ program }

// macApp is where the standalone app and the one of the App Store both are; only the latter has a receipt.
const macApp = "/Applications/Tailscale.app/Contents/"

func newFunnel(env []string) (Opener, error) {
	if runtime.GOOS == "darwin" {
		if _, err := os.Stat(macApp + "_MASReceipt"); err == nil {
			return nil, appStore()
		}
	}
	p, err := find("tailscale", byOS("brew install --cask tailscale-app, open it and log in; not the App Store's, which has no Funnel",
		"curl -fsSL https://tailscale.com/install.sh | sh, then: sudo tailscale up", "install it from https://tailscale.com/download and log in"),
		env, macApp+"MacOS/Tailscale")
	return funnel{p}, err
}

func appStore() error {
	return fault.New(fault.Conflict, "tunnel", "this Tailscale is the App Store's sandboxed build, which cannot run Funnel").
		WithNext("replace it with the standalone app: brew install --cask tailscale-app; or share with --mode quick")
}

// status is what matters of `tailscale status --json`.
type status struct {
	BackendState string
	CertDomains  []string
	Self         struct {
		DNSName string
		CapMap  map[string]json.RawMessage
	}
}

// host is this machine's public name, after everything that Funnel needs was looked at.
func (f funnel) host(ctx context.Context) (string, error) {
	out, err := f.run(ctx, 10*time.Second, "status", "--json", "--peers=false")
	if err != nil && (strings.Contains(out, "sandbox") || strings.Contains(out, "App Store")) {
		return "", appStore()
	}
	var s status
	if jsonErr := json.Unmarshal([]byte(out[max(strings.Index(out, "{"), 0):]), &s); jsonErr != nil {
		if err == nil {
			err = jsonErr
		}
		return "", fault.New(fault.Conflict, "tunnel", "tailscale does not answer: %s", said(out, err)).WithNext("%s",
			byOS("open the Tailscale app", "sudo systemctl start tailscaled, then: tailscale status", "open the Tailscale app"))
	}
	switch name := strings.TrimSuffix(s.Self.DNSName, "."); {
	case s.BackendState != "Running":
		return "", fault.New(fault.Conflict, "tunnel", "tailscale is not logged in or switched off (%s)", s.BackendState).
			WithNext("tailscale up, or open the Tailscale app and log in")
	case name == "":
		return "", fault.New(fault.Conflict, "tunnel", "this machine has no name in the tailnet: MagicDNS is off").
			WithNext("switch MagicDNS on: https://login.tailscale.com/admin/dns")
	case len(s.CertDomains) == 0:
		return "", fault.New(fault.Conflict, "tunnel", "HTTPS certificates are off in the tailnet").
			WithNext("switch HTTPS on, once: https://login.tailscale.com/admin/dns")
	default:
		return name, nil
	}
}

var enableLink = regexp.MustCompile(`https://login\.tailscale\.com/f/\S+`)

// Open turns the funnel on. tailscale waits for a person when the tailnet does not allow it: its link is handed on instead.
func (f funnel) Open(ctx context.Context, port string) (Opened, error) {
	name, err := f.host(ctx)
	if err != nil {
		return Opened{}, err
	}
	public, err := f.free(ctx, name, port)
	if err != nil {
		return Opened{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, f.path, "funnel", "--bg", "--yes", "--https="+public, port)
	cmd.Env, cmd.WaitDelay = f.env, time.Second
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return Opened{}, err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return Opened{}, fault.New(fault.Conflict, "tunnel", "tailscale did not start: %w", err)
	}
	var all []string
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		all = append(all, lines.Text())
		if link := enableLink.FindString(lines.Text()); link != "" {
			cancel()
			_ = cmd.Wait() // it waited for the person who now has the link
			return Opened{}, fault.New(fault.Conflict, "tunnel", "Funnel is off in the tailnet").WithNext("switch it on, once: %s; then share again",
				link)
		}
	}
	if err := cmd.Wait(); err != nil {
		return Opened{}, funnelFault(strings.Join(all, "\n"), err)
	}
	if public != "443" {
		name += ":" + public
	}
	return Opened{URL: "https://" + name}, nil
}

// funnelFault says what is wrong with a funnel in words that help.
func funnelFault(out string, err error) error {
	low := strings.ToLower(out)
	f := fault.New(fault.Conflict, "tunnel", "tailscale could not open a funnel: %s", said(out, err))
	switch {
	case strings.Contains(low, "sandbox"), strings.Contains(low, "app store"):
		return appStore()
	case strings.Contains(low, "shields-up"):
		return f.WithNext("allow incoming connections: tailscale set --shields-up=false")
	case strings.Contains(low, "https must be enabled"), strings.Contains(low, "https is not enabled"):
		return f.WithNext("switch HTTPS on, once: https://login.tailscale.com/admin/dns")
	case strings.Contains(low, "funnel") && strings.Contains(low, "not") &&
		(strings.Contains(low, "enabled") || strings.Contains(low, "available") || strings.Contains(low, "attribute")):
		return f.WithNext("allow Funnel for this machine, once: https://login.tailscale.com/admin/acls, node attribute funnel")
	case strings.Contains(low, "access denied"), strings.Contains(low, "permission"):
		return f.WithNext("let yourself run it: sudo tailscale set --operator=$USER")
	}
	return f.WithNext("see: tailscale funnel status")
}
