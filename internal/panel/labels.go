package panel

import (
	"mime"
	"net/url"
	"slices"
	"strings"
	"time"

	"tandem/internal/board/lists"
	"tandem/internal/panel/ui"
	"tandem/internal/space/peer"
)

// labelsText are labels in one field.
func labelsText(labels []string) string { return strings.Join(labels, ", ") }

// labelField are the labels that a field names.
func labelField(v *visit, name string) (out []string) {
	for l := range strings.SplitSeq(v.field(name), ",") {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	return out
}

// relabelled is what came to some labels, and what is gone: what somebody else changed meanwhile stays.
func relabelled(had, has []string) (more, less []string) {
	without := func(of, others []string) []string {
		return slices.DeleteFunc(slices.Clone(of), func(l string) bool { return slices.Contains(others, l) })
	}
	return without(has, had), without(had, has)
}

// labelOptions are the labels that the board can be narrowed to.
func (v BoardView) labelOptions() []ui.Option {
	out := []ui.Option{{Label: "Any label", Chosen: v.Filter.Label == ""}}
	labels := v.Labels
	if v.Filter.Label != "" && !slices.Contains(labels, v.Filter.Label) {
		labels = append([]string{v.Filter.Label}, labels...)
	}
	for _, l := range labels {
		out = append(out, ui.Option{Value: l, Label: l, Chosen: l == v.Filter.Label})
	}
	return out
}

// query is the filter as an address has it.
func (f BoardFilter) query() url.Values {
	q := url.Values{}
	for name, value := range map[string]string{"q": f.Text, "label": f.Label} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

var boardForms = []ui.Option{{Value: string(lists.Markdown), Label: "checklist"}, {Value: string(lists.GitHub), Label: "GitHub issues"},
	{Value: string(lists.Beads), Label: "beads"}}

// saveBoard gives the browser the open tasks as a list that other programs read.
func (v *visit) saveBoard() error {
	form, err := lists.ParseForm(v.r.PathValue("form"))
	if err != nil {
		return noSuchPage
	}
	q := v.r.URL.Query()
	board, err := ask(v, peer.BoardShow, peer.BoardIn{Text: q.Get("q"), Label: q.Get("label")})
	if err != nil {
		return err
	}
	var tasks []lists.Task
	for _, l := range board.Tasks {
		tasks = append(tasks, l.Listed())
	}
	data, err := lists.Write(form, tasks)
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "application/octet-stream")
	v.w.Header().Set("X-Content-Type-Options", "nosniff")
	v.w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": "board" + lists.Forms[form]}))
	_, err = v.w.Write(data)
	return err
}

// taskHistory is what happened to a task, newest first.
func (v *visit) taskHistory(id string) (out []ui.Moment, err error) {
	log, err := ask(v, peer.SpaceActivity, peer.ActivityIn{Task: id, Limit: 100})
	for _, a := range slices.Backward(log.Entries) {
		at, _ := time.Parse(time.RFC3339, a.At) // of this server
		out = append(out, ui.Moment{Tone: ui.Quiet, Icon: "dot", Who: peersWords(a.Actor), Title: a.Action, Detail: peersWords(a.Detail), At: at})
	}
	return out, err
}
