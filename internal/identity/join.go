package identity

import (
	"context"
	"fmt"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

// Newcomer is who a machine is before it has joined: it can ask to join, or
// redeem an invitation, and nothing else.
const Newcomer = "newcomer"

// An invitation works once, for a day.
const (
	kindInvite = "invite"
	inviteLife = 24 * time.Hour
	maxInvite  = 30 * 24 * time.Hour
)

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

// InviteIn makes an invitation.
type InviteIn struct {
	TTL int64 `json:"expires_in_secs,omitempty" jsonschema:"how long it is good for; a day when left out"`
}

// InviteOut is an invitation, shown once.
type InviteOut struct {
	Invite    string    `json:"invite"`
	ExpiresAt time.Time `json:"expires_at"`
}

func joinAt(name string) op.Resource { return op.Resource{Kind: "join", Path: "/" + name} }

// joinOps are how others come in.
func (r *Room) joinOps() []op.Op {
	return []op.Op{
		op.Binding(op.State(op.Spec{Name: "join.enter", Once: true, Right: "join.create", MCP: "-", Secret: []string{"nonce"},
			Doc: "Ask to join this server. A person approves it; the same request then returns a token, once."},
			func(in EnterIn) op.Resource { return joinAt(in.Name) }, r.enter), r.receives),
		op.State(op.Spec{Name: "join.redeem", Once: true, Right: "join.use", MCP: "-", Secret: []string{"invite"},
			Doc: "Join this server with an invitation, which works once."},
			func(in RedeemIn) op.Resource { return joinAt(in.Name) }, r.redeem),
		op.State(op.Spec{Name: "join.invite", Once: true, Right: "token.mint", Method: "POST", Path: "/invite", Status: 201, Present: true,
			People: true, MCP: "-",
			Doc: "Make an invitation for one machine or agent. Needs a person present."},
			func(InviteIn) op.Resource { return tokenAt("invite") }, r.inviteOp),
	}
}

// Check refuses names and nonces that nobody should be asked to approve.
func (in EnterIn) Check() error {
	if len(in.Nonce) < 32 || len(in.Nonce) > 128 {
		return fault.New(fault.Invalid, "join.enter", "the nonce should have 32 to 128 characters")
	}
	return CheckName(in.Name)
}

func (r *Room) enter(ctx context.Context, tx *db.Tx, in EnterIn) (MintOut, error) {
	return r.admit(ctx, tx, in.Name, "joined by approval")
}

func (r *Room) redeem(ctx context.Context, tx *db.Tx, in RedeemIn) (MintOut, error) {
	_, err := r.takeSignin(ctx, tx, kindInvite, in.Invite)
	if err != nil && !db.NoRows(err) {
		return MintOut{}, err
	}
	if err != nil {
		return MintOut{}, fault.New(fault.Denied, "join.redeem", "this invitation is not known, was used already or is too old").
			WithNext("ask the server's owner for a new one (tandem invite), or join without one and wait for approval")
	}
	return r.admit(ctx, tx, in.Name, "joined by invitation")
}

// admit makes an actor with a name that is free and a token for it.
func (r *Room) admit(ctx context.Context, tx *db.Tx, name, label string) (MintOut, error) {
	if err := CheckName(name); err != nil {
		return MintOut{}, err
	}
	c := op.CallerFrom(ctx)
	a, err := freshActor(ctx, tx, c.Tenant, op.Agent, name, WellKnown(Owner))
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

func (r *Room) inviteOp(ctx context.Context, tx *db.Tx, in InviteIn) (InviteOut, error) {
	life := time.Duration(in.TTL) * time.Second
	if in.TTL < 0 || life > maxInvite {
		return InviteOut{}, fault.New(fault.Invalid, "join.invite", "an invitation is good for a second to thirty days")
	}
	if life == 0 {
		life = inviteLife
	}
	return r.Invite(ctx, tx, op.CallerFrom(ctx).Tenant, life)
}

// Invite makes an invitation to a tenant. The daemon makes one when it
// is told to listen beyond this machine, for the person who told it.
func (r *Room) Invite(ctx context.Context, tx *db.Tx, tenant string, life time.Duration) (InviteOut, error) {
	if life == 0 {
		life = inviteLife
	}
	out := InviteOut{Invite: newSecret("tdj_"), ExpiresAt: tx.Now().Add(life)}
	return out, putSignin(ctx, tx, kindInvite, tenant, WellKnown(Newcomer), out.Invite, "", life)
}
