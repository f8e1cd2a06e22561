package tunnel

import (
	"context"
	"encoding/json"
	"net"
	"slices"
	"strings"
	"time"

	"tandem/internal/fault"
)

// A machine has one Tailscale daemon for all that its people serve: what is not ours is neither replaced nor taken down.

// publicPorts are those that Funnel has.
var publicPorts = []string{"443", "8443", "10000"}

// served is what matters of `tailscale funnel status --json`.
type served struct {
	TCP map[string]json.RawMessage
	Web map[string]struct {
		Handlers map[string]struct{ Proxy string }
	}
	Foreground map[string]served // by the programs that serve while they run
}

func (f funnel) served(ctx context.Context) (s served, err error) {
	out, err := f.run(ctx, 10*time.Second, "funnel", "status", "--json")
	if err == nil {
		err = json.Unmarshal([]byte(out[max(strings.Index(out, "{"), 0):]), &s)
	}
	if err != nil {
		return s, fault.New(fault.Conflict, "tunnel", "tailscale does not say what it serves: %s", said(out, err)).
			WithNext("see: tailscale funnel status; Tailscale from 1.52 on says it")
	}
	return s, nil
}

// leads are the public ports whose root leads to a port of loopback.
func (s served) leads(port string) (public []string) {
	for host, web := range s.Web {
		if _, p, err := net.SplitHostPort(host); err == nil && strings.TrimSuffix(web.Handlers["/"].Proxy, "/") == local(port) {
			public = append(public, p)
		}
	}
	slices.Sort(public)
	return public
}

// taken says whether somebody serves something at a public port.
func (s served) taken(public string) bool {
	if _, ok := s.TCP[public]; ok {
		return true
	}
	for _, f := range s.Foreground {
		if f.taken(public) {
			return true
		}
	}
	return false
}

// free is the public port for a funnel: the one that leads here already, or the first at which nobody serves anything.
func (f funnel) free(ctx context.Context, name, port string) (string, error) {
	s, err := f.served(ctx)
	if err != nil {
		return "", err
	}
	if ours := s.leads(port); len(ours) > 0 {
		return ours[0], nil
	}
	for _, p := range publicPorts {
		if !s.taken(p) {
			return p, nil
		}
	}
	return "", fault.New(fault.Conflict, "tunnel", "%s serves something else at each port that Funnel has (%s)", name,
		strings.Join(publicPorts, ", ")).WithNext("take one of them down, or share with --mode quick; see: tailscale funnel status")
}

// Close takes down what leads to the port, and leaves everything else that is served.
func (f funnel) Close(ctx context.Context, _ int, port string) error {
	s, err := f.served(ctx)
	if err != nil {
		return err
	}
	for _, public := range s.leads(port) {
		off := []string{"funnel", "--yes", "--https=" + public, "--set-path=/", "off"}
		if out, err := f.run(ctx, 15*time.Second, off...); err != nil {
			return fault.New(fault.Conflict, "tunnel", "the funnel was not taken down: %s", said(out, err)).
				WithNext("tailscale %s", strings.Join(off, " "))
		}
	}
	return nil
}

// Up says whether the funnel is still there.
func (f funnel) Up(ctx context.Context, port string) error {
	s, err := f.served(ctx)
	if err == nil && len(s.leads(port)) == 0 {
		err = fault.New(fault.Conflict, "tunnel", "the funnel is gone: nothing leads to port %s", port)
	}
	return err
}
