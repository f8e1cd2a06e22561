package panel

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/panel/ui"
)

func tenantsNav() page {
	return page{id: "tenants", label: "Tenants", href: "/panel/tenants", icon: "spaces", key: "g x", needs: string(identity.TenantCreate),
		routes: tenantRoutes}
}

func tenantRoutes(p *Panel) {
	p.get("/panel/tenants", func(v *visit) error { return v.tenants(nil, nil, "") })
	perform(p, "/panel/tenants", identity.TenantCreate, tenantInput,
		func(v *visit, _ identity.TenantIn, made identity.TenantOut) error { return v.tenants(&made, nil, "") },
		func(v *visit, err error) error { return v.tenants(nil, nil, words(err)) })
	perform(p, "/panel/tenants/import", identity.TenantImport, arrivalInput,
		func(v *visit, _ identity.ImportIn, came identity.ImportOut) error { return v.tenants(nil, &came, "") },
		func(v *visit, err error) error { return v.tenants(nil, nil, words(err)) })
	form(p, "/panel/tenants/limit", identity.TenantLimit, "/panel/tenants", "tenant-limited", limitInput,
		func(v *visit, err error) error { return v.tenants(nil, nil, words(err)) })
	confirm(p, identity.TenantSuspend, func(id string) identity.SuspendIn { return identity.SuspendIn{Name: id} }, confirmed{
		path: "/panel/tenants/{id}/suspend", title: "Suspend this tenant?",
		text: "Nothing of it passes until it is resumed: no token, no machine of its people, no session, no timer. Nothing of it is lost.",
		does: "Suspend", back: "/panel/tenants", said: "tenant-suspended", nav: "tenants"})
	confirm(p, identity.TenantResume, func(id string) identity.TenantRef { return identity.TenantRef{Name: id} }, confirmed{
		path: "/panel/tenants/{id}/resume", title: "Resume this tenant?",
		text: "What let its people and agents in does so again.",
		does: "Resume", back: "/panel/tenants", said: "tenant-resumed", nav: "tenants"})
	p.get("/panel/tenants/{id}/erase", func(v *visit) error { return v.eraseTenant("") })
	perform(p, "/panel/tenants/{id}/erase", identity.TenantErase, func(v *visit) (identity.EraseIn, error) {
		return identity.EraseIn{Name: v.r.PathValue("id"), Confirm: v.field("confirm")}, nil
	}, func(v *visit, _ identity.EraseIn, _ identity.EraseOut) error {
		return v.go303("/panel/tenants", "tenant-erased")
	},
		func(v *visit, err error) error { return v.eraseTenant(words(err)) })
}

// eraseTenant asks whether a tenant shall go for good, and shows what goes with it.
func (v *visit) eraseTenant(problem string) error {
	name := v.r.PathValue("id")
	has, err := ask(v, identity.TenantContent, identity.TenantRef{Name: name})
	if err != nil {
		return err
	}
	return v.confirms("tenants", ConfirmView{Title: "Erase this tenant for good?", Subject: has.Name, Does: "Erase for good",
		Text:   "Everything that it has on this server goes. Nobody can bring it back.",
		Action: "/panel/tenants/" + pathEscape(name) + "/erase", Back: "/panel/tenants", Problem: problem,
		Typed: "Type its name to erase it", Shown: tenantContents(has.Contents)})
}

func tenantInput(v *visit) (identity.TenantIn, error) {
	in := identity.TenantIn{Name: strings.TrimSpace(v.r.PostFormValue("name")), Owner: strings.TrimSpace(v.r.PostFormValue("owner"))}
	_, err := v.reached() // without it the owner's line could not be shown, and it is shown once
	return in, err
}

func arrivalInput(v *visit) (identity.ImportIn, error) {
	return identity.ImportIn{Path: v.field("file"), Name: v.field("as"), Digest: strings.ToLower(v.field("digest")),
		Passphrase: v.r.PostFormValue("passphrase")}, nil
}

func limitInput(v *visit) (in identity.TenantLimitIn, err error) {
	in.Name = v.field("tenant")
	if money := v.field("money"); money != "" {
		cents, err := identity.ParseMoney(money)
		if err != nil {
			return in, err
		}
		if in.Cents = &cents; cents > 0 {
			in.Period = v.field("period")
		}
	}
	if text := v.field("sessions"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return in, fault.New(fault.Invalid, string(identity.TenantLimit), "%.40q is no number of sessions", text)
		}
		in.Sessions = &n
	}
	if text := v.field("storage"); text != "" {
		n, err := identity.ParseStorage(text)
		if err != nil {
			return in, err
		}
		in.Bytes = &n
	}
	return in, nil
}

// used says what a tenant used of its limits; nothing where there is none.
func used(t *identity.Tenant) string {
	if t.Use == nil {
		return ""
	}
	var out []string
	if l := t.Limits; l.Cents > 0 {
		said := identity.Money(t.Use.Cost/identity.NanoOfCent) + " of " + identity.Money(l.Cents)
		if l.Period != "ever" {
			said += " this " + l.Period
		}
		out = append(out, said)
	}
	if n := t.Limits.Sessions; n > 0 {
		out = append(out, fmt.Sprintf("%d of %d sessions", t.Use.Sessions, n))
	}
	if n := t.Limits.Bytes; n > 0 {
		out = append(out, identity.Storage(t.Use.Bytes)+" of "+identity.Storage(n))
	}
	return strings.Join(out, ", ")
}

// TenantRow is a tenant in a list.
type TenantRow struct {
	Name, Reason   string
	Used           string // of its limits, in words
	Own, Suspended bool
	Going          bool // it is being erased
	People, Actors int64
	Since, Changed time.Time
}

// TenantsView is every tenant of this server.
type TenantsView struct {
	Now      time.Time
	Rows     []TenantRow
	For      string // the owner of the tenant that was made
	Later    string // where the tenants behind these are shown
	Made     string // its name
	Line     string // what the owner types, shown this once
	PIN      bool
	Passkeys int
	Problem  string
	Kept     url.Values // a tenant that was refused
	Limit    url.Values // limits that were refused
	Take     url.Values // a file that was refused
	Came     *identity.ImportOut
}

// tenantsShown is how many tenants a page has.
const tenantsShown = 200

func (v *visit) tenants(made *identity.TenantOut, came *identity.ImportOut, problem string) error {
	out := TenantsView{Now: v.now(), Problem: problem, Came: came, Kept: v.refilled("/panel/tenants"),
		Take:  v.refilled("/panel/tenants/import"),
		Limit: v.refilled("/panel/tenants/limit")}
	list, err := ask(v, identity.TenantList, identity.PageIn{After: v.query("after"), Limit: tenantsShown})
	if err != nil {
		return err
	}
	if n := len(list.Tenants); list.More {
		out.Later = "/panel/tenants?" + url.Values{"after": {list.Tenants[n-1].ID}}.Encode()
	}
	for _, t := range list.Tenants {
		row := TenantRow{Name: t.Name, Reason: t.Reason, Own: t.Own, Suspended: t.State == identity.TenantSuspended, People: t.People,
			Going:  t.State == identity.TenantErasing,
			Actors: t.Actors, Used: used(t), Since: t.CreatedAt, Changed: orZero(t.ChangedAt)}
		out.Rows = append(out.Rows, row)
	}
	m, err := v.means()
	if err != nil {
		return err
	}
	out.PIN, out.Passkeys = m.PIN, m.Passkeys
	s := v.shell("tenants", "Tenants")
	if made != nil {
		st, err := v.reached()
		if err != nil {
			return err
		}
		out.Kept, out.For, out.Made = nil, made.Invite.Person, made.Name
		out.Line = "tandem login " + cmp.Or(st.Address, st.Listen) + "#" + identity.InviteLine(made.Invite.Invite, st.Key)
	}
	if made != nil || came != nil || problem != "" { // what is shown once is not read again
		s.Here = ""
	}
	return v.show(tenantsPage(s, out))
}

// others are the tenants that are not the house's own, to choose from.
func (v TenantsView) others() (out []ui.Option) {
	for _, r := range v.Rows {
		if !r.Own {
			out = append(out, ui.Option{Value: r.Name, Label: r.Name, Chosen: r.Name == v.Limit.Get("tenant")})
		}
	}
	return out
}

// periods are what money is limited for.
func (v TenantsView) periods() (out []ui.Option) {
	for _, p := range [][2]string{{"ever", "Ever"}, {"month", "A month"}, {"day", "A day"}} {
		out = append(out, ui.Option{Value: p[0], Label: p[1], Chosen: p[0] == v.Limit.Get("period")})
	}
	return out
}

// arrivalPairs are what a tenant from another server brings.
func arrivalPairs(c *identity.ImportOut) []ui.Pair {
	var ended []string
	for what, n := range c.Ended {
		ended = append(ended, fmt.Sprintf("%d %s", n, what))
	}
	slices.Sort(ended)
	out := []ui.Pair{{Key: "Records", Value: ui.Count(c.Records)}, {Key: "SHA-256 of the file", Value: c.Digest}}
	if len(ended) > 0 {
		out = append(out, ui.Pair{Key: "Ended, and not done again here", Value: strings.Join(ended, ", ")})
	}
	if len(c.Doubt) > 0 {
		out = append(out, ui.Pair{Key: "Does not count", Value: strings.Join(c.Doubt, ", ")})
	}
	return out
}

// contentPairs counts what a tenant has, the most first.
func contentPairs(c identity.TenantContents) (out []ui.Pair) {
	rows := slices.Clone(c.Rows)
	slices.SortStableFunc(rows, func(a, b identity.ContentRows) int { return cmp.Compare(b.Rows, a.Rows) })
	for _, r := range rows {
		out = append(out, ui.Pair{Key: r.Of, Value: ui.Count(r.Rows)})
	}
	return append(out, ui.Pair{Key: "Records together", Value: ui.Count(c.Records)},
		ui.Pair{Key: "Files and folders", Value: ui.Count(c.Files)})
}
