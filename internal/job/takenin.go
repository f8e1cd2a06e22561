package job

import (
	"context"
	"time"

	"tandem/internal/job/wire"
)

// The branch of a merged job that was checked out is moved by its person, at any time; after a month nobody is reminded of it.
const reminded, lookedAt = 30 * 24 * time.Hour, 20

// takenIn takes back the line to type of those jobs whose commit got into their branch since. Of several the newest are looked at, and the
// others are not said to be outside of it: that is not known.
func (r *Room) takenIn(ctx context.Context, jobs ...*Job) {
	looked := 0
	for _, j := range jobs {
		if j.State != wire.Merged || j.Next == "" || j.Home != r.Owner.Home {
			continue
		}
		looked++
		unknown := len(jobs) > 1 && (looked > lookedAt || r.DB.Now().Sub(j.MovedAt) > reminded)
		if unknown || r.Tools.Holds(ctx, j.Repo, "refs/heads/"+j.Onto, j.Commit) {
			j.Next = ""
		}
	}
}
