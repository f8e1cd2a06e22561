package panel

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/panel/ui"
)

func actorsNav() page {
	return page{id: "actors", label: "Actors and tokens", href: "/panel/actors", icon: "actors", key: "g c", needs: string(identity.ActorList),
		routes: func(p *Panel) {
			p.get("/panel/actors", func(v *visit) error { return v.actorList("", "") })
			p.get("/panel/actors/{id}", (*visit).actor)
			again := func(v *visit, err error) error { return v.actorList("", words(err)) }
			perform(p, "/panel/tokens", identity.TokenNew, mintInput, func(v *visit, _ identity.MintIn, minted identity.MintOut) error {
				return v.actorList(minted.Secret, "")
			}, again)
			form(p, "/panel/actors", identity.ActorAdd, "/panel/actors", "added", func(v *visit) (identity.AddIn, error) {
				return identity.AddIn{Name: v.r.PostFormValue("name"), Kind: op.Kind(v.r.PostFormValue("kind"))}, nil
			}, again)
			confirm(p, identity.ActorDisable, func(id string) identity.NameIn { return identity.NameIn{Name: id} }, confirmed{
				path: "/panel/actors/{id}/disable", title: "Disable this actor?", does: "Disable", back: "/panel/actors", said: "disabled",
				nav:  "actors",
				text: "It and everybody who acts for it are refused from now on; their tokens stop working at once."})
			confirm(p, identity.TokenRevoke, func(id string) identity.TokenIn { return identity.TokenIn{ID: id} }, confirmed{
				path: "/panel/tokens/{id}/revoke", title: "Revoke this token?", does: "Revoke", back: "/panel/actors", said: "revoked", nav: "actors",
				text: "The next call with it is refused. This cannot be undone."})
		}}
}

// ActorRow is somebody who acts here.
type ActorRow struct {
	ID       string
	Name     string
	Kind     string // person, agent, session, service
	For      string // whom they act for
	State    string // active, suspended
	LastSeen time.Time
	Created  time.Time
}

// TokenRow is a credential, without its secret.
type TokenRow struct {
	ID      string
	Label   string
	Actor   string
	Decides bool
	Expires time.Time
	LastUse time.Time
	Revoked bool
}

// ActorsView is everybody who acts here, and the tokens they use.
type ActorsView struct {
	Now      time.Time
	Actors   []ActorRow
	Tokens   []TokenRow
	Holders  []string // for whom a token can be made
	Later    string   // the last of these actors, when others are behind it
	Minted   string   // a token just made, shown this once
	Problem  string
	PIN      bool
	Passkeys int

	LaterTokens       string // the last of these tokens, likewise
	After, AfterToken string // which actor and which token this page is behind
}

// ActorView is one actor, with what they may see and do.
type ActorView struct {
	ActorRow
	Now    time.Time
	Chain  []string
	Grants []GrantRow
	Later  string // where the grants behind these are shown
	Tokens []TokenRow
	Sees   []string // operations that exist for this actor
	Hidden int      // operations that do not
	Recent []ui.Moment
}

func actorHref(id string) string { return "/panel/actors/" + url.PathEscape(id) }

func tokenState(now time.Time, t TokenRow) (ui.Tone, string) {
	switch {
	case t.Revoked:
		return ui.Quiet, "revoked"
	case !t.Expires.IsZero() && !t.Expires.After(now):
		return ui.Quiet, "expired"
	}
	return ui.Good, "valid"
}

func actorTone(state string) ui.Tone {
	if state == "active" {
		return ui.Good
	}
	return ui.Quiet
}

// actors are all of them, read a page after the other.
func (v *visit) actors() (all []*identity.Actor, err error) {
	for in := (identity.ActorsIn{Limit: 1000}); ; {
		out, err := ask(v, identity.ActorList, in)
		if err != nil {
			return nil, err
		}
		if all = append(all, out.Actors...); !out.More {
			return all, nil
		}
		in.After = all[len(all)-1].Name
	}
}

// tokens are a page of them, and the place of the next one.
func (v *visit) tokens(in identity.TokensIn) (rows []TokenRow, next string, err error) {
	out, err := ask(v, identity.TokenList, in)
	for _, t := range out.Tokens {
		rows = append(rows, TokenRow{ID: t.ID, Label: t.Label, Actor: t.Actor, Decides: t.Decides, Expires: orZero(t.ExpiresAt),
			LastUse: orZero(t.UsedAt), Revoked: t.RevokedAt != nil})
		if next = ""; out.More {
			next = t.ID
		}
	}
	return rows, next, err
}

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// actorRows are a page of actors with when they last acted, and the place of the next one.
func (v *visit) actorRows(in identity.ActorsIn) (rows []ActorRow, next string, err error) {
	list, err := ask(v, identity.ActorList, in)
	if err != nil {
		return nil, "", err
	}
	seen := map[string]time.Time{}
	if v.has(string(journal.AuditLog)) {
		log, err := ask(v, journal.AuditLog, journal.LogIn{Newest: true, Limit: 1000})
		if err != nil {
			return nil, "", err
		}
		for _, e := range log.Entries {
			if seen[e.Actor].Before(e.Time) {
				seen[e.Actor] = e.Time
			}
		}
	}
	for _, a := range list.Actors {
		state := "active"
		if a.DisabledAt != nil {
			state = "disabled"
		}
		rows = append(rows, ActorRow{ID: a.ID, Name: a.Name, Kind: string(a.Kind), For: a.ForName, State: state, LastSeen: seen[a.Name],
			Created: a.CreatedAt})
		if list.More {
			next = a.Name
		}
	}
	return rows, next, nil
}

// actorsShown is how many actors, and how many tokens, a page has.
const actorsShown = 200

// nextActors and nextTokens lead to the next page of one list, with the other as it is.
func (a ActorsView) nextActors() string { return actorsHref(a.Later, a.AfterToken) }
func (a ActorsView) nextTokens() string { return actorsHref(a.After, a.LaterTokens) }

func actorsHref(after, token string) string {
	q := url.Values{}
	for name, at := range map[string]string{"after": after, "tokens": token} {
		if at != "" {
			q.Set(name, at)
		}
	}
	return "/panel/actors?" + q.Encode()
}

func (v *visit) actorList(minted, problem string) error {
	m, err := v.means()
	if err != nil {
		return err
	}
	out := ActorsView{Now: v.now(), Minted: minted, Problem: problem, PIN: m.PIN, Passkeys: m.Passkeys}
	out.After, out.AfterToken = v.query("after"), v.query("tokens")
	if out.Actors, out.Later, err = v.actorRows(identity.ActorsIn{After: out.After, Limit: actorsShown}); err != nil {
		return err
	}
	if out.Tokens, out.LaterTokens, err = v.tokens(identity.TokensIn{After: out.AfterToken, Limit: actorsShown}); err != nil {
		return err
	}
	for _, a := range out.Actors {
		if a.Kind != "local" && a.Kind != "session" && a.State == "active" {
			out.Holders = append(out.Holders, a.Name)
		}
	}
	s := v.shell("actors", "Actors and tokens")
	s.Here = v.r.URL.RequestURI()
	if v.r.Method != http.MethodGet {
		s.Here = "/panel/actors"
	}
	if minted != "" {
		s.Here = "" // shown this once: the page must not replace itself
	}
	return v.show(actorsPage(s, out))
}

func mintInput(v *visit) (identity.MintIn, error) {
	ttl, err := strconv.ParseInt(v.r.PostFormValue("expires"), 10, 64)
	if err != nil || ttl < 1 {
		return identity.MintIn{}, fault.New(fault.Invalid, string(identity.TokenNew), "choose when the token ends")
	}
	return identity.MintIn{Actor: v.r.PostFormValue("actor"), Label: v.r.PostFormValue("label"), TTL: ttl}, nil
}

// actor shows one actor: what it may, what it holds, what it did.
func (v *visit) actor() error {
	rows, _, err := v.actorRows(identity.ActorsIn{ID: v.r.PathValue("id")})
	if err != nil {
		return err
	}
	for _, a := range rows {
		if a.ID != v.r.PathValue("id") {
			continue
		}
		out := ActorView{ActorRow: a, Now: v.now()}
		if a.For != "" {
			out.Chain = []string{a.For}
		}
		if out.Tokens, _, err = v.tokens(identity.TokensIn{Actor: a.Name}); err != nil {
			return err
		}
		if out.Grants, out.Later, err = v.grants(a.Kind+":"+a.Name, ""); err != nil {
			return err
		}
		if out.Sees, out.Hidden, err = v.sees(a.Name); err != nil {
			return err
		}
		if v.has(string(journal.AuditLog)) {
			log, err := ask(v, journal.AuditLog, journal.LogIn{Actor: a.Name, Newest: true, Limit: 12})
			if err != nil {
				return err
			}
			for _, e := range log.Entries {
				m := v.moment(&e)
				m.Who = ""
				out.Recent = append(out.Recent, m)
			}
		}
		s := v.shell("actors", a.Name)
		s.Back = &ui.Crumb{Label: "Actors and tokens", Href: "/panel/actors"}
		return v.show(actorPage(s, out))
	}
	return noSuchPage
}

func join(s []string) string { return strings.Join(s, ", ") }
