package tunnel

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"path/filepath"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/tunnel/wire"
	"tandem/internal/wholefile"
)

// Ops is this room's front door.
func (r *Room) Ops() []op.Op {
	where := func(wire.Nothing) op.Resource { return at() }
	return []op.Op{
		wire.Share.Effect(op.Spec{Right: "tunnel.open", MCP: "-", Socket: true,
			Doc: "Give the bridge an address for chat apps: a Tailscale Funnel, a Cloudflare quick tunnel, or a program that a desktop app starts."},
			func(wire.ShareIn) op.Resource { return at() }, r.share, nil),
		wire.Show.Read(op.Spec{Right: "tunnel.read", Method: "GET", Path: "/tunnel", MCP: "-",
			Doc: "Show whether the bridge has a public address."},
			where, func(ctx context.Context, _ wire.Nothing) (wire.Status, error) { return r.load(ctx) }),
		wire.Stop.Effect(op.Spec{Right: "tunnel.open", Method: "DELETE", Path: "/tunnel", MCP: "-", Doc: "Take the public address down."}, where,
			r.stop, nil),
	}
}

func (r *Room) share(ctx context.Context, in wire.ShareIn) (wire.ShareOut, error) {
	mode, err := wire.ParseMode(in.Mode)
	if err != nil {
		return wire.ShareOut{}, err
	}
	if mode == wire.Desktop {
		out := wire.ShareOut{Status: wire.Status{Mode: wire.Desktop, State: wire.Open, Since: r.DB.Now()}}
		return r.write(out, "desktop-connector.json", map[string]any{"mcpServers": map[string]any{"tandem": map[string]any{
			"command": r.Self, "args": []string{"mcp", "--only", "bridge"}}}})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s, err := r.load(ctx)
	if err != nil {
		return wire.ShareOut{}, err
	}
	if s.State == wire.Open && s.Mode != mode {
		return wire.ShareOut{}, fault.New(fault.Conflict, "tunnel", "the bridge is shared already: %s, %s", s.Mode, s.URL).
			WithNext("tandem share stop")
	}
	if s.State != wire.Open || mode == wire.Tailscale { // asking for a funnel again is how one is mended
		if s, err = r.openOne(ctx, mode); err != nil {
			return wire.ShareOut{}, err
		}
	}
	op.Note(ctx, "url", s.URL)
	token, err := r.Token(ctx, op.CallerFrom(ctx).Tenant)
	if err != nil {
		return wire.ShareOut{}, err
	}
	out := wire.ShareOut{Status: s, MCP: s.URL + "/" + token + "/mcp", OAuth: s.URL + "/mcp"}
	return r.write(out, "connector.json", map[string]any{"name": "tandem", "url": out.MCP, "mode": mode,
		"mcpServers": map[string]any{"tandem": map[string]any{"type": "http", "url": out.MCP}}})
}

// openOne opens a tunnel and stores that before it is believed, so that a crash cannot forget it.
func (r *Room) openOne(ctx context.Context, mode wire.Mode) (wire.Status, error) {
	o, err := r.opener(mode)
	if err != nil {
		return wire.Status{}, err
	}
	if r.door == nil {
		if r.door, err = r.Listen(""); err != nil {
			return wire.Status{}, err
		}
	}
	_, port, err := net.SplitHostPort(r.door.Addr().String())
	if err != nil {
		return wire.Status{}, err
	}
	wait, cancel := context.WithTimeout(ctx, r.Patience)
	defer cancel()
	up, err := o.Open(wait, port)
	if err != nil {
		if was, loadErr := r.load(ctx); loadErr != nil || was.State != wire.Open { // a funnel that could not be mended may still be there
			r.shut()
		}
		return wire.Status{}, err
	}
	s := wire.Status{Mode: mode, State: wire.Open, URL: up.URL, Port: port, Apart: true, Since: r.DB.Now(), PID: up.PID}
	r.serve(s.URL)
	if up.Wait != nil {
		r.now.Lock()
		r.child = up.PID
		r.now.Unlock()
		r.all.Go(func() { r.ended(s, up.Wait()) })
	}
	if err = r.save(ctx, s); err == nil {
		if s, err = r.reach(ctx, s); err == nil {
			return s, nil
		}
	}
	r.shut()
	undo, cancelUndo := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancelUndo()
	s.State, s.Reason = wire.Closed, fault.Public(err).Msg
	return wire.Status{}, errors.Join(err, r.close(undo, o, s), r.save(undo, s))
}

// ended hears that a tunnel's program is gone, and tells it unless that was meant.
func (r *Room) ended(s wire.Status, why error) {
	r.now.Lock()
	if r.child == s.PID {
		r.child = 0
	}
	ctx := r.base
	r.now.Unlock()
	if ctx == nil || ctx.Err() != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now, err := r.load(ctx)
	if err != nil || now.State != wire.Open || now.PID != s.PID || !now.Since.Equal(s.Since) {
		return
	}
	if err := r.drop(ctx, now, why.Error()); err != nil {
		r.Log.Error("store a dropped tunnel", "err", err)
	}
}

func (r *Room) stop(ctx context.Context, _ wire.Nothing) (wire.Status, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, err := r.load(ctx)
	if err != nil || s.State != wire.Open {
		return s, err
	}
	o, err := r.opener(s.Mode)
	if err != nil {
		return s, err
	}
	was := s
	s.State, s.Reason, s.PID = wire.Closed, "closed by "+op.CallerFrom(ctx).Name, 0
	if err := r.save(ctx, s); err != nil { // first: its program's end is then no drop
		return s, err
	}
	if err := r.close(ctx, o, was); err != nil {
		return was, errors.Join(err, r.save(ctx, was))
	}
	r.shut()
	return s, nil
}

// write keeps what goes into an app in a file of this user's alone.
func (r *Room) write(out wire.ShareOut, name string, config any) (wire.ShareOut, error) {
	data, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		return out, err
	}
	out.Connector, out.Config = filepath.Join(r.Folder, name), data
	if err := wholefile.Write(out.Connector, append(data, '\n')); err != nil {
		return out, fault.New(fault.Conflict, "tunnel", "cannot write into %s: %w", r.Folder, err)
	}
	return out, nil
}
