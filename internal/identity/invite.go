package identity

import (
	"context"
	"database/sql"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

// An invitation works once, for a day, unless the person who makes it says otherwise. One for several machines stands in the recipe
// that makes them: it lets in as many as it was made for, until it ends or is revoked.
const (
	inviteLife = 24 * time.Hour
	maxInvite  = 30 * 24 * time.Hour
	maxUses    = 1000
	inviteKept = 30 * 24 * time.Hour // after its end, so that a person sees who came by it
)

// InviteIn makes an invitation.
type InviteIn struct {
	TTL  int64 `json:"expires_in_secs,omitempty" jsonschema:"how long it is good for; a day when left out"`
	Uses int64 `json:"uses,omitempty" jsonschema:"how many machines may join with it; one when left out"`
	// Person is whose machine logs in with it.
	Person string `json:"person,omitempty" jsonschema:"the name of the person whom it is for, who logs in with it on their own machine; left out, it is for a machine or an agent"`
}

// InviteOut is an invitation, shown once.
type InviteOut struct {
	ID        string    `json:"id"`
	Invite    string    `json:"invite"`
	Uses      int64     `json:"uses"`
	ExpiresAt time.Time `json:"expires_at"`
	Person    string    `json:"person,omitempty"`
	Receives  string    `json:"receives,omitempty" jsonschema:"what grants wait for a person of that name"`
}

// InviteLine is the text behind # that carries an invitation and the key that
// the one who redeems it must find.
func InviteLine(invite, fingerprint string) string {
	if fingerprint == "" {
		return invite
	}
	return invite + "~" + strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimPrefix(fingerprint, "SHA256:"))
}

// Invitation is an invitation as it may be listed: never what lets somebody in.
type Invitation struct {
	ID        string     `json:"id"`
	Uses      int64      `json:"uses" jsonschema:"how many machines may join with it"`
	Person    string     `json:"person,omitempty" jsonschema:"the person whom it is for"`
	Used      int64      `json:"used"`
	CreatedAt time.Time  `json:"created_at"`
	CreatedBy string     `json:"created_by"`
	ExpiresAt time.Time  `json:"expires_at"`
	RevokedAt *time.Time `json:"revoked_at,omitempty"`
	Joined    []JoinedBy `json:"joined,omitempty" jsonschema:"who came by it"`
}

// JoinedBy is a machine that an invitation let in.
type JoinedBy struct {
	Name string    `json:"name"`
	From string    `json:"from,omitempty" jsonschema:"the network address that it came from"`
	At   time.Time `json:"at"`
}

// InvitesOut is a page of invitations, the newest first.
type InvitesOut struct {
	Invites []*Invitation `json:"invites"`
	More    bool          `json:"more,omitempty"`
}

// InviteRef names an invitation.
type InviteRef struct {
	ID string `json:"id" jsonschema:"the invitation's id, inv_…"`
}

// CameBy is a machine that joined by an invitation for several, from an address from which none had come by it.
type CameBy struct {
	Tenant, Invite, Name, From string
	Left                       int64 // machines that may still join with it
}

func (r *Room) inviteOps() []op.Op {
	return []op.Op{
		JoinInvite.State(op.Spec{Once: true, Right: "token.mint", Method: "POST", Path: "/invite", Status: 201, Present: true,
			People: true, MCP: "-",
			Doc: "Make an invitation for a person, or for one machine or agent, or for several. Needs a person present."},
			func(InviteIn) op.Resource { return tokenAt("invite") }, r.inviteOp),
		JoinInvites.Read(op.Spec{Right: "token.read", Method: "GET", Path: "/invite", MCP: "-",
			Doc: "List invitations with who came by them, until a month after they end; never the invitations themselves."},
			func(PageIn) op.Resource { return tokenAt("invite") }, r.invites),
		JoinRevoke.State(op.Spec{Right: "token.revoke", Present: true, Method: "DELETE", Path: "/invite/{id}", People: true,
			MCP: "-", Doc: "Revoke an invitation: nobody joins with it any more. Who did stays."},
			func(in InviteRef) op.Resource { return tokenAt(in.ID) }, r.revokeInvite),
	}
}

// inviteRow is an invitation as its row has it.
type inviteRow struct {
	tenant, id, by, person                string
	hash                                  []byte
	uses, used, created, expires, revoked int64
}

const inviteColumns = "tenant, id, created_by, hash, uses, used, created_at, expires_at, revoked_at, person"

func scanInvite(row interface{ Scan(...any) error }) (v inviteRow, err error) {
	return v, row.Scan(&v.tenant, &v.id, &v.by, &v.hash, &v.uses, &v.used, &v.created, &v.expires, &v.revoked, &v.person)
}

// Seal is an invitation: what opens it, for how many, and until when. How many came is not in it, since that changes with each; that
// it is spent is.
func (v inviteRow) Seal() op.Sealed {
	s := op.Sealed{Tenant: v.tenant, Subject: "invite:" + v.id, What: "the invitation " + v.id + " for " + strconv.FormatInt(v.uses, 10),
		Says: []string{v.id, hex.EncodeToString(v.hash), strconv.FormatInt(v.uses, 10), strconv.FormatInt(v.expires, 10)}}
	if v.person != "" {
		s.Says, s.What = append(s.Says, v.person), "the invitation "+v.id+" for the person "+v.person
	}
	switch {
	case v.revoked != 0:
		s.Says, s.What = []string{v.id, takenBack}, s.What+", revoked"
	case v.used >= v.uses:
		s.Says, s.What = []string{v.id, takenBack}, s.What+", used"
	}
	return s
}

func (r *Room) inviteOp(ctx context.Context, tx *db.Tx, in InviteIn) (InviteOut, error) {
	life, err := inviteFor(in.TTL)
	if err != nil {
		return InviteOut{}, err
	}
	if in.Uses < 0 || in.Uses > maxUses {
		return InviteOut{}, fault.New(fault.Invalid, "join.invite", "an invitation is for 1 to %d machines", maxUses)
	}
	c := op.CallerFrom(ctx)
	receives, err := r.mayInvite(ctx, tx, c.Tenant, in)
	if err != nil {
		return InviteOut{}, err
	}
	out, err := r.invite(ctx, tx, inviteRow{tenant: c.Tenant, by: c.Actor, uses: max(in.Uses, 1), person: in.Person}, life)
	out.Receives = receives
	return out, err
}

// InviteFirst makes an invitation for one machine. The daemon makes it when it is told to listen beyond this machine, for the person
// who told it; the one of an earlier start, if nobody came by it, ends with that.
func (r *Room) InviteFirst(ctx context.Context, tx *db.Tx, tenant string) (InviteOut, error) {
	rows, err := tx.Query("UPDATE invite SET revoked_at = ? WHERE tenant = ? AND created_by = ? AND used < uses AND revoked_at = 0 RETURNING "+
		inviteColumns, tx.Now(), tenant, System)
	earlier, err := collectSealed(rows, err, scanInvite)
	if err != nil {
		return InviteOut{}, err
	}
	for _, s := range earlier {
		op.Row(ctx, s)
	}
	return r.invite(ctx, tx, inviteRow{tenant: tenant, by: System, uses: 1}, 0)
}

func (r *Room) invite(ctx context.Context, tx *db.Tx, v inviteRow, life time.Duration) (InviteOut, error) {
	if life == 0 {
		life = inviteLife
	}
	if err := endInvites(ctx, tx, v.tenant); err != nil {
		return InviteOut{}, err
	}
	out := InviteOut{ID: id.New("inv"), Invite: newSecret("tdj_"), Uses: v.uses, ExpiresAt: tx.Now().Add(life), Person: v.person}
	v.id, v.hash, v.created, v.expires = out.ID, hashOf(kindInvite+out.Invite), tx.Now().UnixMicro(), out.ExpiresAt.UnixMicro()
	op.Note(ctx, "invite", v.id)
	op.Note(ctx, "uses", v.uses)
	op.Row(ctx, v.Seal())
	_, err := tx.Exec("INSERT INTO invite ("+inviteColumns+") VALUES (?, ?, ?, ?, ?, 0, ?, ?, 0, ?)", v.tenant, v.id, v.by, v.hash, v.uses,
		v.created, v.expires, v.person)
	return out, err
}

// endInvites lets go of those that ended long ago.
func endInvites(ctx context.Context, tx *db.Tx, tenant string) error {
	rows, err := tx.Query("DELETE FROM invite WHERE tenant = ? AND expires_at <= ? RETURNING "+inviteColumns, tenant,
		tx.Now().Add(-inviteKept))
	gone, err := collectSealed(rows, err, scanInvite)
	for _, s := range gone {
		op.Seal(ctx, s.Subject)
	}
	if err == nil {
		_, err = tx.Exec(`DELETE FROM invite_use WHERE tenant = ? AND NOT EXISTS
			(SELECT 1 FROM invite v WHERE v.tenant = invite_use.tenant AND v.id = invite_use.invite)`, tenant)
	}
	return err
}

// takeInvite spends one use. Where nothing is left of it, or nobody made it, there is no row.
func (r *Room) takeInvite(ctx context.Context, tx *db.Tx, secret string) (v inviteRow, err error) {
	v, err = scanInvite(tx.QueryRow("UPDATE invite SET used = used + 1 WHERE tenant = ? AND hash = ? AND used < uses AND revoked_at = 0 "+
		"AND expires_at > ? RETURNING "+inviteColumns, op.CallerFrom(ctx).Tenant, hashOf(kindInvite+secret), tx.Now()))
	if err != nil {
		return v, err
	}
	before := v
	before.used--
	if !r.Vouch.Holds(ctx, before.Seal()) {
		return v, sql.ErrNoRows
	}
	op.Note(ctx, "invite", v.id)
	if v.used == v.uses {
		op.Row(ctx, v.Seal())
	}
	return v, nil
}

// cameBy keeps who came by an invitation and from where. Of one for several a person is told when they come from somewhere new.
func (r *Room) cameBy(ctx context.Context, tx *db.Tx, v inviteRow, name string) error {
	c := op.CallerFrom(ctx)
	op.Note(ctx, "from", c.Source)
	var before int
	err := tx.QueryRow("SELECT count(*) FROM invite_use WHERE tenant = ? AND invite = ? AND source = ?", v.tenant, v.id,
		c.Source).Scan(&before)
	if err != nil {
		return err
	}
	_, err = tx.Exec("INSERT INTO invite_use (tenant, invite, actor, source, used_at) VALUES (?, ?, ?, ?, ?)", v.tenant, v.id, name, c.Source,
		tx.Now())
	if err != nil || before > 0 || v.uses == 1 || r.CameBy == nil {
		return err
	}
	return r.CameBy(tx, CameBy{Tenant: v.tenant, Invite: v.id, Name: name, From: c.Source, Left: v.uses - v.used})
}

func (r *Room) invites(ctx context.Context, in PageIn) (InvitesOut, error) {
	tenant, out := op.CallerFrom(ctx).Tenant, InvitesOut{Invites: []*Invitation{}}
	limit, err := atMost(string(JoinInvites), in.Limit)
	if err != nil {
		return out, err
	}
	rows, err := r.db.Query(ctx, "SELECT "+inviteColumns+" FROM invite WHERE tenant = ? AND (? = '' OR id < ?) ORDER BY id DESC LIMIT ?",
		tenant, in.After, in.After, limit+1)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (inviteRow, error) { return scanInvite(rows) })
	if err != nil || len(all) == 0 {
		return out, err
	}
	if out.More = len(all) > limit; out.More {
		all = all[:limit]
	}
	byID, ids := map[string]*Invitation{}, []any{tenant}
	for _, v := range all {
		ids = append(ids, v.id)
		byID[v.id] = &Invitation{ID: v.id, Uses: v.uses, Used: v.used, Person: v.person, CreatedAt: db.Time(v.created), CreatedBy: v.by,
			ExpiresAt: db.Time(v.expires), RevokedAt: optional(v.revoked)}
		out.Invites = append(out.Invites, byID[v.id])
	}
	rows, err = r.db.Query(ctx, "SELECT invite, actor, source, used_at FROM invite_use WHERE tenant = ? AND invite IN (?"+
		strings.Repeat(", ?", len(all)-1)+") ORDER BY used_at, actor", ids...)
	_, err = db.Collect(rows, err, func(rows *sql.Rows) (j JoinedBy, err error) {
		var invite string
		var at int64
		err = rows.Scan(&invite, &j.Name, &j.From, &at)
		j.At = db.Time(at)
		if v := byID[invite]; v != nil {
			v.Joined = append(v.Joined, j)
		}
		return j, err
	})
	return out, err
}

func (r *Room) revokeInvite(ctx context.Context, tx *db.Tx, in InviteRef) (OK, error) {
	v, err := scanInvite(tx.QueryRow("UPDATE invite SET revoked_at = ? WHERE tenant = ? AND id = ? AND revoked_at = 0 RETURNING "+
		inviteColumns,
		tx.Now(), op.CallerFrom(ctx).Tenant, in.ID))
	if db.NoRows(err) {
		return OK{}, fault.New(fault.NotFound, "join.revoke", "there is no invitation %s to revoke", in.ID).
			WithNext("list them: tandem invite list")
	}
	if err == nil {
		op.Row(ctx, v.Seal())
	}
	return OK{err == nil}, err
}
