package ui

import (
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"tandem/internal/panel/static"
)

// Shell is what every page has around it.
type Shell struct {
	Title  string     // of the page, before the product's name
	Here   string     // the page's own address, which live parts read again
	Nav    []NavGroup // what the person may go to
	Person string     // who is signed in
	Host   string     // the machine this is
	Build  string     // version of the program
	Alert  int        // asks waiting, shown in the browser's tab
	Back   *Crumb     // where this page belongs, for pages below another
	Keys   []KeyHelp  // the page's own shortcuts, for the help
	Said   string     // what just happened, told once
	From   string     // how far the page has heard when it was made

	Unproven string // why the person was not taken for present: the dialog they were in says it
}

// NavGroup is a titled run of pages; the first has no title.
type NavGroup struct {
	Label string
	Items []NavItem
}

// NavItem leads to a page. Key is its shortcut, typed after one another: "g a".
type NavItem struct {
	ID, Label, Href, Icon, Key string
	Count                      int
	Active                     bool
}

// Crumb is a link upwards.
type Crumb struct{ Label, Href string }

// KeyHelp is a line of the shortcut help.
type KeyHelp struct{ Keys, Does string }

var everywhere = []KeyHelp{
	{"Ctrl K", "Find a page, a thing or an action"},
	{"/", "Search on this page"},
	{"j", "Next row"},
	{"k", "Previous row"},
	{"Enter", "Open the row"},
	{"t", "Light, dark or as the system"},
	{"?", "This help"},
	{"Esc", "Close what is open"},
}

// Live makes an element keep itself current: when the journal names one of the
// topics, the page is read again and this element is morphed to its new self.
// Without an address (a page that answers a form) nothing is read again.
func Live(here, id string, topics ...string) templ.Attributes {
	if here == "" {
		return templ.Attributes{"id": id}
	}
	trigger := ""
	for i, t := range topics {
		if i > 0 {
			trigger += ", "
		}
		trigger += "live-" + t + " from:body throttle:300ms"
	}
	return templ.Attributes{
		"id": id, "data-live-topics": strings.Join(topics, " "), "hx-get": here, "hx-trigger": trigger,
		"hx-select": "#" + id, "hx-target": "this", "hx-swap": "outerMorph",
	}
}

var styles = []string{"tokens.css", "base.css", "shell.css", "parts.css", "pages.css"}

var scripts = []string{"keys.js", "dialog.js", "list.js", "live.js", "small.js", "passkey.js", "sign.js"}

// Asset is the address of a file of the panel, for an island that a page needs.
func Asset(name string) string { return static.URL(name) }

func asset(name string) string { return Asset(name) }

// millis is the time by which a page signs what it does.
func millis() string { return strconv.FormatInt(time.Now().UnixMilli(), 10) }

func unproven(s Shell) templ.Attributes {
	if s.Unproven == "" {
		return nil
	}
	return templ.Attributes{"data-unproven": Plain(s.Unproven)}
}

func tabTitle(s Shell) string {
	t := Plain(s.Title) + " · tandem"
	if s.Alert > 0 {
		t = "(" + itoa(s.Alert) + ") " + t
	}
	return t
}
