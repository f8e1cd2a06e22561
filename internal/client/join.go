package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"tandem/internal/fault"
)

// Joined is what a server gives a newcomer.
type Joined struct {
	Actor  string `json:"actor"`
	Secret string `json:"secret"`
}

// Join makes this machine known to a server: at once with an invitation, else
// by asking and waiting until a person there approves it. waiting is called
// once with the server's own words when it has to wait.
func Join(ctx context.Context, a Address, pins *Pins, name string, waiting func(string)) (Joined, error) {
	c := Remote(a.URL(), "", pins.Transport(a.Host, a.Fingerprint))
	in := map[string]string{"name": name}
	if a.Invite != "" {
		in["invite"] = a.Invite
	} else {
		in["nonce"] = rand.Text() + rand.Text()
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
			if err := json.NewDecoder(resp.Body).Decode(&out); err != nil || out.Secret == "" {
				return Joined{}, fmt.Errorf("read the server's answer: %w", err)
			}
			return out, nil
		}
		if !fault.Is(err, fault.Pending) && !fault.Is(err, fault.Exhausted) {
			return Joined{}, err
		}
		if waiting != nil && fault.Is(err, fault.Pending) {
			waiting(err.Error())
			waiting = nil
		}
		select {
		case <-ctx.Done():
			return Joined{}, ctx.Err()
		case <-time.After(pause):
		}
	}
}
