package job

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/job/wire"
	"tandem/internal/testenv"
)

// apartHarm is red where any two files that do not go together are there.
const apartHarm = `for f in left-*; do if test -e "$f" && test -e "right-${f#left-}"; then exit 1; fi; done`

// A thousand jobs over real rows and real git (make soak; a few of them else): some are red together with another one, some do not go
// together, some stand on each other, and the server dies again and again. The branch is never red, no job is lost, and another program
// says so from the journal and the repository.
func TestAThousandJobsGetIntoTheBranch(t *testing.T) {
	batches, many := 1, 16
	if testenv.Soak() {
		batches, many = 40, 25
	}
	chance := testenv.Random(t)
	s, began := newStation(t), time.Now()
	s.kills = func() int { return 2 + chance.IntN(8) }
	merged, back, held := 0, 0, 0
	for batch := range batches {
		from := len(s.jobs)
		for i := range many {
			name, on := fmt.Sprintf("%d-%d", batch, i), ""
			files := map[string]string{name + ".txt": name}
			if i > 0 && chance.IntN(4) == 0 {
				on = strings.TrimPrefix(s.jobs[from+chance.IntN(i)], "job_")
			}
			if i == 1 || i == 2 { // two that are red together there are in any case
				on, files[[]string{"left-", "right-"}[i-1]+name[:len(name)-1]+"x.txt"] = "", name
			}
			switch pair := fmt.Sprintf("%d-%d.txt", batch, chance.IntN(many/8+1)); chance.IntN(8) {
			case 0:
				files["left-"+pair] = name
			case 1:
				files["right-"+pair] = name
			case 2:
				files["both-"+pair] = name // another one writes other words into it
			}
			s.addOn(on, name, apartHarm, files)
		}
		if err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
			for _, id := range s.jobs[from:] {
				priority := chance.Int64N(3)
				if _, err := s.change(tx, "t", id, func(j *Job) error { j.Priority = priority; return nil }); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		s.Train = 1 + chance.IntN(6)
		s.serve()
		t.Logf("batch %d: %s, %d servers died", batch, time.Since(began).Round(time.Second), s.died)
		for _, id := range s.jobs[from:] {
			switch j := s.read(id); {
			case j.State == wire.Merged && s.Tools.Holds(t.Context(), s.repo, "main", j.Commit):
				merged++
			case j.State == wire.Stopped && (strings.Contains(j.Prompt, "fail the check") || strings.Contains(j.Prompt, "do not go together")):
				back++
			case s.stuck(j):
				held++
			default:
				t.Errorf("%s is lost: it is %s (%s)", id, j.State, j.Reason)
			}
		}
	}
	places := s.places()
	for _, at := range places {
		files := "\n" + s.git("ls-tree", "--name-only", at) + "\n"
		for f := range strings.SplitSeq(files, "\n") {
			if pair, is := strings.CutPrefix(f, "left-"); is && strings.Contains(files, "\nright-"+pair+"\n") {
				t.Errorf("main stood at %.12s, which is red", at)
			}
		}
	}
	s.independently()
	t.Logf("%d jobs: %d merged in %d moves, %d went back, %d wait for one that did, %d servers died, %s", len(s.jobs), merged, len(places),
		back, held, s.died, time.Since(began).Round(time.Second))
	if merged == 0 || back == 0 || s.died == 0 {
		t.Error("nothing was put to the test")
	}
}
