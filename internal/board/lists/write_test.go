package lists

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Whatever a board holds, what is open of it comes back from each form as it was: with its words, priorities, labels and what it waits for.
func TestAListComesBack(t *testing.T) {
	odd := []string{"", "- [ ] a box", "  T-abcdef · high", "> quoted", "Depends on #1", "<!-- tandem -->", "# Head", "a\n\nb", "\n", "ä → b",
		"priority: low", "blocked by #2", "| · labels: x"}
	word := rapid.OneOf(rapid.SampledFrom(odd), rapid.StringMatching(`[a-zA-Z0-9 #:;·()"<>&*_-]{0,20}`))
	line := func(rt *rapid.T, what string) string {
		return strings.Join(strings.Fields(word.Draw(rt, what)+" x"+word.Draw(rt, what)), " ")
	}
	rapid.Check(t, func(rt *rapid.T) {
		var board []Task
		for n := range rapid.IntRange(1, 12).Draw(rt, "tasks") {
			task := Task{Ref: fmt.Sprintf("T-%06x", 0xabcd00+n), Title: line(rt, "title"), Priority: rapid.SampledFrom(priorities).Draw(rt, "prio"),
				State: rapid.SampledFrom([]string{"open", "blocked", "claimed", "in_progress", "done", "cancelled"}).Draw(rt, "state")}
			for range rapid.IntRange(0, 3).Draw(rt, "lines") {
				task.Description += word.Draw(rt, "said") + "\n"
			}
			for range rapid.IntRange(0, 3).Draw(rt, "labels") {
				l := strings.ReplaceAll(line(rt, "label"), ",", "")
				if !slices.Contains(task.Labels, l) {
					task.Labels = append(task.Labels, l)
				}
			}
			if n > 0 && rapid.Bool().Draw(rt, "part") {
				task.Parent = board[rapid.IntRange(0, n-1).Draw(rt, "of")].Ref
			}
			for before := range n {
				if rapid.IntRange(0, 3).Draw(rt, "waits") == 0 {
					task.After = append(task.After, board[before].Ref)
				}
			}
			board = append(board, task)
		}
		open := 0
		for _, task := range board {
			if !task.ended() {
				open++
			}
		}
		for form := range Forms {
			data, err := Write(form, board)
			if err != nil {
				rt.Fatalf("%s: %v", form, err)
			}
			back, err := Read(data)
			if open == 0 {
				if err == nil {
					rt.Fatalf("%s: nothing was open, and %v came back", form, back)
				}
				continue
			}
			if err != nil || len(back) != open {
				rt.Fatalf("%s: %d of %d came back: %v\n%s", form, len(back), open, err, data)
			}
			same(rt, form, board, back, data)
		}
	})
}

// same holds what came back against what was open, in the order in which it was written.
func same(rt *rapid.T, form Form, board, back []Task, data []byte) {
	name := map[string]string{} // what it is called there → its id
	at := 0
	for _, was := range board {
		if was.ended() {
			continue
		}
		is := back[at]
		at++
		name[is.Ref] = was.Ref
		var needs []string
		for _, n := range is.After {
			needs = append(needs, name[n])
		}
		var left []string // what is done holds nothing up
		for _, n := range was.After {
			if slices.ContainsFunc(board, func(o Task) bool { return o.Ref == n && !o.ended() }) {
				left = append(left, n)
			}
		}
		whole := was.Parent
		if !slices.ContainsFunc(board, func(o Task) bool { return o.Ref == whole && !o.ended() }) {
			whole = ""
		}
		got := Task{was.Ref, is.Title, is.Description, is.Priority, is.Labels, needs, name[is.Parent], "", was.Made, was.Changed}
		wanted := Task{was.Ref, was.Title, was.Description, was.Priority, was.Labels, left, whole, "", was.Made, was.Changed}
		if !reflect.DeepEqual(got, wanted) {
			rt.Fatalf("%s:\n%+v\nwas\n%+v\nin\n%s", form, got, wanted, data)
		}
	}
}
