package panel

import (
	"strconv"

	"tandem/internal/panel/ui"
	"tandem/internal/session/wire"
)

// AsideView is a file that was taken out of a folder.
type AsideView struct {
	wire.Aside
	Facts    []ui.Pair
	PIN      bool
	Passkeys int
	Problem  string
}

func asideHref(id string) string { return "/panel/aside/" + pathEscape(id) }

func asideRoutes(p *Panel) {
	p.get("/panel/aside/{id}", func(v *visit) error { return v.aside(v.r.PathValue("id"), "") })
	input := func(v *visit) (wire.AsideIn, error) { return wire.AsideIn{ID: v.r.PathValue("id")}, nil }
	back := func(said string) func(*visit, wire.AsideIn, *wire.Aside) error {
		return func(v *visit, _ wire.AsideIn, a *wire.Aside) error {
			if a.Session == "" {
				return v.go303("/panel/sessions", said)
			}
			return v.go303(sessionHref(a.Session), said)
		}
	}
	refused := func(v *visit, err error) error { return v.aside(v.r.PathValue("id"), words(err)) }
	perform(p, "/panel/aside/{id}/keep", wire.AsideKeep, input, back("aside-kept"), refused)
	perform(p, "/panel/aside/{id}/discard", wire.AsideDiscard, input, back("aside-discarded"), refused)
}

func (v *visit) aside(id, problem string) error {
	a, err := ask(v, wire.AsideGet, wire.AsideIn{ID: id})
	if err != nil {
		return err
	}
	m, err := v.means()
	if err != nil {
		return err
	}
	out := AsideView{Aside: *a, PIN: m.PIN, Passkeys: m.Passkeys, Problem: problem,
		Facts: []ui.Pair{{Key: "What", Value: a.What}, {Key: "Folder", Value: a.Folder, Mono: true},
			{Key: "File", Value: a.Path, Mono: true}, {Key: "Size", Value: strconv.FormatInt(a.Size, 10) + " bytes"}, {Key: "State", Value: a.State},
			{Key: "Found", Value: ui.Stamp(a.CreatedAt)}}}
	if a.File != "" {
		out.Facts = append(out.Facts, ui.Pair{Key: "Lies at", Value: a.File, Mono: true, Copy: true})
	}
	s := v.shell("sessions", a.Path)
	s.Back = &ui.Crumb{Label: "Sessions", Href: "/panel/sessions"}
	if a.Session != "" {
		s.Back = &ui.Crumb{Label: "Session", Href: sessionHref(a.Session)}
	}
	return v.show(asidePage(s, out))
}
