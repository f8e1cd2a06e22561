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
	"tandem/internal/wholefile"
)

// ShareIn says how the bridge is to be reached.
type ShareIn struct {
	Mode string `json:"mode,omitempty" jsonschema:"tailscale (the default), quick or desktop"`
}

// ShareOut is what goes into a chat app.
type ShareOut struct {
	Status
	Connector string          `json:"connector" jsonschema:"the file that holds this, readable by this user only"`
	MCP       string          `json:"mcp_url,omitempty" jsonschema:"the address with the connector's token: whoever has it drives sessions"`
	OAuth     string          `json:"oauth_url,omitempty" jsonschema:"the address for apps that sign in by OAuth; a person consents in the panel"`
	Config    json.RawMessage `json:"config" jsonschema:"as apps take it"`
}

// Nothing is no input.
type Nothing struct{}

// Ops is this room's front door.
func (r *Room) Ops() []op.Op {
	where := func(Nothing) op.Resource { return at() }
	return []op.Op{
		op.Effect(op.Spec{Name: "tunnel.share", Right: "tunnel.open", MCP: "-", Socket: true,
			Doc: "Give the bridge an address for chat apps: a Tailscale Funnel, a Cloudflare quick tunnel, or a program that a desktop app starts."},
			func(ShareIn) op.Resource { return at() }, r.share, nil),
		op.Read(op.Spec{Name: "tunnel.status", Right: "tunnel.read", Method: "GET", Path: "/tunnel", MCP: "-", Doc: "Show whether the bridge has a public address."},
			where, func(ctx context.Context, _ Nothing) (Status, error) { return r.load(ctx) }),
		op.Effect(op.Spec{Name: "tunnel.stop", Right: "tunnel.open", Method: "DELETE", Path: "/tunnel", MCP: "-", Doc: "Take the public address down."}, where, r.stop, nil),
	}
}

func (r *Room) share(ctx context.Context, in ShareIn) (ShareOut, error) {
	mode, err := ParseMode(in.Mode)
	if err != nil {
		return ShareOut{}, err
	}
	if mode == Desktop {
		out := ShareOut{Status: Status{Mode: Desktop, State: Open, Since: r.DB.Now()}}
		return r.write(out, "desktop-connector.json", map[string]any{"mcpServers": map[string]any{"tandem": map[string]any{"command": r.Self, "args": []string{"mcp"}}}})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s, err := r.load(ctx)
	if err != nil {
		return ShareOut{}, err
	}
	if s.State == Open && s.Mode != mode {
		return ShareOut{}, fault.New(fault.Conflict, "tunnel", "the bridge is shared already: %s, %s", s.Mode, s.URL).WithNext("tandem share stop")
	}
	if s.State != Open || mode == Tailscale { // asking for a funnel again is how one is mended
		if s, err = r.openOne(ctx, mode); err != nil {
			return ShareOut{}, err
		}
	}
	op.Note(ctx, "url", s.URL)
	token, err := r.Token(ctx, op.CallerFrom(ctx).Tenant)
	if err != nil {
		return ShareOut{}, err
	}
	out := ShareOut{Status: s, MCP: s.URL + "/" + token + "/mcp", OAuth: s.URL + "/mcp"}
	return r.write(out, "connector.json", map[string]any{"name": "tandem", "url": out.MCP, "mode": mode,
		"mcpServers": map[string]any{"tandem": map[string]any{"type": "http", "url": out.MCP}}})
}

// openOne opens a tunnel and stores that before it is believed, so that a crash cannot forget it.
func (r *Room) openOne(ctx context.Context, mode Mode) (Status, error) {
	o, err := r.opener(mode)
	if err != nil {
		return Status{}, err
	}
	if r.door == nil {
		if r.door, err = r.Listen(""); err != nil {
			return Status{}, err
		}
	}
	_, port, err := net.SplitHostPort(r.door.Addr().String())
	if err != nil {
		return Status{}, err
	}
	wait, cancel := context.WithTimeout(ctx, r.Patience)
	defer cancel()
	up, err := o.Open(wait, port)
	if err != nil {
		if was, loadErr := r.load(ctx); loadErr != nil || was.State != Open { // a funnel that could not be mended may still be there
			r.shut()
		}
		return Status{}, err
	}
	s := Status{Mode: mode, State: Open, URL: up.URL, Port: port, Apart: true, Since: r.DB.Now(), PID: up.PID}
	r.serve(s.URL)
	if up.Wait != nil {
		r.now.Lock()
		r.child = up.PID
		r.now.Unlock()
		r.all.Go(func() { r.ended(s, up.Wait()) })
	}
	err = r.save(ctx, s)
	if err == nil {
		check, cancel := context.WithTimeout(ctx, r.Patience)
		defer cancel()
		if err = verify(check, s.URL); err != nil {
			err = fault.New(fault.Conflict, "tunnel", "%s is there, but the bridge does not answer through it: %w", s.URL, err).WithNext("a new name can take some minutes; share again")
		}
	}
	if err == nil {
		return s, nil
	}
	r.shut()
	undo, cancelUndo := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancelUndo()
	s.State, s.Reason = Closed, fault.Public(err).Msg
	return Status{}, errors.Join(err, r.close(undo, o, s), r.save(undo, s))
}

// ended hears that a tunnel's program is gone, and tells it unless that was meant.
func (r *Room) ended(s Status, why error) {
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
	if err != nil || now.State != Open || now.PID != s.PID || !now.Since.Equal(s.Since) {
		return
	}
	if err := r.drop(ctx, now, why.Error()); err != nil {
		r.Log.Error("store a dropped tunnel", "err", err)
	}
}

func (r *Room) stop(ctx context.Context, _ Nothing) (Status, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, err := r.load(ctx)
	if err != nil || s.State != Open {
		return s, err
	}
	o, err := r.opener(s.Mode)
	if err != nil {
		return s, err
	}
	was := s
	s.State, s.Reason, s.PID = Closed, "closed by "+op.CallerFrom(ctx).Name, 0
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
func (r *Room) write(out ShareOut, name string, config any) (ShareOut, error) {
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
