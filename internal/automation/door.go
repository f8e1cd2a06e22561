package automation

import (
	"context"
	"sync"
	"time"

	"tandem/internal/db"
)

// door keeps what strangers do at webhooks within bounds, in memory: what is refused costs no write.
type door struct {
	everybody bucket
	mu        sync.Mutex
	hooks     map[string]*bucket
	refused   map[string]int64 // by webhook, since it was last written down
}

func newDoor() *door {
	return &door{everybody: bucket{each: time.Second / 200, most: 400}, hooks: map[string]*bucket{}, refused: map[string]int64{}}
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
