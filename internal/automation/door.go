package automation

import (
	"context"
	"sync"
	"time"

	"tandem/internal/db"
)

// door keeps what strangers do at webhooks within bounds, in memory: what is refused costs no write.
type door struct {
	mu      sync.Mutex
	wrongs  map[string]*bucket // by where they come from: keys that nobody has
	known   map[string]bool    // hashes of keys that were right when they were last used
	hooks   map[string]*bucket
	refused map[string]int64 // by webhook, since it was last written down
}

// maxPlaces is how many places are remembered from which wrong keys came.
const maxPlaces = 10_000

func newDoor() *door {
	return &door{wrongs: map[string]*bucket{}, known: map[string]bool{}, hooks: map[string]*bucket{}, refused: map[string]int64{}}
}

// bucket lets so many through at once, and then one each while.
type bucket struct {
	mu   sync.Mutex
	each time.Duration
	most int
	full time.Time // when it would be empty again
}

func (b *bucket) take(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.full.Before(now) {
		b.full = now
	}
	if b.full.Sub(now) > b.each*time.Duration(b.most-1) {
		return false
	}
	b.full = b.full.Add(b.each)
	return true
}

// spent reports whether none would be let through now.
func (b *bucket) spent(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.full.Sub(now) > b.each*time.Duration(b.most-1)
}

// lookFor reports whether a key is looked for: not where too many wrong ones came from, unless it was right before.
func (d *door) lookFor(hash, from string, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.wrongs[from]
	return d.known[hash] || b == nil || !b.spent(now)
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
	b := d.wrongs[from]
	if b == nil {
		if len(d.wrongs) >= maxPlaces {
			clear(d.wrongs)
		}
		b = &bucket{each: time.Second / 20, most: 200}
		d.wrongs[from] = b
	}
	b.take(now)
}

// room reports whether one more message may come to a webhook.
func (d *door) room(hook string, now time.Time) bool {
	d.mu.Lock()
	b := d.hooks[hook]
	if b == nil {
		b = &bucket{each: time.Second / 5, most: 60}
		d.hooks[hook] = b
	}
	d.mu.Unlock()
	return b.take(now)
}

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
