package client

import (
	"context"
	"errors"
	"net/http"
	"time"

	"tandem/internal/fault"
)

// A daemon that answers nothing at all for a while is asked whether it lives; one that does not say so within some seconds hangs,
// and so does one whose database does not answer, for whoever needs it. How long an operation itself may take is nobody's business here.
const (
	silence  = 5 * time.Second
	patience = 10 * time.Second
)

// WhenHung is the same client; a call of a daemon that hangs ends with the error that hung gives. It is given what the daemon says of
// itself, nil when that is nothing.
func (c *Client) WhenHung(hung func(*fault.Error) error) *Client {
	with := *c
	with.hung = hung
	return &with
}

// watched sends a request, and gives up when whoever should answer it hangs.
func (c *Client) watched(req *http.Request) (*http.Response, error) {
	if c.hung == nil {
		return c.http.Do(req)
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	stop := make(chan struct{})
	go func() {
		waits := 0
		for {
			select {
			case <-stop:
				return
			case <-ctx.Done():
				return
			case <-time.After(silence):
			}
			if !c.lives(ctx) && ctx.Err() == nil {
				cancel(c.hung(nil))
				return
			}
			f := c.Unready(ctx)
			if f == nil || f.Data[Hangs] == "" {
				waits = 0
			} else if waits++; waits == 2 && ctx.Err() == nil { // once may be a large change that others wait for
				cancel(c.hung(f))
				return
			}
		}
	}()
	resp, err := c.http.Do(req.WithContext(ctx))
	close(stop)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && req.Context().Err() == nil {
			err = cause
		}
		cancel(nil)
		return nil, err
	}
	context.AfterFunc(req.Context(), func() { cancel(nil) })
	return resp, nil // the body is read under ctx, which ends with the caller's
}

// lives asks, on a connection of its own, whether the daemon answers.
func (c *Client) lives(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/global/health", nil)
	if err != nil {
		return true
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return ctx.Err() == nil // refused or cut off is not hanging: the call itself will tell
	}
	resp.Body.Close()
	return true
}

// Part begins the names under which a daemon that is not ready says what is wrong with each of its parts; Hangs is the name of the
// part that does not even refuse, so that what needs it waits.
const (
	Part  = "part."
	Hangs = "hangs"
)

// Unready is what keeps a daemon from its work, as far as it says so within some seconds; nil when nothing does.
func (c *Client) Unready(ctx context.Context) *fault.Error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/ready", nil)
	if err != nil {
		return nil
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusServiceUnavailable {
		return nil
	}
	var f *fault.Error
	errors.As(problem(resp), &f)
	return f
}
