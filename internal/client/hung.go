package client

import (
	"context"
	"net/http"
	"time"
)

// A daemon that answers nothing at all for a while is asked whether it lives; one that does not say so within some seconds hangs.
// How long an operation itself may take is nobody's business here.
const (
	silence  = 5 * time.Second
	patience = 10 * time.Second
)

// WhenHung is the same client; a call of a daemon that hangs ends with the error that hung gives.
func (c *Client) WhenHung(hung func() error) *Client {
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
		for {
			select {
			case <-stop:
				return
			case <-ctx.Done():
				return
			case <-time.After(silence):
			}
			if !c.lives(ctx) && ctx.Err() == nil {
				cancel(c.hung())
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
