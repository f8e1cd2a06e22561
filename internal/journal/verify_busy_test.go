package journal

import (
	"sync"
	"testing"

	"tandem/internal/db"
)

// A check read everything in one transaction, which held up the database for as long as that took. It reads page by page; what is
// recorded, signed and proven meanwhile is for the next check, and is no finding.
func TestACheckAmongWriters(t *testing.T) {
	exam(t, func(t *testing.T, d *db.DB, j *Journal) {
		fill(t, d, j, 3*page)
		halt := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for {
				select {
				case <-halt:
					return
				default:
				}
				fill(t, d, j, 20)
				add(t, d, j, Event{Tenant: "ten_a", Type: "a.b", Actor: "act_1", Resource: "a:/proven", Receipt: true})
			}
		})
		for range 4 {
			r, err := j.verify(t.Context(), nil, true)
			if err != nil || !r.OK || r.Size < 3*page {
				t.Errorf("among writers: %+v, %v", r, err)
			}
		}
		close(halt)
		wg.Wait()
		do(t, d, "UPDATE journal_event SET actor = 'x' || actor WHERE seq = ?", 2*page+1)
		if r, err := j.verify(t.Context(), nil, true); err != nil || !has(r, Changed) {
			t.Errorf("on a later page: %+v, %v", r, err)
		}
	})
}
