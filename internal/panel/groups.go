package panel

import (
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

func (v *visit) groupRows() (rows []GroupRow, err error) {
	if !v.has(string(book.GroupList)) {
		return nil, nil
	}
	out, err := ask(v, book.GroupList, book.Nothing{})
	for _, g := range out.Groups {
		rows = append(rows, GroupRow{g.Name, g.Members, g.People, g.Name == book.Owners})
	}
	return rows, err
}

// groupDialogs are the forms that change a group.
var groupDialogs = []struct{ id, title, action, about, does string }{
	{"group-add", "Put somebody into a group", "/panel/groups", "A group that is not there yet is made.", "Put in"},
	{"group-out", "Take somebody out of a group", "/panel/groups/out", "A group without members is gone.", "Take out"},
}

var groupColumns = []ui.Column{{Label: "Group", Wide: true}, {Label: "Everybody in it", Aside: true}, {Label: ""}}
