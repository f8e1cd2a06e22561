package identity

import (
	"context"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

// A person on another machine is two actors, as the owner is on this one: the person, who has to be present, and their terminal there,
// an actor of the kind local that acts for them. What the machine is given speaks for the terminal: every program of that user can
// use it, so it has everyday rights and no more.

// PersonIn logs a person in on their own machine.
type PersonIn struct {
	Invite  string `json:"invite" jsonschema:"the invitation, tdj_…, made for a person"`
	Machine string `json:"machine" jsonschema:"what the person's machine is called"`
	Key     string `json:"key,omitempty" jsonschema:"the public key with which the machine answers for the person, base64url; without one nobody is ever proven to be there"`
}

// PersonOut is what the machine keeps.
type PersonOut struct {
	Person   string `json:"person"`
	Terminal string `json:"terminal" jsonschema:"the actor as which the machine's commands act"`
	Secret   string `json:"secret" jsonschema:"its token, shown this once"`
	Device   string `json:"device,omitempty" jsonschema:"the id of the machine's key here, dev_…"`
	Server   string `json:"server" jsonschema:"the server's identity, whatever its address is: what the key signs names it"`
}

func (r *Room) personOps() []op.Op {
	return append(r.peopleOps(), []op.Op{
		PersonEnter.State(op.Spec{Once: true, Right: "join.use", MCP: "-", Secret: []string{"invite"},
			Doc: "Log a person in on their own machine, with an invitation that was made for them. The machine gets everyday rights."},
			func(in PersonIn) op.Resource { return joinAt(in.Machine) }, r.enterPerson),
		PersonLogout.State(op.Spec{Right: "server.view", MCP: "-",
			Doc: "Log the machine out that asks: its token works no more, and its key answers for nobody."},
			func(Nothing) op.Resource { return op.Resource{Kind: "server", Path: "/"} }, r.logout),
		DeviceChallenge.Read(op.Spec{Once: true, Right: "server.view", MCP: "-",
			Doc: "Get a number for one proof of presence: a person's machine signs it together with one call, which then counts as theirs."},
			func(ChallengeIn) op.Resource { return op.Resource{Kind: "server", Path: "/"} }, r.challenge),
	}...)
}

// Check refuses names of machines that no actor could have.
func (in PersonIn) Check() error { return CheckName(in.Machine) }

// mayInvite checks whom an invitation is for, and says which grants wait for that name: the person who invites sees them.
func (r *Room) mayInvite(ctx context.Context, tx *db.Tx, tenant string, in InviteIn) (receives string, err error) {
	if in.Person == "" {
		return "", nil
	}
	if err := CheckName(in.Person); err != nil {
		return "", err
	}
	if in.Uses > 1 {
		return "", fault.New(fault.Invalid, "join.invite", "an invitation for a person is for one machine").
			WithNext("make another for each machine of theirs")
	}
	switch a, err := r.personIn(ctx, tx, tenant, in.Person); {
	case err != nil:
		return "", err
	case a != nil && a.DisabledAt == nil:
		return "", nil
	}
	return r.waiting(ctx, tx, tenant, op.Person, in.Person)
}

// personIn is the person of a name, nil where there is nobody of that name.
func (r *Room) personIn(ctx context.Context, tx *db.Tx, tenant, name string) (*Actor, error) {
	a, err := scanActor(tx.QueryRow("SELECT "+actorColumns+" FROM actor WHERE tenant = ? AND name = ?", tenant, name))
	if db.NoRows(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	switch a = r.asBorn(a); {
	case !r.counts(ctx, a):
		return nil, forged("person", a.Seal().What)
	case a.Kind != op.Person:
		return nil, fault.New(fault.Conflict, "person", "%s is here already, and is %s", name, a.Kind.Words()).WithNext("choose another name")
	}
	return a, nil
}

// comeBack lets a person in again who was removed: an owner invited them anew. What ended then stays ended.
func comeBack(ctx context.Context, tx *db.Tx, a *Actor) error {
	if a.DisabledAt == nil {
		return nil
	}
	a.DisabledAt = nil
	_, err := tx.Exec("UPDATE actor SET disabled_at = 0 WHERE tenant = ? AND id = ?", a.Tenant, a.ID)
	op.Note(ctx, "back", true)
	op.Row(ctx, a.Seal())
	return err
}

func (r *Room) enterPerson(ctx context.Context, tx *db.Tx, in PersonIn) (PersonOut, error) {
	v, err := r.takeInvite(ctx, tx, in.Invite)
	switch {
	case db.NoRows(err):
		return PersonOut{}, fault.New(fault.Denied, "person.enter", "this invitation is not known, was used already or is too old").
			WithNext("ask whoever invited you for a new one; over there: tandem invite --person NAME")
	case err != nil:
		return PersonOut{}, err
	case v.person == "":
		return PersonOut{}, fault.New(fault.Invalid, "person.enter",
			"this invitation is for a machine or an agent, and no person logs in with it").
			WithNext("ask for one of yours; over there: tandem invite --person NAME")
	}
	p, err := r.personIn(ctx, tx, v.tenant, v.person)
	if err == nil && p == nil {
		p, err = freshActor(ctx, tx, v.tenant, op.Person, v.person, "")
	}
	if err == nil {
		err = comeBack(ctx, tx, p)
	}
	if err != nil {
		return PersonOut{}, err
	}
	a, err := freshActor(ctx, tx, v.tenant, op.Local, terminalName(p.Name, in.Machine), p.ID)
	if err == nil {
		err = r.mayReceive(ctx, tx, a)
	}
	if err != nil {
		return PersonOut{}, err
	}
	out := PersonOut{Person: p.Name, Terminal: a.Name, Secret: newSecret("tdm_"), Server: r.Server}
	if out.Device, err = enrol(ctx, tx, p, a, in.Machine, in.Key); err != nil {
		return PersonOut{}, err
	}
	token := id.New("tok")
	_, err = tx.Exec(`INSERT INTO token (tenant, id, actor, hash, label, decides, created_at, created_by, expires_at, revoked_at, used_at)
		VALUES (?, ?, ?, ?, ?, 0, ?, ?, 0, 0, 0)`, v.tenant, token, a.ID, hashOf(out.Secret), "login on "+in.Machine, tx.Now(), v.by)
	if err != nil {
		return PersonOut{}, err
	}
	op.Note(ctx, "person", p.Name)
	op.Note(ctx, "actor", a.Name)
	op.Note(ctx, "token", token)
	if err := sealToken(ctx, tx, v.tenant, token); err != nil {
		return PersonOut{}, err
	}
	return out, r.cameBy(ctx, tx, v, a.Name)
}

// terminalName names a person's terminal after both; it is no longer than a name may be, with room for a number.
func terminalName(person, machine string) string {
	runes := []rune(person + "-" + machine)
	for len(string(runes)) > 60 {
		runes = runes[:len(runes)-1]
	}
	return string(runes)
}

func (r *Room) logout(ctx context.Context, tx *db.Tx, _ Nothing) (OK, error) {
	c := op.CallerFrom(ctx)
	if c.Kind != op.Local || c.Token == "" {
		return OK{}, fault.New(fault.Invalid, "person.logout", "only a machine that a person logged in on logs out").
			WithNext("revoke a token instead: tandem token revoke ID")
	}
	n, err := tx.Changed("UPDATE token SET revoked_at = ? WHERE tenant = ? AND id = ? AND revoked_at = 0", tx.Now(), c.Tenant, c.Token)
	if err != nil || n == 0 {
		return OK{}, err
	}
	op.Note(ctx, "token", c.Token)
	if _, err := endDevices(ctx, tx, "tenant = ? AND terminal = ?", c.Tenant, c.Actor); err != nil {
		return OK{}, err
	}
	if err := r.owned(ctx, tx, c.Tenant, "person.logout"); err != nil {
		return OK{}, err
	}
	return OK{true}, sealToken(ctx, tx, c.Tenant, c.Token)
}
