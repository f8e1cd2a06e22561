package identity

import (
	"context"
	"fmt"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

// Newcomer is who a machine is before it has joined: it can ask to join, or
// redeem an invitation, and nothing else.
const Newcomer = "newcomer"

// kindInvite is what the hash of an invitation begins with. Those from before invitations had a table of their own are sign-ins of
// this kind.
const kindInvite = "invite"

// EnterIn asks to join.
type EnterIn struct {
	Name  string `json:"name" jsonschema:"what the machine or agent wants to be called"`
	Nonce string `json:"nonce" jsonschema:"32 characters of chance that only the asker knows: repeating the request with them collects the answer"`
	From  string `json:"from,omitempty" jsonschema:"the network address that it asks from, as the server sees it"`
	Key   string `json:"key,omitempty" jsonschema:"the request's key, as the server works it out; whoever asks sees the same on their screen"`
}

// RedeemIn joins with an invitation.
type RedeemIn struct {
	Name   string `json:"name" jsonschema:"what the machine or agent wants to be called"`
	Invite string `json:"invite" jsonschema:"the invitation, tdj_…"`
}

func joinAt(name string) op.Resource { return op.Resource{Kind: "join", Path: "/" + name} }

// joinOps are how others come in.
func (r *Room) joinOps() []op.Op {
	return []op.Op{
		op.Binding(JoinEnter.State(op.Spec{Once: true, Right: "join.create", MCP: "-", Secret: []string{"nonce"},
			Doc: "Ask to join this server. A person approves it; the same request then returns a token, once."},
			func(in EnterIn) op.Resource { return joinAt(in.Name) }, r.enter), r.receives),
		JoinRedeem.State(op.Spec{Once: true, Right: "join.use", MCP: "-", Secret: []string{"invite"},
			Doc: "Join this server with an invitation, which lets in as many as it was made for."},
			func(in RedeemIn) op.Resource { return joinAt(in.Name) }, r.redeem),
	}
}

// InvitationOver is the reason of a refusal that who has joined already need not mind.
const InvitationOver = "invitation over"

// Check refuses names and nonces that nobody should be asked to approve.
func (in EnterIn) Check() error {
	if len(in.Nonce) < 32 || len(in.Nonce) > 128 {
		return fault.New(fault.Invalid, "join.enter", "the nonce should have 32 to 128 characters")
	}
	return CheckName(in.Name)
}

func (r *Room) enter(ctx context.Context, tx *db.Tx, in EnterIn) (MintOut, error) {
	return r.admit(ctx, tx, in.Name, "joined by approval", WellKnown(Owner))
}

func (r *Room) redeem(ctx context.Context, tx *db.Tx, in RedeemIn) (MintOut, error) {
	v, err := r.takeInvite(ctx, tx, in.Invite)
	if db.NoRows(err) {
		_, err = r.takeSignin(ctx, tx, kindInvite, in.Invite)
	}
	switch {
	case db.NoRows(err):
		return MintOut{}, fault.New(fault.Denied, "join.redeem", "this invitation is not known, was used already or is too old").
			With("reason", InvitationOver).
			WithNext("ask the server's owner for a new one (tandem invite), or join without one and wait for approval")
	case err != nil:
		return MintOut{}, err
	case v.person != "":
		return MintOut{}, fault.New(fault.Invalid, "join.redeem", "this invitation is for a person, and no machine joins with it").
			WithNext("log in with it: tandem login HOST:PORT#INVITE")
	}
	whose := WellKnown(Owner)
	if v.id != "" && v.tenant != LocalTenant {
		whose = v.by // the person who made it
	}
	out, err := r.admit(ctx, tx, in.Name, "joined by invitation", whose)
	if err == nil && v.id != "" {
		err = r.cameBy(ctx, tx, v, out.Actor)
	}
	return out, err
}

// admit makes an actor with a name that is free, which acts for somebody, and a token for it.
func (r *Room) admit(ctx context.Context, tx *db.Tx, name, label, whose string) (MintOut, error) {
	if err := CheckName(name); err != nil {
		return MintOut{}, err
	}
	c := op.CallerFrom(ctx)
	a, err := freshActor(ctx, tx, c.Tenant, op.Agent, name, whose)
	if err == nil {
		err = r.mayReceive(ctx, tx, a)
	}
	if err != nil {
		return MintOut{}, err
	}
	out := MintOut{Token: Token{ID: id.New("tok"), Actor: a.Name, Label: label, CreatedAt: tx.Now(), CreatedBy: c.Actor},
		Secret: newSecret("tdm_")}
	_, err = tx.Exec(`INSERT INTO token (tenant, id, actor, hash, label, decides, created_at, created_by, expires_at, revoked_at, used_at)
		VALUES (?, ?, ?, ?, ?, 0, ?, ?, 0, 0, 0)`, a.Tenant, out.ID, a.ID, hashOf(out.Secret), label, tx.Now(), c.Actor)
	if err != nil {
		return out, err
	}
	op.Note(ctx, "actor", a.Name)
	op.Note(ctx, "token", out.ID)
	return out, sealToken(ctx, tx, a.Tenant, out.ID)
}

// freshActor makes an actor; a name that is taken gets a number.
func freshActor(ctx context.Context, tx *db.Tx, tenant string, kind op.Kind, name, actsFor string) (*Actor, error) {
	a := &Actor{ID: id.New("act"), Tenant: tenant, Kind: kind, Name: name, For: actsFor}
	for try := 2; ; try++ {
		n, err := tx.Changed("INSERT INTO actor ("+actorColumns+") VALUES (?, ?, ?, ?, ?, ?, 0) ON CONFLICT (tenant, name) DO NOTHING",
			a.Tenant, a.ID, a.Kind, a.Name, a.For, tx.Now())
		if err != nil {
			return nil, err
		}
		if n == 1 {
			op.Row(ctx, a.Seal())
			return a, nil
		}
		a.Name = fmt.Sprintf("%s-%d", name, try)
	}
}
