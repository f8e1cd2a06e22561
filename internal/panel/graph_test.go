package panel

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"tandem/internal/repo/host"
	"tandem/internal/unified"
)

// The lines of a graph are joined: where a row's lines end, the next row's begin.
func TestLinesOfTheGraphMeet(t *testing.T) {
	commits := sampleRepos().Graph
	for i := range 40 { // many side by side, more than there are lanes
		commits = append(commits, host.Node{Commit: fmt.Sprintf("a%02d", i), Parents: []string{fmt.Sprintf("b%02d", i), "base"}})
	}
	commits = append(commits, host.Node{Commit: "base", Parents: []string{strings.Repeat("0", 40)}})
	ends := func(lines []RailPath, at string) map[string]bool {
		out := map[string]bool{}
		for _, l := range lines {
			for _, m := range regexp.MustCompile(at).FindAllStringSubmatch(l.D, -1) {
				out[m[1]] = true
			}
		}
		return out
	}
	rails := railsOf(commits)
	for i, r := range rails {
		if r.Width != rails[0].Width || r.Width > lanesMost*laneWidth || r.X >= r.Width {
			t.Errorf("row %d: width %d, commit at %d", i, r.Width, r.X)
		}
		below := ends(r.Tail, `^M(\d+) `)
		down := ends(r.Lines, fmt.Sprintf(`^M(\d+) \d+V%d$`, laneHeight))
		for x := range ends(r.Lines, fmt.Sprintf(` (\d+) %d$`, laneHeight)) {
			down[x] = true
		}
		if fmt.Sprint(down) != fmt.Sprint(below) {
			t.Errorf("row %d: lines end at %v and go on at %v", i, down, below)
		}
		if i+1 < len(rails) {
			if up := ends(rails[i+1].Lines, `^M(\d+) 0[VC]`); fmt.Sprint(up) != fmt.Sprint(below) {
				t.Errorf("row %d: lines leave at %v, row %d has them at %v", i, below, i+1, up)
			}
		}
	}
}

// A commit is its description, its change is small; its diff has the page's
// whole width, and stands side by side on request.
func TestACommitIsReadFirst(t *testing.T) {
	view := sampleRepos()
	page := func() string {
		var b strings.Builder
		if err := reposPage(galleryShell("repos", "Repositories", nil), view).Render(context.Background(), &b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	html := page()
	if strings.Contains(html, `class="cols"`) || !strings.Contains(html, `<figure class="diff">`) || !strings.Contains(html, `diff=beside`) {
		t.Error("the diff shares its width, or is not offered side by side")
	}
	words := html[strings.Index(html, `class="graph-words"`):]
	if text, change := strings.Index(words, "billing: round once"), strings.Index(words, "kkkkkkkk…"); text < 0 || change < text {
		t.Errorf("the description is at %d, its change at %d", text, change)
	}
	view.Beside = true
	if html = page(); strings.Contains(html, `<figure class="diff">`) || strings.Count(html, `<figure class="diff diff-beside">`) != 2 {
		t.Error("the diffs are not side by side")
	}
	rows := unified.Beside(unified.Diff("one\ntwo\nthree\n", "one\nTWO\nmore\nthree\n"))
	if len(rows) != 4 || rows[1].Was.Text != "two" || rows[1].Is.Text != "TWO" || rows[2].Was.Op != 0 || rows[2].Is.New != 3 {
		t.Errorf("%+v", rows)
	}
}
