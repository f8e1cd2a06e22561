package space

import (
	"context"
	"encoding/json"
	"fmt"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/space/seal"
)

// RemoteIn is a member's call from another machine. The member's signature
// inside the input is its credential; there is no token.
type RemoteIn struct {
	Op    string          `json:"op"`
	Input json.RawMessage `json:"input"`
}

// RemoteOut is the answer of the operation.
type RemoteOut struct {
	Output json.RawMessage `json:"output"`
}

// remoteOps are what a member may call from afar, and by what it is known:
// an envelope's signature, or a proof for the call of that name.
var remoteOps = map[string]bool{"space.post": true, "board.change": true, "space.pull": false, "space.invite_open": false,
	"space.invite_close": false, "space.knock_reply": false, "space.step_down": true, "space.piece_put": false, "space.piece_get": false}

// remote checks who signed, and passes the call through the gate as that
// member, who is nobody else here: it can reach these operations on its own
// space and nothing beyond.
func (r *Room) remote(ctx context.Context, in RemoteIn) (RemoteOut, error) {
	sealed, ok := remoteOps[in.Op]
	if !ok {
		return RemoteOut{}, fault.New(fault.NotFound, "space.remote", "there is no operation %q for members", clip(in.Op))
	}
	var who struct {
		Envelope *seal.Envelope `json:"envelope"`
		Space    string         `json:"space"`
		Proof    Proof          `json:"proof"`
	}
	if err := json.Unmarshal(in.Input, &who); err != nil {
		return RemoteOut{}, fault.New(fault.Invalid, "space.remote", "the call is malformed")
	}
	spc, id := who.Space, who.Proof.Member
	if sealed {
		if who.Envelope == nil {
			return RemoteOut{}, fault.New(fault.Invalid, "space.remote", "the envelope is missing")
		}
		spc, id = who.Envelope.Space, who.Envelope.From
	}
	if !sealed { // before anything is looked up: how it is signed says nothing about the space
		if err := who.Proof.known(); err != nil {
			return RemoteOut{}, err
		}
	}
	var tenant string
	err := r.db.QueryRow(ctx, "SELECT tenant FROM space WHERE id = ?", spc).Scan(&tenant)
	if db.NoRows(err) {
		return RemoteOut{}, notFound(spc)
	}
	if err != nil {
		return RemoteOut{}, err
	}
	if sealed {
		m, err := scanMember(r.db.QueryRow(ctx, "SELECT "+memberColumns+" FROM space_member WHERE tenant = ? AND space = ? AND id = ?", tenant,
			spc, id))
		if err != nil && !db.NoRows(err) {
			return RemoteOut{}, err
		}
		if err != nil || who.Envelope.Verify(spc, m.Card) != nil {
			return RemoteOut{}, notFound(spc)
		}
	} else if _, err := r.check(ctx, tenant, spc, in.Op, who.Proof, in.Input); err != nil {
		return RemoteOut{}, err
	}
	ctx = op.WithCaller(ctx, op.Caller{Tenant: tenant, Actor: string(id), Name: string(id), Kind: op.Service, Door: op.DoorHTTP})
	out, err := r.invoke.Invoke(ctx, in.Op, in.Input)
	if err != nil {
		return RemoteOut{}, err
	}
	data, err := json.Marshal(out)
	if err != nil {
		return RemoteOut{}, fmt.Errorf("write the answer of %s: %w", in.Op, err)
	}
	return RemoteOut{Output: data}, nil
}
