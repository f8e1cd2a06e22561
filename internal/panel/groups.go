package panel

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tandem/internal/panel/ui"
	"tandem/internal/policy/book"
)

func groupRoutes(p *Panel) {
	again := func(v *visit, err error) error { return v.people(nil, words(err)) }
	form(p, "/panel/groups", book.GroupAdd, "/panel/people", "group-changed", groupInput, again)
	form(p, "/panel/groups/out", book.GroupRemove, "/panel/people", "group-changed", groupInput, again)
	confirm(p, book.GroupRemove, func(id string) book.GroupIn { return book.GroupIn{Name: id} }, confirmed{
		path: "/panel/groups/{id}/remove", title: "Take this group away?",
		text: "Nobody is in it any more. A group that a grant, a rule or another group names cannot be taken away.",
		does: "Take away", back: "/panel/people", said: "group-gone", nav: "people"})
}

func groupInput(v *visit) (book.GroupIn, error) {
	return book.GroupIn{Name: strings.TrimSpace(v.r.PostFormValue("group")),
		Members: strings.FieldsFunc(v.r.PostFormValue("members"), func(r rune) bool { return r == ' ' || r == ',' })}, nil
}

// GroupRow is a group in a list.
type GroupRow struct {
	Name    string
	Members []string
	People  []string
	Owners  bool // changed on the pages of people, and always there
}

// peopleShown and groupsShown are how many a page has.
const peopleShown, groupsShown = 100, 50

func (v *visit) groupRows() (rows []GroupRow, later string, err error) {
	if !v.has(string(book.GroupList)) {
		return nil, "", nil
	}
	out, err := ask(v, book.GroupList, book.GroupsIn{After: v.query("group"), Limit: groupsShown})
	for _, g := range out.Groups {
		rows = append(rows, GroupRow{g.Name, few(g.Members), few(g.People), g.Name == book.Owners})
	}
	if n := len(out.Groups); out.More {
		later = "/panel/people?" + url.Values{"group": {out.Groups[n-1].Name}}.Encode()
	}
	return rows, later, err
}

// few are the first of many names, and how many there are.
func few(names []string) []string {
	const most = 30
	if len(names) <= most {
		return names
	}
	return append(slices.Clone(names[:most]), "and "+strconv.Itoa(len(names)-most)+" more")
}

// groupDialogs are the forms that change a group.
var groupDialogs = []struct{ id, title, action, about, does string }{
	{"group-add", "Put somebody into a group", "/panel/groups", "A group that is not there yet is made.", "Put in"},
	{"group-out", "Take somebody out of a group", "/panel/groups/out", "A group without members is gone.", "Take out"},
}

var groupColumns = []ui.Column{{Label: "Group", Wide: true}, {Label: "Everybody in it", Aside: true}, {Label: ""}}
