package panel

import (
	"net/url"
	"strconv"
	"strings"

	"tandem/internal/panel/ui"
	"tandem/internal/plot"
	"tandem/internal/space/peer"
	"tandem/internal/team/wire"
)

const (
	boxWidth, boxHeight = 196, 48
	boxWords            = 27 // letters of a title that fit into a box
	boxAside, boxBelow  = 44, 16
	boxMargin           = 12
	mostDrawn           = 120
)

// DrawnBox is a thing of a drawing.
type DrawnBox struct {
	Name, Title, State, Href string
	Tone                     ui.Tone
	X, Y                     int
}

// curve is a line as SVG writes it, of numbers alone.
type curve string

// Drawing is what waits for what, in pixels.
type Drawing struct {
	Width, Height int
	Boxes         []DrawnBox
	Lines         []curve
	More          int // that are not drawn
}

// drawn lays boxes out by what each waits for.
func drawn(boxes []DrawnBox, after func(name string) []string) Drawing {
	d := Drawing{Boxes: boxes}
	if len(boxes) > mostDrawn {
		d.Boxes, d.More = boxes[:mostDrawn], len(boxes)-mostDrawn
	}
	var nodes []plot.Node
	for _, b := range d.Boxes {
		nodes = append(nodes, plot.Node{Name: b.Name, After: after(b.Name)})
	}
	p := plot.Lay(nodes)
	at := map[string]plot.Place{}
	for i, place := range p.Places {
		d.Boxes[i].X, d.Boxes[i].Y = boxMargin+place.Column*(boxWidth+boxAside), boxMargin+place.Row*(boxHeight+boxBelow)
		at[place.Name] = place
	}
	for _, l := range p.Lines {
		d.Lines = append(d.Lines, drawnLine(at[l.From], l.Through, at[l.To]))
	}
	d.Width = 2*boxMargin + max(0, p.Columns*(boxWidth+boxAside)-boxAside)
	d.Height = 2*boxMargin + max(0, p.Rows*(boxHeight+boxBelow)-boxBelow)
	return d
}

// drawnLine is a line from the right of one box to the left of another. Through the columns between them it runs straight, in a row that
// no box stands in.
func drawnLine(from plot.Place, through []plot.Place, to plot.Place) curve {
	x := func(p plot.Place) int { return boxMargin + p.Column*(boxWidth+boxAside) }
	y := func(p plot.Place) int { return boxMargin + p.Row*(boxHeight+boxBelow) + boxHeight/2 }
	var b strings.Builder
	put := func(parts ...any) {
		for _, p := range parts {
			switch p := p.(type) {
			case string:
				b.WriteString(p)
			case int:
				b.WriteString(strconv.Itoa(p))
			}
		}
	}
	right, level := x(from)+boxWidth, y(from)
	put("M", right, " ", level)
	bend := func(p plot.Place) {
		middle := right + boxAside/2
		put("C", middle, " ", level, " ", middle, " ", y(p), " ", x(p), " ", y(p))
		right, level = x(p)+boxWidth, y(p)
	}
	for _, p := range through {
		bend(p)
		put("H", right)
	}
	bend(to)
	return curve(b.String())
}

// BoardPictureView is the board as a picture.
type BoardPictureView struct {
	Drawing
	Space  string
	Away   bool
	Switch SpaceSwitch
}

func (v *visit) boardPicture() error {
	q := v.r.URL.Query()
	list, err := ask(v, peer.BoardShow, peer.BoardIn{Text: q.Get("q"), Label: q.Get("label")})
	if err != nil {
		return err
	}
	var rows []TaskRow
	for _, t := range list.Tasks {
		rows = append(rows, taskRow(t))
	}
	seat, err := v.mySeat()
	if err != nil {
		return err
	}
	out := BoardPictureView{Drawing: boardDrawing(rows), Space: seat.Title, Away: seat.Host != "this machine"}
	if out.Switch, err = v.spaceSwitch("board"); err != nil {
		return err
	}
	s := v.shell("board", "What waits for what")
	here := url.Values{}
	for _, name := range []string{"q", "label"} {
		if q.Get(name) != "" {
			here.Set(name, q.Get(name))
		}
	}
	s.Here, s.Back = out.Switch.about("/panel/board/picture", here), &ui.Crumb{Label: "Board", Href: "/panel/board"}
	return v.show(boardPicturePage(s, out))
}

func boardDrawing(tasks []TaskRow) Drawing {
	needs := map[string][]string{}
	var boxes []DrawnBox
	for _, t := range tasks {
		needs[t.ID] = t.Needs
		boxes = append(boxes, DrawnBox{Name: t.ID, Title: titleOr(t.Title), State: statusWord(t.Status), Href: taskHref(t.ID),
			Tone: statusTone(t.Status)})
	}
	return drawn(boxes, func(id string) []string { return needs[id] })
}

// planDrawing is a team's plan, with where each task stands.
func planDrawing(t *wire.Team) Drawing {
	after := map[string][]string{}
	var boxes []DrawnBox
	for _, k := range t.Tasks {
		after[k.Name] = k.After
		b := DrawnBox{Name: k.Name, Title: firstLine(k.Text), State: string(k.Stage), Tone: stageTone(k)}
		if k.Job != "" {
			b.Href = jobHref(k.Job)
		}
		boxes = append(boxes, b)
	}
	return drawn(boxes, func(name string) []string { return after[name] })
}

// partsWords is how far the parts of a task are.
func partsWords(t TaskRow) string {
	return strconv.Itoa(t.Ended) + " of " + strconv.Itoa(len(t.Parts)) + " parts done"
}
