package panel

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tandem/internal/team/wire"
)

// A drawing holds everything that it draws, says what it leaves out, and its lines begin at the right of one box and end at the left of
// another, whatever stands between them.
func TestADrawingHoldsWhatItDraws(t *testing.T) {
	team := &wire.Team{}
	for i := range mostDrawn + 5 {
		item := wire.Item{Name: "t" + strconv.Itoa(i), Text: "do it\nwith care"}
		switch {
		case i%10 == 9:
			item.After = []string{"t" + strconv.Itoa(i-9), "t" + strconv.Itoa(i-1)}
		case i%10 > 0:
			item.After = []string{"t" + strconv.Itoa(i-1)}
		}
		team.Tasks = append(team.Tasks, &wire.Task{Item: item, Stage: wire.Waits})
	}
	d := planDrawing(team)
	if len(d.Boxes) != mostDrawn || d.More != 5 || len(d.Lines) != mostDrawn/10*10 {
		t.Errorf("%d boxes, %d lines, %d more", len(d.Boxes), len(d.Lines), d.More)
	}
	left, right := map[string]bool{}, map[string]bool{}
	for _, b := range d.Boxes {
		if b.X+boxWidth > d.Width || b.Y+boxHeight > d.Height || b.Title != "do it" {
			t.Errorf("%+v is outside of %d × %d", b, d.Width, d.Height)
		}
		middle := " " + strconv.Itoa(b.Y+boxHeight/2)
		left[strconv.Itoa(b.X)+middle], right[strconv.Itoa(b.X+boxWidth)+middle] = true, true
	}
	ends := regexp.MustCompile(`^M(\d+ \d+)C.* (\d+ \d+)$`)
	for _, l := range d.Lines {
		if m := ends.FindStringSubmatch(string(l)); m == nil || !right[m[1]] || !left[m[2]] {
			t.Errorf("%s leads from no box, or to none", l)
		}
	}
	var page strings.Builder
	if err := drawing("The plan", d).Render(t.Context(), &page); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(page.String(), "<title>"); n != mostDrawn {
		t.Errorf("%d boxes are drawn", n)
	}
}
