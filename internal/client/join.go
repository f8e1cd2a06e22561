package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"tandem/internal/fault"
)

// Joined is what a server gives a newcomer.
type Joined struct {
	Actor  string `json:"actor"`
	Secret string `json:"secret"`
	Key    string `json:"-"` // the fingerprint by which the server is known at other addresses; "" of an older one
}

// KeyHeader names the key of a server that gives a token, also where it speaks in the clear.
const KeyHeader = "Tandem-Server-Key"

// Asking is what somebody who waits to be let in tells the person who decides:
// which server it is, and the key by which that person knows this very request.
type Asking struct {
	Server Server
	Key    string
	Words  string // the server's own
}

// LoggedIn is what a server gives the machine of a person.
type LoggedIn struct {
	Person   string `json:"person"`
	Terminal string `json:"terminal"`
	Secret   string `json:"secret"`
	Device   string `json:"device"`
	Server   string `json:"server"`
}

// Login logs a person in at a server, with an invitation that was made for them, and tells it the public half of the machine's key. It
// says which key the server has.
func Login(ctx context.Context, a Address, pins *Pins, machine string, device []byte) (Server, LoggedIn, error) {
	server, err := pins.Meet(ctx, a)
	if err != nil {
		return server, LoggedIn{}, err
	}
	body, err := json.Marshal(map[string]string{"invite": a.Invite, "machine": machine,
		"key": base64.RawURLEncoding.EncodeToString(device)})
	if err != nil {
		return server, LoggedIn{}, err
	}
	c := Remote(server.URL(), "", pins.Transport(a.Host, a.Fingerprint))
	resp, err := c.Do(ctx, http.MethodPost, "/join", bytes.NewReader(body), nil)
	if err != nil {
		return server, LoggedIn{}, err
	}
	defer resp.Body.Close()
	var out LoggedIn
	if err := welcome(resp, &out, &out.Secret); err != nil {
		return server, LoggedIn{}, err
	}
	return server, out, nil
}

// RequestKey is how the two ends of a request to join know that they mean the
// same one: a fingerprint of the chance that only the asker has.
func RequestKey(nonce string) string {
	sum := sha256.Sum256([]byte("tandem request to join\x00" + nonce))
	text := base32.StdEncoding.EncodeToString(sum[:10])
	return text[:4] + "-" + text[4:8] + "-" + text[8:12] + "-" + text[12:16]
}

// Join makes this machine known to a server: at once with an invitation, else
// by asking and waiting until a person there approves it. waiting is called
// once when it has to wait. A wait that is interrupted goes on with the next call.
func Join(ctx context.Context, a Address, pins *Pins, name string, waiting func(Asking)) (Joined, error) {
	server, err := pins.Meet(ctx, a)
	if err != nil {
		return Joined{}, err
	}
	c := Remote(server.URL(), "", pins.Transport(a.Host, a.Fingerprint))
	in, before := map[string]string{"name": name}, pins.asked(a.Host)
	if a.Invite != "" {
		in["invite"] = a.Invite
	} else {
		in["nonce"] = before.take()
	}
	body, err := json.Marshal(in)
	if err != nil {
		return Joined{}, err
	}
	for pause := time.Second; ; pause = min(pause*3/2, 5*time.Second) {
		resp, err := c.Do(ctx, http.MethodPost, "/join", bytes.NewReader(body), nil)
		if err == nil {
			defer resp.Body.Close()
			var out Joined
			if err := welcome(resp, &out, &out.Secret); err != nil {
				return Joined{}, err
			}
			out.Key = resp.Header.Get(KeyHeader)
			return out, nil
		}
		if ctx.Err() != nil {
			return Joined{}, gaveUp(ctx, before, in["nonce"])
		}
		if !fault.Is(err, fault.Pending) && !fault.Is(err, fault.Exhausted) {
			return Joined{}, err
		}
		if waiting != nil && fault.Is(err, fault.Pending) {
			waiting(Asking{server, RequestKey(in["nonce"]), err.Error()})
			waiting = nil
		}
		select {
		case <-ctx.Done():
			return Joined{}, gaveUp(ctx, before, in["nonce"])
		case <-time.After(pause):
		}
	}
}

// gaveUp keeps the request for the next call; one with an invitation has nothing to wait for.
func gaveUp(ctx context.Context, before asked, nonce string) error {
	if nonce != "" {
		if err := before.keep(nonce); err != nil {
			return errors.Join(context.Cause(ctx), err)
		}
	}
	return ctx.Err()
}
