package panel

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/panel/ui"
	"tandem/internal/policy/book"
	server "tandem/internal/server/wire"
	"tandem/internal/told"
)

func peopleNav() page {
	return page{id: "people", label: "People", href: "/panel/people", icon: "people", key: "g h", needs: string(identity.PersonList),
		routes: peopleRoutes}
}

func peopleRoutes(p *Panel) {
	p.get("/panel/people", func(v *visit) error { return v.people(nil, "") })
	groupRoutes(p)
	perform(p, "/panel/people", identity.JoinInvite, inviteInput,
		func(v *visit, _ identity.InviteIn, made identity.InviteOut) error { return v.people(&made, "") },
		func(v *visit, err error) error { return v.people(nil, words(err)) })
	p.get("/panel/people/{name}", (*visit).person)
	confirm(p, identity.PersonRemove, func(id string) identity.NameIn { return identity.NameIn{Name: id} }, confirmed{
		path: "/panel/people/{id}/remove", title: "Remove this person?",
		text: "Their tokens, machines, browsers, passkeys and invitations end at once, and what their sessions were about to do is refused. " +
			"They come back by a new invitation.",
		does: "Remove", back: "/panel/people", said: "person-gone", nav: "people"})
	owner := func(id string) book.OwnerIn { return book.OwnerIn{Name: id} }
	confirm(p, book.OwnerAdd, owner, confirmed{path: "/panel/people/{id}/own", title: "Make this person an owner?",
		text: "They may then do whatever you may: grant, invite, mint, administer, and take ownership from you.",
		does: "Make an owner", back: "/panel/people", said: "owner-added", nav: "people"})
	confirm(p, book.OwnerRemove, owner, confirmed{path: "/panel/people/{id}/disown", title: "Take ownership from this person?",
		text: "They stay here with everyday rights, and answer asks. The last owner who can prove to be here stays one.",
		does: "Take it back", back: "/panel/people", said: "owner-gone", nav: "people"})
	confirm(p, book.OwnerHandOver, owner, confirmed{path: "/panel/people/{id}/hand-over", title: "Hand your ownership over to this person?",
		text: "They are an owner from now on, and you are not: you keep everyday rights. Only an owner can give it back to you.",
		does: "Hand over", back: "/panel/people", said: "owner-handed", nav: "people"})
	confirm(p, identity.JoinRevoke, func(id string) identity.InviteRef { return identity.InviteRef{ID: id} }, confirmed{
		path: "/panel/invites/{id}/revoke", title: "Revoke this invitation?",
		text: "Nobody joins with it any more. Who did stays.",
		does: "Revoke", back: "/panel/people", said: "invite-gone", nav: "people"})
	confirm(p, identity.DeviceRevoke, func(id string) identity.DeviceIn { return identity.DeviceIn{ID: id} }, confirmed{
		path: "/panel/devices/{id}/revoke", title: "Revoke this machine?",
		text: "It proves nothing any more, and its token lets nobody in. Do this when it was lost.",
		does: "Revoke", back: "/panel/people", asks: true, said: "device-gone", nav: "people"})
}

func personHref(name string) string { return "/panel/people/" + pathEscape(name) }

func inviteInput(v *visit) (identity.InviteIn, error) {
	in := identity.InviteIn{Person: strings.TrimSpace(v.r.PostFormValue("person"))}
	if in.Person == "" {
		return in, fault.New(fault.Invalid, string(identity.JoinInvite), "say whom it is for").
			WithNext("an invitation for a machine or an agent is made on a terminal: tandem invite")
	}
	if s := v.r.PostFormValue("hours"); s != "" {
		hours, err := strconv.ParseInt(s, 10, 64)
		if err != nil || hours < 1 || hours > 30*24 {
			return in, fault.New(fault.Invalid, string(identity.JoinInvite), "choose how long it is good for")
		}
		in.TTL = hours * 3600
	}
	_, err := v.reached() // without it the line could not be shown, and it is shown once
	return in, err
}

// PersonRow is a person in a list.
type PersonRow struct {
	Name      string
	Owner     bool
	You       bool
	Devices   int
	Terminals []string
	Seen      time.Time
	Since     time.Time
	Left      time.Time
}

func (v *visit) personRow(h identity.Human) PersonRow {
	return PersonRow{Name: h.Name, Owner: h.Owner, You: h.Name == v.caller.Name, Devices: h.Devices, Terminals: h.Terminals,
		Seen: orZero(h.SeenAt), Since: h.CreatedAt, Left: orZero(h.LeftAt)}
}

// InviteRow is an invitation, without what lets somebody in.
type InviteRow struct {
	ID, Person, By, Joined string
	Used, Uses             int64
	Until, Revoked         time.Time
}

func (r InviteRow) state(now time.Time) (ui.Tone, string) {
	switch {
	case !r.Revoked.IsZero():
		return ui.Quiet, "revoked"
	case r.Used >= r.Uses:
		return ui.Good, "used"
	case !r.Until.After(now):
		return ui.Quiet, "expired"
	}
	return ui.Info, "open"
}

// PeopleView is everybody who belongs to this house, and who was invited.
type PeopleView struct {
	Now     time.Time
	Rows    []PersonRow
	Invites []InviteRow
	Like    string // part of the names that are shown
	After   string // the name behind which this page begins
	Later   string // where the people behind these are shown
	Groups  []GroupRow
	Regroup bool

	LaterGroups string
	May         bool
	Near        bool   // only programs of this machine reach the server
	For         string // whom the invitation below is for
	Line        string // what that person types, shown this once
	Receives    string // what grants wait for that name
	PIN         bool
	Passkeys    int
	Problem     string
	Lacks       string     // why a part is missing beside an invitation
	Kept        url.Values // an invitation that was refused
}

func (v *visit) people(made *identity.InviteOut, problem string) error {
	out := PeopleView{Now: v.now(), May: v.has(string(identity.JoinInvite)), Regroup: v.has(string(book.GroupAdd)),
		Problem: problem, Kept: v.refilled("/panel/people")}
	err := v.everybody(&out)
	if err != nil && made == nil {
		return err
	}
	if err != nil { // the line is shown this once, whatever else cannot be
		out.Lacks = words(err)
	}
	if made != nil {
		st, err := v.reached()
		if err != nil {
			return err
		}
		out.Kept, out.For, out.Receives = nil, made.Person, made.Receives
		out.Line = "tandem login " + cmp.Or(st.Address, st.Listen) + "#" + identity.InviteLine(made.Invite, st.Key)
	}
	s := v.shell("people", "People")
	if made != nil || problem != "" { // what is shown once is not read again
		s.Here = ""
	}
	return v.show(peoplePage(s, out))
}

// everybody reads who is there, and who was invited.
func (v *visit) everybody(out *PeopleView) error {
	out.Like, out.After = strings.TrimSpace(v.query("q")), v.query("after")
	list, err := ask(v, identity.PersonList, identity.PeopleIn{Like: out.Like, After: out.After, Limit: peopleShown})
	if err != nil {
		return err
	}
	for _, h := range list.People {
		out.Rows = append(out.Rows, v.personRow(*h))
	}
	if n := len(list.People); list.More {
		out.Later = "/panel/people?" + url.Values{"q": {out.Like}, "after": {list.People[n-1].Name}}.Encode()
	}
	m, err := v.means()
	if err != nil {
		return err
	}
	out.PIN, out.Passkeys = m.PIN, m.Passkeys
	if out.Groups, out.LaterGroups, err = v.groupRows(); err != nil {
		return err
	}
	if out.Invites, err = v.inviteRows(); err != nil || !out.May {
		return err
	}
	st, err := v.reached()
	out.Near = err == nil && st.Key == ""
	return err
}

// reached is how this server is reached, read once.
func (v *visit) reached() (server.Status, error) {
	if v.status == nil {
		st, err := ask(v, server.ServerStatus, identity.Nothing{})
		if err != nil {
			return st, err
		}
		v.status = &st
	}
	return *v.status, nil
}

// invitesShown is how many invitations the page has that are used or over, the newest first.
const invitesShown = 50

// invitesRead is how many are looked at for that: those are the newest.
const invitesRead = 500

func (v *visit) inviteRows() (out []InviteRow, err error) {
	if !v.has(string(identity.JoinInvites)) {
		return nil, nil
	}
	list, err := ask(v, identity.JoinInvites, identity.PageIn{Limit: invitesRead})
	names := map[string]string{}
	if actors, err := v.actors(); err == nil {
		for _, a := range actors {
			names[a.ID] = a.Name
		}
	}
	over := 0
	for _, i := range list.Invites {
		var came []string
		for _, j := range i.Joined {
			came = append(came, strings.TrimSpace(j.Name+" "+j.From))
		}
		row := InviteRow{ID: i.ID, Person: i.Person, By: told.By(cmp.Or(names[i.CreatedBy], i.CreatedBy)), Joined: strings.Join(came, ", "),
			Used: i.Used, Uses: i.Uses, Until: i.ExpiresAt, Revoked: orZero(i.RevokedAt)}
		if _, state := row.state(v.now()); state != "open" {
			if over++; over > invitesShown {
				continue
			}
		}
		out = append(out, row)
	}
	return out, err
}

// PersonView is one person: the machines that answer for them, and what they may.
type PersonView struct {
	PersonRow
	Now       time.Time
	Machines  []MachineRow
	Grants    []GrantRow
	Later     string // where the grants behind these are shown
	ActorHref string
	Remove    bool
	Revoke    bool
	Lacks     []string
	Own       bool // they can be made an owner
	Disown    bool
	HandOver  bool // the visitor's ownership can be handed over to them
}

// MachineRow is a machine that answers for a person.
type MachineRow struct {
	ID, Machine, Terminal string
	Since, Used, Revoked  time.Time
}

func (v *visit) person() error {
	name := v.r.PathValue("name")
	h, err := ask(v, identity.PersonShow, identity.NameIn{Name: name})
	if err != nil {
		return err
	}
	out := PersonView{PersonRow: v.personRow(h.Human), Now: v.now(), Revoke: v.has(string(identity.DeviceRevoke)),
		Remove: !h.Owner && h.Name != identity.Owner && h.LeftAt == nil && v.has(string(identity.PersonRemove)),
		Own:    !h.Owner && h.LeftAt == nil && v.has(string(book.OwnerAdd)), Disown: h.Owner && v.has(string(book.OwnerRemove))}
	out.HandOver = out.Own && h.Name != v.caller.Name && v.has(string(book.OwnerHandOver))
	for _, d := range h.Machines {
		out.Machines = append(out.Machines, MachineRow{ID: d.ID, Machine: d.Machine, Terminal: d.Terminal, Since: d.CreatedAt,
			Used: orZero(d.UsedAt), Revoked: orZero(d.RevokedAt)})
	}
	if out.Grants, out.Later, err = v.grants("person:"+name, ""); err != nil {
		out.Lacks = append(out.Lacks, "What they may do: "+words(err))
	}
	is, err := ask(v, identity.ActorList, identity.ActorsIn{ID: name})
	if err != nil {
		out.Lacks = append(out.Lacks, "The actor that they are: "+words(err))
	}
	for _, a := range is.Actors {
		if a.Name == name && a.Kind == "person" {
			out.ActorHref = actorHref(a.ID)
		}
	}
	s := v.shell("people", name)
	s.Back = &ui.Crumb{Label: "People", Href: "/panel/people"}
	return v.show(personPage(s, out))
}

// foundPeople are the first of all, whose machines are looked through, too, and those whose names have a word in them.
func (v *visit) foundPeople(query string) (out []Found) {
	if !v.has(string(identity.PersonList)) {
		return nil
	}
	seen := map[string]bool{}
	for _, word := range append(strings.Fields(query), "") {
		list, _ := ask(v, identity.PersonList, identity.PeopleIn{Like: word})
		for _, h := range list.People {
			if !seen[h.Name] {
				seen[h.Name] = true
				out = append(out, Found{"person", "people", h.Name, strings.Join(h.Terminals, " "), personHref(h.Name)})
			}
		}
	}
	return out
}

func stampOrNone(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return ui.Stamp(t)
}
