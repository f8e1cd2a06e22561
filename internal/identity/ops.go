package identity

import (
	"context"
	"slices"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

// Nothing is an empty input.
type Nothing struct{}

// ActorsOut is a page of actors, by name.
type ActorsOut struct {
	Actors []*Actor `json:"actors"`
	More   bool     `json:"more,omitempty"`
}

// AddIn adds an actor.
type AddIn struct {
	Name string  `json:"name" jsonschema:"unique; letters, digits, - _ ."`
	Kind op.Kind `json:"kind" jsonschema:"person, agent or service"`
	For  string  `json:"for,omitempty" jsonschema:"the name of the actor on whose behalf it acts; the caller's own when left out"`
}

// NameIn names an actor.
type NameIn struct {
	Name string `json:"name" jsonschema:"name or id of the actor"`
}

// WhoOut is the caller as tandem sees it.
type WhoOut struct {
	op.Caller
	PIN        bool   `json:"pin_set" jsonschema:"whether a PIN has been set, so that presence can be proven"`
	TenantName string `json:"tenant_name" jsonschema:"what the tenant is called"`
}

// MintIn makes a token.
type MintIn struct {
	Actor   string `json:"actor" jsonschema:"the name of the actor it speaks for"`
	Label   string `json:"label,omitempty" jsonschema:"what it is for"`
	Decides bool   `json:"decide,omitempty" jsonschema:"it may decide asks; only for a person, and it must expire"`
	TTL     int64  `json:"expires_in_secs,omitempty" jsonschema:"how long it lives; for ever when left out"`
}

// MintOut shows a token once.
type MintOut struct {
	Token
	Secret string `json:"secret" jsonschema:"shown this once"`
}

// TokensOut is a page of tokens, by their ids: the oldest first.
type TokensOut struct {
	Tokens []*Token `json:"tokens"`
	More   bool     `json:"more,omitempty"`
}

// TokenIn names a token.
type TokenIn struct {
	ID string `json:"id" jsonschema:"the token's id, tok_…"`
}

// PINIn sets a PIN.
type PINIn struct {
	PIN string `json:"pin" jsonschema:"at least six characters"`
}

// LinkOut is a sign-in code, good once.
type LinkOut struct {
	Code      string    `json:"code"`
	ExpiresAt time.Time `json:"expires_at"`
}

// OK says that it was done.
type OK struct {
	OK bool `json:"ok"`
}

func actorAt(name string) op.Resource { return op.Resource{Kind: "actor", Path: "/" + name} }
func tokenAt(name string) op.Resource { return op.Resource{Kind: "token", Path: "/" + name} }

// Ops is this package's front door.
func (r *Room) Ops() []op.Op {
	others := slices.Concat(r.passkeyOps(), r.joinOps(), r.inviteOps(), r.personOps(), r.oauthOps(), r.browserOps(), r.recoveryOps(),
		r.signerOps(), r.tenantOps())
	return append(others, []op.Op{
		ActorWhoami.Read(op.Spec{Right: "server.view", Method: "GET", Path: "/whoami", MCP: "tandem_whoami",
			Doc: "Say who you are here, by which door, and whether you are present."},
			func(Nothing) op.Resource { return op.Resource{Kind: "server", Path: "/"} }, r.whoami),
		ActorList.Read(op.Spec{Right: "actor.read", Masked: true, Method: "GET", Path: "/actor",
			Doc: "List the actors: people, agents, sessions and services."},
			func(ActorsIn) op.Resource { return actorAt("") }, r.actors),
		ActorAdd.State(op.Spec{Right: "actor.write", Method: "POST", Path: "/actor", Status: 201, Present: true,
			Doc: "Add an actor. What it may do is what the policy says of its kind and of its name. Needs a person present."},
			func(in AddIn) op.Resource { return actorAt(in.Name) }, r.add),
		ActorDisable.State(op.Spec{Right: "actor.write", Method: "POST", Path: "/actor/{name}/disable", Present: true, People: true,
			Doc: "Disable an actor and everybody who acts for it; their tokens stop working at once."},
			func(in NameIn) op.Resource { return actorAt(in.Name) }, r.disable),
		TokenList.Read(op.Spec{Right: "token.read", Masked: true, Method: "GET", Path: "/token",
			Doc: "List tokens with their last use; never the tokens themselves."},
			func(TokensIn) op.Resource { return tokenAt("") }, r.tokens),
		TokenNew.State(op.Spec{Once: true, Right: "token.mint", Method: "POST", Path: "/token", Status: 201, Present: true,
			People: true, MCP: "-",
			Doc: "Make a token for an actor and show it once. Needs a person present."},
			func(in MintIn) op.Resource { return tokenAt(in.Actor) }, r.mint),
		TokenRevoke.State(op.Spec{Right: "token.revoke", Present: true, Method: "DELETE", Path: "/token/{id}", People: true,
			Doc: "Revoke a token: the next call with it is refused."},
			func(in TokenIn) op.Resource { return tokenAt(in.ID) }, r.revoke),
		PINSet.State(op.Spec{Once: true, Right: "server.execute", Secret: []string{"pin"}, MCP: "-", Socket: true,
			Doc: "Set the PIN that proves the owner's presence on a terminal. The first one is trusted on first use; " +
				"changing it needs the old one.\nWhere there are no recovery codes it makes them and shows them once."},
			func(PINIn) op.Resource { return op.Resource{Kind: "server", Path: "/pin"} }, r.setPIN),
		SigninLink.State(op.Spec{Once: true, Right: "server.execute", MCP: "-", Socket: true,
			Doc: "Make a sign-in link for the panel, good once and for ten minutes."},
			func(Nothing) op.Resource { return op.Resource{Kind: "server", Path: "/signin"} }, r.link),
	}...)
}

func (r *Room) whoami(ctx context.Context, _ Nothing) (WhoOut, error) {
	c := op.CallerFrom(ctx)
	has, err := r.HasPIN(ctx, c.Tenant, WellKnown(Owner))
	if err != nil {
		return WhoOut{}, err
	}
	t, err := scanTenant(r.db.QueryRow(ctx, "SELECT "+tenantColumns+" FROM tenant WHERE id = ?", c.Tenant))
	if err != nil {
		return WhoOut{}, err
	}
	return WhoOut{c, has, t.Name}, nil
}

func (r *Room) add(ctx context.Context, tx *db.Tx, in AddIn) (*Actor, error) {
	if err := CheckName(in.Name); err != nil {
		return nil, err
	}
	if err := CheckKind(in.Kind); err != nil {
		return nil, err
	}
	c := op.CallerFrom(ctx)
	a := &Actor{ID: id.New("act"), Tenant: c.Tenant, Kind: in.Kind, Name: in.Name, CreatedAt: tx.Now()}
	if in.Kind != op.Person {
		a.For = c.Actor
	}
	if in.For != "" {
		err := tx.QueryRow("SELECT id FROM actor WHERE tenant = ? AND (id = ? OR name = ?)", c.Tenant, in.For, in.For).Scan(&a.For)
		if db.NoRows(err) {
			return nil, fault.New(fault.NotFound, "actor.add", "there is no actor %s for whom it could act", in.For)
		}
		if err != nil {
			return nil, err
		}
	}
	_, err := tx.Exec("INSERT INTO actor ("+actorColumns+") VALUES (?, ?, ?, ?, ?, ?, 0)", a.Tenant, a.ID, a.Kind, a.Name, a.For, a.CreatedAt)
	if db.Exists(err) {
		return nil, fault.New(fault.Conflict, "actor.add", "there is an actor %s already", in.Name).WithNext("choose another name")
	}
	op.Note(ctx, "id", a.ID)
	op.Row(ctx, a.Seal())
	return a, err
}

func (r *Room) disable(ctx context.Context, tx *db.Tx, in NameIn) (OK, error) {
	c := op.CallerFrom(ctx)
	switch in.Name {
	case Owner, System, WellKnown(Owner), WellKnown(System):
		return OK{}, fault.New(fault.Invalid, "actor.disable", "%s cannot be disabled: nobody could mend it afterwards", in.Name)
	}
	rows, err := tx.Query("UPDATE actor SET disabled_at = ? WHERE tenant = ? AND (id = ? OR name = ?) AND disabled_at = 0 RETURNING "+
		actorColumns,
		tx.Now(), c.Tenant, in.Name, in.Name)
	gone, err := collectActors(rows, err)
	if err == nil && len(gone) == 0 {
		err = fault.New(fault.NotFound, "actor.disable", "there is no active actor %s", in.Name)
	}
	for _, a := range gone {
		op.Row(ctx, a.Seal())
		if err == nil && a.Kind == op.Person {
			err = r.notAnOwner(ctx, tx, c.Tenant, "actor.disable", a.Name)
		}
	}
	return OK{err == nil}, err
}

func optional(micros int64) *time.Time {
	if micros == 0 {
		return nil
	}
	t := db.Time(micros)
	return &t
}

func (r *Room) mint(ctx context.Context, tx *db.Tx, in MintIn) (MintOut, error) {
	c := op.CallerFrom(ctx)
	a, err := scanActor(tx.QueryRow("SELECT "+actorColumns+" FROM actor WHERE tenant = ? AND (id = ? OR name = ?)", c.Tenant, in.Actor,
		in.Actor))
	if db.NoRows(err) {
		return MintOut{}, fault.New(fault.NotFound, "token.new", "there is no actor %s", in.Actor).
			WithNext("add one: tandem actor add %s --kind agent", in.Actor)
	}
	if err != nil {
		return MintOut{}, err
	}
	if a = r.asBorn(a); !r.counts(ctx, a) {
		return MintOut{}, forged("token.new", a.Seal().What)
	}
	life := time.Duration(in.TTL) * time.Second
	switch {
	case in.TTL < 0 || in.TTL > int64((10*365*24*time.Hour)/time.Second):
		return MintOut{}, fault.New(fault.Invalid, "token.new", "a token lives between a second and ten years")
	case in.Decides && a.Kind != op.Person:
		return MintOut{}, fault.New(fault.Invalid, "token.new", "only a person's token may decide; %s is %s", a.Name, a.Kind.Words())
	case in.Decides && (life == 0 || life > MaxDecideLife):
		return MintOut{}, fault.New(fault.Invalid, "token.new", "a token that may decide must expire within %d days",
			int(MaxDecideLife.Hours()/24)).WithNext("add --expires 24h")
	case a.DisabledAt != nil:
		return MintOut{}, fault.New(fault.Conflict, "token.new", "%s is disabled, and a token of it would let nobody in", a.Name).
			WithNext("make it for another actor: tandem actor list")
	case a.Kind == op.Local || a.Name == System:
		return MintOut{}, fault.New(fault.Invalid, "token.new", "%s speaks on this machine only and has no tokens", a.Name)
	}
	out := MintOut{Token: Token{ID: id.New("tok"), Actor: a.Name, Label: in.Label, Decides: in.Decides, CreatedAt: tx.Now(),
		CreatedBy: c.Actor}, Secret: newSecret("tdm_")}
	var expires time.Time
	if life > 0 {
		expires = tx.Now().Add(life)
		out.ExpiresAt = &expires
	}
	_, err = tx.Exec(`INSERT INTO token (tenant, id, actor, hash, label, decides, created_at, created_by, expires_at, revoked_at, used_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0)`, c.Tenant, out.ID, a.ID, hashOf(out.Secret), in.Label, in.Decides, tx.Now(), c.Actor, expires)
	if err != nil {
		return out, err
	}
	op.Note(ctx, "token", out.ID)
	return out, sealToken(ctx, tx, c.Tenant, out.ID)
}

func (r *Room) revoke(ctx context.Context, tx *db.Tx, in TokenIn) (OK, error) {
	tenant := op.CallerFrom(ctx).Tenant
	n, err := tx.Changed("UPDATE token SET revoked_at = ? WHERE tenant = ? AND id = ? AND revoked_at = 0", tx.Now(), tenant, in.ID)
	if err == nil && n == 1 {
		err = sealToken(ctx, tx, tenant, in.ID)
	} else if err == nil {
		err = fault.New(fault.NotFound, "token.revoke", "there is no active token %s", in.ID).WithNext("list them: tandem token list")
	}
	if err != nil {
		return OK{}, err
	}
	// A program that connected by OAuth would come back with its refresh token: it is revoked as a whole.
	c, err := clientOfToken(tx, tenant, in.ID)
	if err != nil || c == nil {
		return OK{err == nil}, err
	}
	op.Note(ctx, "program", c.name)
	return OK{true}, burn(ctx, tx, tenant, c)
}

func (r *Room) setPIN(ctx context.Context, tx *db.Tx, in PINIn) (PINOut, error) {
	if err := CheckPINForm(in.PIN); err != nil {
		return PINOut{}, err
	}
	c, owner := op.CallerFrom(ctx), WellKnown(Owner)
	if c.Kind != op.Local && c.Kind != op.Person {
		return PINOut{}, fault.New(fault.Denied, "pin.set", "only a person sets a PIN")
	}
	var n int
	if err := tx.QueryRow("SELECT count(*) FROM pin WHERE tenant = ? AND actor = ?", c.Tenant, owner).Scan(&n); err != nil {
		return PINOut{}, err
	}
	if known := r.Vouch.Knows(c.Tenant, pinSeal(c.Tenant, owner, "", 0).Subject); (n > 0 || known) && c.Present == "" {
		return PINOut{}, fault.New(fault.Denied, "pin.set", "a PIN is set already; changing it needs the old one").
			WithNext("run it on a terminal: tandem pin set")
	}
	op.Note(ctx, "first", n == 0)
	return r.putPIN(ctx, tx, c.Tenant, owner, in.PIN)
}

func (r *Room) link(ctx context.Context, tx *db.Tx, _ Nothing) (LinkOut, error) {
	c := op.CallerFrom(ctx)
	if c.Kind != op.Local && c.Kind != op.Person && c.Name != System {
		return LinkOut{}, fault.New(fault.Denied, "signin.link", "only a person signs in to the panel")
	}
	out := LinkOut{Code: newSecret("tds_"), ExpiresAt: tx.Now().Add(linkLife)}
	return out, putSignin(ctx, tx, kindLink, c.Tenant, WellKnown(Owner), out.Code, "", linkLife)
}
