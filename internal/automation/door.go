package automation

import (
	"context"
	"sync"
	"time"

	"tandem/internal/crowd"
	"tandem/internal/db"
)

// door keeps what strangers do at webhooks within bounds, in memory: what is refused costs no write.
type door struct {
	wrongs  *crowd.Rate // by where they come from: keys that nobody has
	hooks   *crowd.Rate // messages, by webhook
	mu      sync.Mutex
	known   map[string]bool  // hashes of keys that were right when they were last used
	refused map[string]int64 // by webhook, since it was last written down
}

// maxPlaces is how many places are remembered from which wrong keys came, and how many webhooks to which messages did.
const maxPlaces = 10_000

func newDoor() *door {
	return &door{wrongs: crowd.NewRate(200, time.Second/20, maxPlaces),
		hooks: crowd.NewRate(60, time.Second/5, maxPlaces), known: map[string]bool{}, refused: map[string]int64{}}
}

// lookFor reports whether a key is looked for: not where too many wrong ones came from, unless it was right before.
func (d *door) lookFor(hash, from string, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.known[hash] || !d.wrongs.Spent(from, now)
}

func (d *door) right(hash string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known[hash] = true
}

func (d *door) wrong(hash, from string, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.known, hash)
	d.wrongs.Take(from, now)
}

// room reports whether one more message may come to a webhook.
func (d *door) room(hook string, now time.Time) bool { return d.hooks.Take(hook, now) }

func (d *door) refuse(hook string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refused[hook]++
}

func (d *door) waiting(hook string) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refused[hook]
}

// count writes down how many messages were refused.
func (r *Room) count(ctx context.Context) error {
	r.door.mu.Lock()
	refused := r.door.refused
	r.door.refused = map[string]int64{}
	r.door.mu.Unlock()
	if len(refused) == 0 {
		return nil
	}
	err := r.DB.Write(ctx, func(tx *db.Tx) error {
		for hook, n := range refused {
			if _, err := tx.Exec("UPDATE automation_hook SET refused = refused + ? WHERE id = ?", n, hook); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		r.door.mu.Lock()
		defer r.door.mu.Unlock()
		for hook, n := range refused {
			r.door.refused[hook] += n
		}
	}
	return err
}
