package decode

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/internal/testenv"
)

// Files as the libraries write them that most programs write Office files with.
func TestOfficeFiles(t *testing.T) {
	dir := testenv.Dir(t)
	if out, err := exec.Command(testenv.Tool(t, "python"), "testdata/make.py", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, want := range map[string]struct {
		title string
		parts []Part
		left  []string
	}{
		"plan.docx": {"Release plan", []Part{
			{"Plan", "Plan\nWe ship on Tuesday – naïve façade, ﬁne."},
			{"Plan > Risks", "Risks\nThe queue may stall under load.\nowner | days\nInes | 3"},
			{"Costs", "Costs\nNothing new."},
			{"header1", "for members only"},
		}, []string{"hidden text"}},
		"talk.pptx": {"", []Part{
			{"slide 1", "Why a queue\nOrder matters\nRetries are safe"},
			{"slide 1, notes", "Mention the outage."},
			{"slide 2", "Figures\nmonth | jobs\nMay | 41"},
		}, []string{"slide 3, which is hidden"}},
	} {
		got := file(t, filepath.Join(dir, name))
		if got.Title != want.title || !slices.Equal(got.Parts, want.parts) || !slices.Equal(got.Left, want.left) {
			t.Errorf("%s is %+v", name, got)
		}
	}
	costs := file(t, filepath.Join(dir, "costs.xlsx"))
	first := Part{"sheet Costs, rows 1-5", "item | amount | on | paid\ndisk | 0.1 | 2026-03-01 | TRUE\n" +
		"box & wire | 1200 | 2026-03-02 15:30:00 | FALSE\n |  |  |  |  | far\n | =SUM(B2:B3)"}
	if len(costs.Parts) != 4 || costs.Parts[0] != first || !slices.Equal(costs.Left, []string{"sheet Drafts, which is hidden"}) {
		t.Errorf("costs.xlsx is %+v", costs)
	}
	if p := costs.Parts[2]; p.Place != "sheet Long, rows 51-100" || !strings.HasPrefix(p.Text, "n | square\n49 | 2401\n") {
		t.Errorf("the second part of the long sheet: %+v", p)
	}
}

func file(t *testing.T, path string) *Document {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(t.Context(), filepath.Base(path), data, Limits{})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return got
}

// why is the reason for which a file is refused.
func why(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Decode(t.Context(), filepath.Base(path), data, Limits{})
	var refused *Refused
	if !errors.As(err, &refused) {
		t.Fatalf("%s: %v", path, err)
	}
	return refused.Reason
}
