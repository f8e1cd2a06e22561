package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/policy"
	"tandem/internal/remote/wire"
	"tandem/internal/repo/host"
)

// smallBody is what is kept in memory, so that a request that met a connection
// just closed can be sent again.
const smallBody = 1 << 20

// ServeHTTP passes a request on: /remote/{host}/{path...}.
func (m *Remotes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	server, path := r.PathValue("host"), "/"+r.PathValue("path")
	a, err := client.ParseAddress(server)
	if err != nil {
		m.at.Fail(w, r, err)
		return
	}
	ctx, err := m.at.Gate().Admit(r.Context(), string(wire.Forward), wire.ReachIn{Server: server})
	if err == nil && op.CallerFrom(ctx).Door != op.DoorSocket {
		err = fault.New(fault.Denied, "workspace.forward", "requests are passed on for programs of this machine only")
	}
	if err != nil {
		m.at.Fail(w, r, err)
		return
	}
	r = r.WithContext(ctx)
	if dir := r.Header.Get("Tandem-Replica"); dir != "" && op.CallerFrom(ctx).Kind == op.Local {
		m.watch(server, dir, r.Header.Get("Tandem-Remote-Token"))
	}
	if m.own(ctx, a) {
		to := r.Clone(r.Context())
		to.URL.Path, to.URL.RawPath, to.Host = path, "", server
		m.inner.ServeHTTP(w, to)
		return
	}
	if err := m.mayPass(ctx, path); err != nil {
		m.at.Fail(w, r, err)
		return
	}
	resp, err := m.send(r, a, path)
	if err != nil {
		m.at.Fail(w, r, err)
		return
	}
	answer(w, resp)
}

// answer gives what a server said to whoever asked.
func answer(w http.ResponseWriter, resp *http.Response) {
	defer resp.Body.Close()
	for _, k := range []string{"Content-Type", "Content-Length"} {
		if v := resp.Header.Get(k); v != "" {
			w.Header().Set(k, v)
		}
	}
	w.WriteHeader(resp.StatusCode)
	relay(w, resp.Body)
}

// mayPass refuses what would bring somebody a part of a repository that is denied to them in a copy of it on this machine: the server
// there knows this machine, and not who asks. Copies say the repository's id; where a request does not, all copies count. The user
// whose machine this is reads the copy itself.
func (m *Remotes) mayPass(ctx context.Context, path string) error {
	if op.CallerFrom(ctx).Kind == op.Local {
		return nil
	}
	sight, err := m.at.Gate().Sight(ctx, "")
	if err != nil {
		return err
	}
	ref, _, _ := strings.Cut(strings.TrimPrefix(path, "/repo/"), "/")
	exact := strings.HasPrefix(path, "/repo/") && host.IsID(ref) && !strings.Contains(path, "..")
	kept := sight.Withheld(func(names []string) bool {
		return slices.ContainsFunc(names, func(n string) bool {
			id, served := strings.CutPrefix(n, "served:")
			return served && (!exact || id == ref)
		})
	}, policy.ResourceRef{Kind: policy.KindRepo, Path: "/"})
	if !kept {
		return nil
	}
	return fault.New(fault.Denied, "workspace.forward", "part of this repository is kept from you, so nothing of it is fetched for you").
		WithNext("work with what you see of it; or ask whoever owns this machine for the right")
}

// relay copies an answer as it comes.
func relay(w http.ResponseWriter, body io.Reader) {
	out := http.NewResponseController(w)
	buf := make([]byte, 64<<10)
	for {
		n, err := body.Read(buf)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return
			}
			if out.Flush() != nil {
				return
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				panic(http.ErrAbortHandler) // the reader must not take it for whole
			}
			return
		}
	}
}

func (m *Remotes) send(r *http.Request, a client.Address, path string) (*http.Response, error) {
	server, err := m.meet(r.Context(), a)
	if err != nil {
		return nil, away(a.Host, err)
	}
	token := r.Header.Get("Tandem-Remote-Token")
	if token == "" {
		if token, err = m.token(r.Context(), a.Host); err != nil {
			return nil, err
		}
	}
	if token == "" {
		if err := m.there(r.Context(), a.Host); err != nil { // our own, perhaps, and it is down
			return nil, away(a.Host, err)
		}
		return nil, fault.New(fault.Unauthenticated, "workspace.forward", "this machine has not joined %s", a.Host).
			WithNext("join it: tandem init --tandem-server %s", a.Host)
	}
	return m.carry(r, server, path, token)
}

// passedOn are the headers of a request that its server needs.
var passedOn = []string{"Content-Type", "Accept", "Last-Event-ID", "Idempotency-Key", "X-Idempotency-Key",
	client.DeviceHeader}

// carry takes a request to a server that was met, with a token for it.
func (m *Remotes) carry(r *http.Request, server *met, path, token string) (*http.Response, error) {
	var body io.Reader
	if r.Method == http.MethodPost {
		start, err := io.ReadAll(io.LimitReader(r.Body, smallBody))
		if err != nil {
			return nil, err
		}
		if body = bytes.NewReader(start); len(start) == smallBody {
			body = io.MultiReader(body, r.Body)
		}
	}
	url := server.URL() + path
	if r.URL.RawQuery != "" {
		url += "?" + r.URL.RawQuery
	}
	req, err := http.NewRequestWithContext(r.Context(), r.Method, url, body)
	if err != nil {
		return nil, err
	}
	for _, k := range passedOn {
		if v := r.Header.Get(k); v != "" {
			req.Header.Set(k, v)
		}
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := server.transport.RoundTrip(req)
	if err != nil {
		return nil, away(server.Host, err)
	}
	if server.Key == "" && resp.StatusCode == http.StatusBadRequest && resp.ProtoMinor == 0 { // what a TLS port answers to plain words
		resp.Body.Close()
		m.forget(server.Host)
		return nil, away(server.Host, errors.New("it speaks TLS now"))
	}
	return resp, nil
}

// away is a server that cannot be reached; a key that is not its own is told as that.
func away(host string, err error) error {
	if fault.Is(err, fault.Denied) {
		return err
	}
	return fault.New(fault.Unavailable, "workspace.forward", "cannot reach %s: %w", host, err).
		WithNext("go on: what you do is saved here and sent when the server is back")
}

// there says why nobody answers at an address.
func (m *Remotes) there(ctx context.Context, host string) error {
	conn, err := (&net.Dialer{Timeout: 3 * time.Second}).DialContext(ctx, "tcp", host)
	if err != nil {
		return err
	}
	return conn.Close()
}
