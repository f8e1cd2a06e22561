package peer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"sync/atomic"
	"syscall"
	"time"

	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/space"
)

// link carries calls to a space's host: the gate of this daemon, or another
// daemon over HTTPS.
type link interface {
	call(ctx context.Context, name string, in, out any) error
}

// ask runs an operation at the other end of a link.
func ask[In, Out any](ctx context.Context, l link, d op.Def[In, Out], in In) (out Out, err error) {
	err = l.call(ctx, string(d), in, &out)
	return out, err
}

// inside speaks to the host in this same daemon, through its gate.
type inside struct {
	invoke op.Invoker
	tenant string
	as     string // who the gate sees
}

func (l inside) call(ctx context.Context, name string, in, out any) error {
	ctx = op.WithCaller(ctx, op.Caller{Tenant: l.tenant, Actor: identity.WellKnown(identity.System), Name: identity.System, Kind: op.Service,
		Door: op.DoorInside, Request: l.as})
	got, err := l.invoke.Invoke(ctx, name, in)
	if err != nil || out == nil {
		return err
	}
	if to := reflect.ValueOf(out).Elem(); to.Type() == reflect.TypeOf(got) {
		to.Set(reflect.ValueOf(got)) // the same process: nothing to translate
		return nil
	}
	data, err := json.Marshal(got)
	if err != nil {
		return fmt.Errorf("read the answer of %s: %w", name, err)
	}
	return json.Unmarshal(data, out)
}

// outside speaks to another daemon. Its TLS key is pinned: by the invite, or by
// what the first connection showed and the inviter confirmed.
type outside struct {
	host string
	pin  string                 // the server's fingerprint, SHA256:…, or PublicPin; empty accepts any and remembers
	seen atomic.Pointer[string] // what the last connection showed; several may begin at once
	http *http.Client

	token string // lets this machine in at a server, where a space is to begin
}

// PublicPin stands for the key of a host behind a tunnel: TLS ends at the tunnel,
// whose certificates change and are vouched for by the usual authorities.
const PublicPin = "public"

func newOutside(host, pin string) *outside {
	l := &outside{host: host, pin: pin}
	check := func(raw [][]byte, _ [][]*x509.Certificate) error {
		if len(raw) == 0 {
			return errors.New("the host showed no certificate")
		}
		cert, err := x509.ParseCertificate(raw[0])
		if err != nil {
			return fmt.Errorf("read the host's certificate: %w", err)
		}
		sum := sha256.Sum256(cert.RawSubjectPublicKeyInfo)
		shown := "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
		l.seen.Store(&shown)
		if l.pin != "" && l.pin != shown && !client.Followed(host, l.pin, shown) {
			return errPin
		}
		return nil
	}
	secure := &tls.Config{MinVersion: tls.VersionTLS13}
	if pin != PublicPin {
		// The certificate is self-made; what is checked is the pinned key, and
		// above that every envelope's signature.
		secure.InsecureSkipVerify, secure.VerifyPeerCertificate = true, check
	}
	l.http = &http.Client{Transport: &http.Transport{
		TLSClientConfig: secure,
		Proxy:           http.ProxyFromEnvironment,
		// A line that went dead without a word is noticed in some six seconds.
		DialContext: (&net.Dialer{Timeout: 5 * time.Second,
			KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 3 * time.Second, Interval: time.Second, Count: 3}}).DialContext,
		TLSHandshakeTimeout: 5 * time.Second, MaxIdleConns: 4, IdleConnTimeout: time.Minute,
	}}
	return l
}

// shown is the key that the host showed; empty before the first connection.
func (l *outside) shown() string {
	if s := l.seen.Load(); s != nil {
		return *s
	}
	return ""
}

var errPin = errors.New("the host's key is not the one this space was joined with")

// openOps have a door of their own: anybody may knock, and who may begin a space
// at a server shows a token. The rest is for members and goes through one door
// that checks the member's signature.
var openOps = map[string]string{string(space.SpaceKnock): "/space/knock", string(space.SpaceKnockNext): "/space/knock/next",
	string(space.SpaceStart): "/space"}

func (l *outside) call(ctx context.Context, name string, in, out any) error {
	body, path := in, openOps[name]
	if path == "" {
		raw, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("write the call of %s: %w", name, err)
		}
		body, path = space.RemoteIn{Op: name, Input: raw}, "/space/remote"
	}
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("write the call of %s: %w", name, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	quiet := time.AfterFunc(patience(in), cancel)
	defer quiet.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+l.host+path, bytes.NewReader(data))
	if err != nil {
		return fault.New(fault.Invalid, "space", "%q is not an address of a host", clip(l.host))
	}
	req.Header.Set("Content-Type", "application/json")
	if l.token != "" {
		req.Header.Set("Authorization", "Bearer "+l.token)
	}
	res, err := l.http.Do(req)
	if err != nil {
		if errors.Is(err, errPin) {
			return fault.New(fault.Denied, "space", "%s: %w", l.host, errPin).With("reason", "pin").
				WithNext("somebody may be in between, or the host was set up anew; ask its owner and join again")
		}
		return unreachable(l.host, err)
	}
	defer res.Body.Close()
	quiet.Reset(time.Minute) // it speaks; a long log may take a while
	raw, err := io.ReadAll(io.LimitReader(res.Body, 64<<20))
	if err != nil {
		return unreachable(l.host, err)
	}
	if res.StatusCode/100 != 2 {
		return problem(l.host, res.StatusCode, raw)
	}
	if path == "/space/remote" {
		var r space.RemoteOut
		if err := json.Unmarshal(raw, &r); err != nil {
			return unreachable(l.host, err)
		}
		raw = r.Output
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return unreachable(l.host, err)
	}
	return nil
}

// patience is how long the host may be silent: what a call lets it wait, and
// some seconds for the way.
func patience(in any) time.Duration {
	const way = 6 * time.Second
	switch in := in.(type) {
	case space.PullIn:
		return way + time.Duration(in.Wait)*time.Millisecond
	case space.NextIn:
		return way + time.Duration(in.Wait)*time.Millisecond
	case space.PieceIn: // half a megabyte, on whatever line
		return time.Minute
	}
	return way
}

func unreachable(host string, err error) error {
	if errors.Is(err, http.ErrSchemeMismatch) {
		return fault.New(fault.Unavailable, "space", "the space's host %s cannot be reached: it listens for its own machine alone, without TLS",
			host).
			With("reason", "unreachable").With("cause", "plain").WithNext("over there, let others in: tandem up --replace --listen 0.0.0.0:13013")
	}
	return fault.New(fault.Unavailable, "space", "the space's host %s cannot be reached: %w", host, cause(err)).With("reason", "unreachable").
		WithNext("what you send waits and goes out when it is back; if the host is gone for good: tandem space take-over")
}

// cause is why a request failed, without the request.
func cause(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return errors.New("nothing listens there")
	}
	return err
}

// outsiders turns a failure on the way to the host into one for somebody who is no member: nothing waits, and there is
// nothing to take over.
func outsiders(err error) error {
	switch p := fault.Public(err); {
	case p.Data["reason"] != "unreachable":
		return err
	case p.Data["cause"] == "plain":
		return fault.New(fault.Unavailable, "space.join", "%w", err).
			WithNext("over there, let others in: tandem up --replace --listen 0.0.0.0:13013; then join with a new code: tandem space invite")
	}
	return fault.New(fault.Unavailable, "space.join", "%w", err).
		WithNext("see that tandem runs there, and that this machine reaches it; then join with the same code, or ask the inviter for a new one")
}

// problem turns a fault on the wire back into one.
func problem(host string, status int, raw []byte) error {
	var p struct {
		Error string            `json:"error"`
		Code  string            `json:"code"`
		Next  string            `json:"next"`
		Data  map[string]string `json:"data"`
	}
	if err := json.Unmarshal(raw, &p); err != nil || p.Error == "" {
		return unreachable(host, fmt.Errorf("it answered %d", status))
	}
	if p.Data["reason"] == "name" { // the host goes by another name now, or somebody else has this one
		return unreachable(host, errors.New(p.Error))
	}
	f := fault.New(fault.Parse(p.Code), "space", "%s", p.Error).WithNext("%s", p.Next)
	for k, v := range p.Data {
		f = f.With(k, v)
	}
	return f
}

// reason is the machine-readable why of a fault.
func reason(err error) string {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Data["reason"]
	}
	return ""
}
