// Package client speaks to a tandem server: a command to its daemon over the
// control socket, a session to its own socket, a daemon to another daemon over
// HTTPS. It is an op.Invoker like the gate, one network further away, and
// faults keep their kind on the way.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"tandem/internal/fault"
)

// Client is a connection to one server.
type Client struct {
	base  string
	http  *http.Client
	token string
	pin   string
	code  string // a recovery code, or root
	prove Prove  // the person at this machine's terminal is present elsewhere
	where string
	about http.Header // how this program describes itself to the daemon of its machine
	hung  func(*fault.Error) error
}

// Socket speaks to the daemon behind a local socket.
func Socket(path string) *Client { return socket(path, func(net.Conn) error { return nil }) }

// Own is Socket for one in a folder that others may write to: nothing is said to somebody else who listens there.
func Own(path string) *Client { return socket(path, ours) }

func socket(path string, check func(net.Conn) error) *Client {
	t := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "unix", path)
		if err != nil {
			return nil, err
		}
		if err := check(conn); err != nil {
			conn.Close()
			return nil, err
		}
		return conn, nil
	}}
	return &Client{base: "http://tandem.localhost", http: &http.Client{Transport: t}, where: path}
}

// Where is the address, for people.
func (c *Client) Where() string { return c.where }

// Listening says whether anybody answers behind a local socket.
func Listening(path string) error {
	conn, err := net.DialTimeout("unix", path, 3*time.Second)
	if err != nil {
		return err
	}
	return conn.Close()
}

// Remote speaks to a server at a URL with a token. transport may pin a key;
// nil means the system's.
func Remote(base, token string, transport http.RoundTripper) *Client {
	return &Client{base: strings.TrimSuffix(base, "/"), token: token, http: &http.Client{Transport: transport}, where: base}
}

// Through is the same client whose requests its daemon passes on to the server of a login.
func (c *Client) Through(login string) *Client {
	with := *c
	with.base, with.where = c.base+"/login/"+url.PathEscape(login), login
	return &with
}

// WithPIN is the same client whose calls prove presence with a PIN.
func (c *Client) WithPIN(pin string) *Client {
	with := *c
	with.pin = pin
	return &with
}

// DeviceHeader brings a server the proof that the person is present at their own machine: a device, a number that the server gave,
// and a signature over both and the very call.
const DeviceHeader = "Tandem-Device"

// Prove makes that proof for one call.
type Prove func(ctx context.Context, operation string, body []byte) (string, error)

// WithProof is the same client whose calls prove presence at a server elsewhere.
func (c *Client) WithProof(prove Prove) *Client {
	with := *c
	with.prove = prove
	return &with
}

// WithRecovery is the same client for somebody who forgot the PIN: with a recovery code, or as root of the machine.
func (c *Client) WithRecovery(code string) *Client {
	with := *c
	with.code = code
	return &with
}

// Invoke runs an operation by name and returns its output as JSON. It makes
// the client an op.Invoker.
func (c *Client) Invoke(ctx context.Context, name string, in any) (any, error) {
	var out json.RawMessage
	err := c.Call(ctx, name, in, &out)
	return out, err
}

// Call runs an operation by name and reads its output into out.
func (c *Client) Call(ctx context.Context, name string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encode the input of %s: %w", name, err)
	}
	var header http.Header
	if c.prove != nil {
		proof, err := c.prove(ctx, name, body)
		if err != nil {
			return err
		}
		header = http.Header{DeviceHeader: {proof}}
	}
	resp, err := c.Do(ctx, http.MethodPost, "/op/"+url.PathEscape(name), bytes.NewReader(body), header)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := whole(resp, maxAnswer)
	if fault.Is(err, fault.Exhausted) {
		return err
	}
	if err != nil {
		return fault.New(fault.Unavailable, name, "the answer broke off: %w", err).
			WithNext("look whether it happened before you repeat it: tandem audit log")
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(data, out); err != nil {
		return fmt.Errorf("read the answer of %s: %w", name, err)
	}
	return nil
}

// Do sends one request; an answer that is a fault comes back as that fault.
func (c *Client) Do(ctx context.Context, method, path string, body io.Reader, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	for k, v := range header {
		req.Header[k] = v
	}
	if body != nil && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for k, v := range c.about {
		req.Header[k] = v
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.pin != "" {
		req.Header.Set("Tandem-Pin", c.pin)
	}
	if c.code != "" {
		req.Header.Set("Tandem-Recovery", c.code)
	}
	resp, err := c.watched(req)
	if CutOff(err) {
		return nil, fault.New(fault.Unavailable, "client", "tandem at %s ended, or was cut off, before it answered: %w", c.where, err).
			WithNext("look whether it happened before you repeat it: tandem audit log")
	}
	if err != nil {
		return nil, c.unreachable(err)
	}
	if resp.StatusCode < 300 && resp.StatusCode != http.StatusAccepted {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, problem(resp)
}

func (c *Client) unreachable(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	if f := (*fault.Error)(nil); errors.As(err, &f) {
		return f
	}
	cause := err
	if u := (*url.Error)(nil); errors.As(err, &u) {
		cause = u.Err // without the address that it repeats
	}
	f := fault.New(fault.Unavailable, "client", "cannot reach tandem at %s: %w", c.where, cause)
	if Absent(err) {
		return f.WithNext("start it: tandem up")
	}
	return f.WithNext("check the address and that the server runs: tandem status")
}

// Absent reports whether an error means that nobody listens.
func Absent(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
}

// CutOff reports whether an error means that the server ended while it was asked: a look may be repeated then, an act may have happened.
func CutOff(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)
}

func problem(resp *http.Response) error {
	var p struct {
		Error, Code, Op, Next string
		Data                  map[string]string
	}
	data, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err := json.Unmarshal(data, &p); err != nil || p.Code == "" {
		return fault.New(fault.Unavailable, "client", "the server answered %s", resp.Status)
	}
	f := fault.New(fault.Parse(p.Code), p.Op, "%s", p.Error)
	f.Next, f.Data = p.Next, p.Data
	return f
}

// Healthy waits until the server answers, or for as long as ctx lasts.
func (c *Client) Healthy(ctx context.Context) error {
	for {
		resp, err := c.Do(ctx, http.MethodGet, "/global/health", nil, nil)
		if err == nil {
			resp.Body.Close()
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// About is how a program describes itself to the daemon of its machine.
type About struct {
	ID     string // process id, dot, chance; empty for a command that comes and goes
	Folder string // where it runs
	Agent  string // what it calls itself
	Model  string // the model that works in it
	As     string // the agent that it acts as: agent, or agent:NAME
}

// WithClient is the same client, which tells the daemon which program it is.
func (c *Client) WithClient(a About) *Client {
	with := *c
	with.about = http.Header{}
	for k, v := range map[string]string{"Tandem-Client": a.ID, "Tandem-Folder": a.Folder, "Tandem-Agent": a.Agent, "Tandem-Model": a.Model,
		"Tandem-As": a.As} {
		if v != "" {
			with.about.Set(k, v)
		}
	}
	return &with
}

// WithToken is the same client whose calls speak for a token's actor.
func (c *Client) WithToken(token string) *Client {
	with := *c
	with.token = token
	return &with
}
