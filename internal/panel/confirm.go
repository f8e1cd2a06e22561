package panel

import (
	"strings"

	"github.com/a-h/templ"

	"tandem/internal/op"
	"tandem/internal/panel/ui"
)

// confirmed is an act on one thing, asked about on a page of its own: what it
// does, and a proof of presence where the operation needs one.
type confirmed struct {
	path  string // with {id}
	title string
	text  string
	does  string // the button
	back  string
	asks  bool // a link may say which page below back it goes back to
	said  string
	nav   string
}

// ConfirmView is the page that asks.
type ConfirmView struct {
	Title, Text, Does, Subject string
	Variant                    string // of the button: danger when left out
	Action, Back               string
	Present                    bool
	PIN                        bool
	Passkeys                   int
	Problem                    string
	Fields                     []Hidden
	Shown                      templ.Component // what it is about, as it is now
	Typed                      string          // the label of a field into which the name is typed once more; "" for none
}

// Hidden is a field of the form that a person has filled in already.
type Hidden struct{ Name, Value string }

func confirm[In, Out any](p *Panel, d op.Def[In, Out], input func(id string) In, c confirmed) {
	ask := func(v *visit, problem string) error {
		m, err := v.means()
		if err != nil {
			return err
		}
		o := v.p.Gate.Table().Get(string(d))
		if o == nil {
			return noSuchPage
		}
		id := v.r.PathValue("id")
		s := v.shell(c.nav, c.title)
		view := ConfirmView{Title: c.title, Text: c.text, Does: c.does, Subject: id,
			Action: strings.ReplaceAll(c.path, "{id}", pathEscape(id)), Back: c.backFrom(v),
			Present: o.Present, PIN: m.PIN, Passkeys: m.Passkeys, Problem: problem}
		s.Back = &ui.Crumb{Label: "Back", Href: view.Back}
		if view.Back != c.back {
			view.Fields = []Hidden{{"back", view.Back}}
		}
		return v.show(confirmPage(s, view))
	}
	p.get(c.path, func(v *visit) error { return ask(v, "") })
	perform(p, c.path, d, func(v *visit) (In, error) { return input(v.r.PathValue("id")), nil },
		func(v *visit, _ In, _ Out) error { return v.go303(c.backFrom(v), c.said) },
		func(v *visit, err error) error { return ask(v, words(err)) })
}

// backFrom is the page that the question was asked from. A link cannot lead elsewhere than below the usual one.
func (c confirmed) backFrom(v *visit) string {
	if from := v.r.FormValue("back"); c.asks && strings.HasPrefix(from, c.back+"/") {
		return from
	}
	return c.back
}

func (c ConfirmView) variant() string {
	if c.Variant == "primary" {
		return c.Variant
	}
	return "danger"
}

// confirms shows a page that asks for presence, for one call.
func (v *visit) confirms(nav string, view ConfirmView) error {
	m, err := v.means()
	if err != nil {
		return err
	}
	view.Present, view.PIN, view.Passkeys = true, m.PIN, m.Passkeys
	s := v.shell(nav, view.Title)
	s.Back = &ui.Crumb{Label: "Back", Href: view.Back}
	return v.show(confirmPage(s, view))
}
