package tunnel

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"tandem/internal/fault"
	"tandem/internal/tunnel/wire"
)

// reach asks for the bridge through a new tunnel. A name that nobody knows yet is kept: another one would have to spread as well.
func (r *Room) reach(ctx context.Context, s wire.Status) (wire.Status, error) {
	check, cancel := context.WithTimeout(ctx, r.Patience)
	defer cancel()
	err := verify(check, s.URL)
	if err == nil {
		return s, nil
	}
	s.Spreading = fault.Public(err).Msg
	if err := r.save(ctx, s); err != nil {
		return s, err
	}
	r.follow(s)
	return s, nil
}

// follow asks on until the address answers, and stores that it does; it ends with the tunnel and with the server.
func (r *Room) follow(s wire.Status) {
	r.now.Lock()
	ctx := r.base
	r.now.Unlock()
	if ctx == nil || ctx.Err() != nil {
		return
	}
	r.all.Go(func() {
		for r.stillOpen(ctx, s) {
			check, cancel := context.WithTimeout(ctx, r.Patience)
			err := verify(check, s.URL)
			cancel()
			if err == nil {
				r.spread(ctx, s)
				return
			}
		}
	})
}

// stillOpen says whether a tunnel is the one that is open now.
func (r *Room) stillOpen(ctx context.Context, s wire.Status) bool {
	now, err := r.load(ctx)
	return ctx.Err() == nil && err == nil && now.State == wire.Open && now.URL == s.URL && now.Since.Equal(s.Since)
}

// spread stores that a tunnel's address answers.
func (r *Room) spread(ctx context.Context, s wire.Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stillOpen(ctx, s) {
		return
	}
	s.Spreading = ""
	if err := r.save(ctx, s); err != nil {
		r.Log.Error("store that a tunnel answers", "err", err)
	}
}

// verify asks the bridge for its health through the tunnel, until it answers: names and certificates take a moment.
func verify(ctx context.Context, base string) error {
	client := &http.Client{Timeout: 10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for {
		err := health(ctx, client, base)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func health(ctx context.Context, client *http.Client, base string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/health", nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return fault.New(fault.Unavailable, "tunnel", "it is not reached yet: %v", err)
	}
	defer resp.Body.Close()
	var h struct{ Healthy bool }
	if resp.StatusCode != http.StatusOK || json.NewDecoder(resp.Body).Decode(&h) != nil || !h.Healthy {
		return fault.New(fault.Unavailable, "tunnel", "the answer was %s, and not tandem's", resp.Status)
	}
	return nil
}
