package panel

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	server "tandem/internal/server/wire"
	"tandem/internal/settings"

	"tandem/internal/identity"
	"tandem/internal/panel/ui"
)

func systemNav() page {
	return page{id: "system", label: "System", href: "/panel/system", icon: "system", key: "g s", needs: string(server.ServerStatus),
		routes: func(p *Panel) {
			p.get("/panel/system", (*visit).system)
			passkeyRoutes(p)
			confirm(p, identity.SigninEnd, func(id string) identity.BrowserIn { return identity.BrowserIn{ID: id} }, confirmed{
				path: "/panel/browsers/{id}/end", title: "Sign this browser out?", does: "Sign it out",
				back: "/panel/system", said: "browser-gone", nav: "system",
				text: "Its next page asks for a new sign-in link. Do this when you do not know the browser, or have lost the device.",
			})
			confirm(p, identity.RecoveryStop, func(id string) identity.StopIn { return identity.StopIn{ID: id} }, confirmed{
				path: "/panel/recovery/{id}/stop", title: "Stop replacing the PIN?", does: "Stop it",
				back: "/panel/system", said: "recovery-stopped", nav: "system",
				text: "Root of this machine began to replace the PIN. Stop it when nobody forgot it; the PIN stays what it is.",
			})
		}}
}

// Check is one thing that doctor looked at.
type Check struct {
	Name string
	Tone ui.Tone
	Said string
	Mend string
	Href string // where it is mended in the panel
	Does string // what the link says
}

// PasskeyRow is a registered passkey.
type PasskeyRow struct {
	ID      string
	Name    string
	Host    string
	Created time.Time
	LastUse time.Time
}

// browserName is what a person calls a browser; browsers write long lines about themselves,
// in which the maker's other names come first.
func browserName(b *identity.Browser) string {
	product, system := "A browser", ""
	for _, p := range []string{"Firefox", "Edg", "OPR", "Chrome", "Safari"} {
		if strings.Contains(b.Agent, p+"/") {
			product = map[string]string{"Edg": "Edge", "OPR": "Opera"}[p]
			if product == "" {
				product = p
			}
			break
		}
	}
	for _, s := range [][2]string{{"Android", "Android"}, {"iPhone", "an iPhone"}, {"iPad", "an iPad"}, {"Mac OS X", "a Mac"},
		{"Windows", "Windows"}, {"Linux", "Linux"}} {
		if strings.Contains(b.Agent, s[0]) {
			system = " on " + s[1]
			break
		}
	}
	return product + system
}

// SystemView is the server itself.
type SystemView struct {
	Now      time.Time
	Status   []ui.Pair
	Storage  []ui.Pair
	Checks   []Check
	Settings []settings.Value
	Passkeys []PasskeyRow
	Browsers []*identity.Browser
}

func (c Check) word() string {
	switch c.Tone {
	case ui.Good:
		return "fine"
	case ui.Warn:
		return "look"
	case ui.Bad:
		return "broken"
	}
	return "note"
}

// uptime is written as status on the command line writes it: 2h 15m.
func uptime(secs int64) string {
	if secs < 60 {
		return fmt.Sprintf("%ds", secs)
	}
	if secs < 3600 {
		return fmt.Sprintf("%dm", secs/60)
	}
	if secs < 48*3600 {
		return fmt.Sprintf("%dh %dm", secs/3600, secs%3600/60)
	}
	return fmt.Sprintf("%dd %dh", secs/86400, secs%86400/3600)
}

func statusPairs(s server.Status) []ui.Pair {
	return []ui.Pair{
		{Key: "Address", Value: s.Panel, Mono: true, Copy: true},
		{Key: "Version", Value: s.Version},
		{Key: "Up for", Value: uptime(s.Uptime)},
		{Key: "Process", Value: strconv.Itoa(s.PID), Mono: true},
		{Key: "Listens on", Value: strings.Join(s.Listens, ", "), Mono: true},
		{Key: "Repositories", Value: strings.Join(s.Repos, ", "), Mono: true},
	}
}

// statusChecks are what a person should know about the house, the bad news first.
func statusChecks(s server.Status, passkeys int) []Check {
	var out []Check
	switch {
	case !s.PIN:
		out = append(out, Check{Name: "Deciding is off", Tone: ui.Warn,
			Said: "No PIN is set, so nobody can be told from a program that runs as you.", Mend: "On a terminal: tandem pin set"})
	case passkeys == 0:
		out = append(out, Check{Name: "Passkey", Tone: ui.Quiet, Said: "None is registered here; decisions take the PIN.",
			Mend: "Register one below."})
	default:
		out = append(out, Check{Name: "Presence", Tone: ui.Good,
			Said: "A PIN and " + plural(passkeys, "passkey", "passkeys") + " prove that you are you."})
	}
	switch s.Sandbox {
	case "seatbelt":
		out = append(out, Check{Name: "Sandbox", Tone: ui.Quiet,
			Said: "Commands of sessions run under Seatbelt, by a profile that nobody has tried on a Mac yet."})
	case "landlock":
		out = append(out, Check{Name: "Sandbox", Tone: ui.Quiet,
			Said: "Commands of sessions run under Landlock; where files may hold keys they ask first, because these cannot be hidden.",
			Mend: "Install bubblewrap, then: tandem up --replace"})
	case "none":
		out = append(out, Check{Name: "No sandbox", Tone: ui.Warn, Said: "Commands of sessions do not run.",
			Mend: "Install bubblewrap, or for one session: tandem grant unconfined SESSION"})
	}
	return append(out, Check{Name: "Journal", Tone: ui.Good, Said: ui.Count(s.Events) + " entries are recorded."},
		Check{Name: "Server", Tone: ui.Good, Said: "It has answered for " + uptime(s.Uptime) + "."})
}

// recovery is what a person should know about a forgotten PIN: that somebody is replacing it, or that nobody could.
func (v *visit) recovery() (out []Check, err error) {
	if !v.has(string(identity.RecoveryShow)) {
		return nil, nil
	}
	r, err := ask(v, identity.RecoveryShow, identity.Nothing{})
	if err != nil {
		return nil, err
	}
	if p := r.Pending; p != nil {
		out = append(out, Check{Name: "Root of this machine began to replace the PIN", Tone: ui.Bad,
			Said: "From " + p.DueAt.UTC().Format("2 January 2006, 15:04") + " UTC on it can be set anew.",
			Mend: "Stop it if nobody forgot it.", Href: "/panel/recovery/" + pathEscape(p.ID) + "/stop", Does: "Stop it"})
	}
	if r.PIN && r.Codes == 0 {
		out = append(out, Check{Name: "No recovery codes", Tone: ui.Quiet, Said: "They set a new PIN on the day when you forget it.",
			Mend: "On a terminal: tandem recover codes"})
	}
	return out, nil
}

func (v *visit) system() error {
	st, err := ask(v, server.ServerStatus, identity.Nothing{})
	if err != nil {
		return err
	}
	set, err := ask(v, server.ServerSettings, identity.Nothing{})
	if err != nil {
		return err
	}
	keys, err := v.passkeys()
	if err != nil {
		return err
	}
	signed, err := ask(v, identity.SigninList, identity.BrowsersIn{})
	if err != nil {
		return err
	}
	out := SystemView{Now: v.now(), Browsers: signed.Browsers, Status: statusPairs(st), Settings: set.Settings,
		Checks: statusChecks(st, len(keys)),
		Storage: []ui.Pair{{Key: "Database", Value: st.Database}, {Key: "Data folder", Value: st.Data, Mono: true},
			{Key: "Journal", Value: ui.Count(st.Events) + " entries"}}}
	recovery, err := v.recovery()
	if err != nil {
		return err
	}
	out.Checks = append(recovery, out.Checks...)
	for _, k := range keys {
		out.Passkeys = append(out.Passkeys, PasskeyRow{ID: k.ID, Name: k.Name, Host: k.Host, Created: k.CreatedAt, LastUse: orZero(k.UsedAt)})
	}
	return v.show(systemPage(v.shell("system", "System"), out))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
