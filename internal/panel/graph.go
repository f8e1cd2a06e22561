package panel

import (
	"slices"
	"strconv"
	"strings"

	"tandem/internal/repo/host"
)

// The graph of a repository is drawn row by row. A row's upper part has a fixed
// height and holds the commit and its bends; the lower part holds straight lines
// and is as high as the row's words need. So the lines of neighbours always meet.
const (
	laneWidth  = 14
	laneHeight = 34
	lanesMost  = 12 // lines further right are drawn on the last one
)

// RailPath is a line of a row in the colour of its lane.
type RailPath struct {
	D    string
	Lane int
}

// Rail is what is drawn beside a commit.
type Rail struct {
	Width int
	X     int        // of the commit
	Lines []RailPath // beside the commit
	Tail  []RailPath // below it, of height 1
}

// railsOf lays the lines of a graph, whose commits come before their parents.
func railsOf(commits []host.Node) []Rail {
	out := make([]Rail, len(commits))
	var lanes []string // the commit that each line leads down to, "" where there is none
	widest := 1
	for i, c := range commits {
		at := slices.Index(lanes, c.Commit)
		above := at >= 0
		if !above {
			at = free(&lanes, c.Commit)
		}
		r := Rail{X: laneX(at)}
		widest = max(widest, at+1)
		if above {
			r.Lines = append(r.Lines, RailPath{stroke(at, 0, at, laneHeight/2), at})
		}
		for j, awaited := range lanes {
			if j != at && awaited != "" {
				r.Lines = append(r.Lines, RailPath{stroke(j, 0, j, laneHeight), j})
			}
		}
		lanes[at] = ""
		for _, p := range c.Parents {
			if strings.Trim(p, "0") == "" { // the root, which is not shown
				continue
			}
			to := slices.Index(lanes, p)
			if to < 0 && lanes[at] == "" {
				to, lanes[at] = at, p
			} else if to < 0 {
				to = free(&lanes, p)
			}
			r.Lines = append(r.Lines, RailPath{stroke(at, laneHeight/2, to, laneHeight), to})
		}
		for j, awaited := range lanes {
			if awaited != "" {
				r.Tail, widest = append(r.Tail, RailPath{stroke(j, 0, j, 1), j}), max(widest, j+1)
			}
		}
		out[i] = r
	}
	for i := range out {
		out[i].Width = min(widest, lanesMost) * laneWidth
	}
	return out
}

// free takes the first line that leads nowhere, or a new one.
func free(lanes *[]string, commit string) int {
	at := slices.Index(*lanes, "")
	if at < 0 {
		at = len(*lanes)
		*lanes = append(*lanes, "")
	}
	(*lanes)[at] = commit
	return at
}

func laneX(lane int) int { return min(lane, lanesMost-1)*laneWidth + laneWidth/2 }

// stroke is a line down from one lane to another, bent where they differ.
func stroke(from, top, to, bottom int) string {
	x, y, tx, ty := strconv.Itoa(laneX(from)), strconv.Itoa(top), strconv.Itoa(laneX(to)), strconv.Itoa(bottom)
	if x == tx {
		return "M" + x + " " + y + "V" + ty
	}
	middle := strconv.Itoa((top + bottom) / 2)
	return "M" + x + " " + y + "C" + x + " " + middle + " " + tx + " " + middle + " " + tx + " " + ty
}

// laneClass is the colour of a line; every fourth has the same.
func laneClass(lane int) string { return "lane-" + strconv.Itoa(lane%4) }

// dotClass says what kind of commit a dot is.
func dotClass(c host.Node) string {
	switch {
	case c.Conflict:
		return "rail-conflict"
	case len(c.Workspaces) > 0:
		return "rail-here"
	}
	return "rail-dot"
}
