package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"time"

	"tandem/internal/db"
)

// flushEvery is how often text that streams in is put on disk, for all sessions in one write. Where none does, nothing wakes for it.
const flushEvery = 100 * time.Millisecond

// hub tells watchers of sessions that something moved. It holds the text of open parts; everything else watchers read from
// the rows, so a slow one loses nothing and costs nobody else.
type hub struct {
	room  *Room
	mu    sync.Mutex
	live  map[string]*live
	added chan struct{} // has something when text came since the last flush
}

// live is a session with an open part or a watcher.
type live struct {
	head     int64         // newest event on disk
	rows     int64         // how often rows were added, for all that this process knows
	moved    chan struct{} // closed at the next change
	part     int64         // the event that began the open part, 0 for none
	text     strings.Builder
	saved    int // bytes of text on disk
	watchers int
}

func newHub(r *Room) *hub {
	return &hub{room: r, live: map[string]*live{}, added: make(chan struct{}, 1)}
}

func key(tenant, session string) string { return tenant + "\x00" + session }

// get returns the live entry, made when absent. The caller holds the lock.
func (h *hub) get(k string) *live {
	l := h.live[k]
	if l == nil {
		l = &live{moved: make(chan struct{})}
		h.live[k] = l
	}
	return l
}

func (l *live) wake() {
	close(l.moved)
	l.moved = make(chan struct{})
}

// drop forgets an entry that nobody needs. The caller holds the lock.
func (h *hub) drop(k string, l *live) {
	if l.watchers == 0 && l.part == 0 {
		delete(h.live, k)
	}
}

func (h *hub) advance(tenant, session string, head int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l := h.live[key(tenant, session)]; l != nil {
		l.head = max(l.head, head)
		l.rows++
		l.wake()
	}
}

func (h *hub) open(tenant, session string, seq int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.get(key(tenant, session))
	l.part, l.saved = seq, 0
	l.text.Reset()
	l.wake()
}

func (h *hub) add(tenant, session, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l := h.live[key(tenant, session)]; l != nil && l.part != 0 {
		l.text.WriteString(text)
		l.wake()
		select {
		case h.added <- struct{}{}:
		default:
		}
	}
}

func (h *hub) close(tenant, session string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := key(tenant, session)
	l := h.live[k]
	if l == nil {
		return ""
	}
	text := l.text.String()
	l.part, l.saved = 0, 0
	l.text.Reset()
	l.wake()
	h.drop(k, l)
	return text
}

// Flush puts streaming text on disk until ctx ends. The daemon runs it once.
func (r *Room) Flush(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.hub.added:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(flushEvery):
		}
		r.hub.flush(ctx)
	}
}

type unsaved struct {
	tenant, session, text string
	seq                   int64
}

func (h *hub) flush(ctx context.Context) {
	var dirty []unsaved
	h.mu.Lock()
	for k, l := range h.live {
		if l.part != 0 && l.text.Len() > l.saved {
			tenant, session, _ := strings.Cut(k, "\x00")
			dirty = append(dirty, unsaved{tenant, session, l.text.String(), l.part})
			l.saved = l.text.Len()
		}
	}
	h.mu.Unlock()
	if len(dirty) == 0 {
		return
	}
	// A failed write is made good by the next one: what is told to watchers does not depend on it.
	_ = h.room.db.Write(ctx, func(tx *db.Tx) error {
		for _, u := range dirty {
			if _, err := tx.Exec(`INSERT INTO session_part (tenant, session, seq, text) VALUES (?, ?, ?, ?)
				ON CONFLICT (tenant, session, seq) DO UPDATE SET text = excluded.text`, u.tenant, u.session, u.seq, u.text); err != nil {
				return err
			}
		}
		return nil
	})
}

// Follow sends a session's events from a place on until ctx ends or send fails. Text of an open part comes as deltas; a
// part that ended before it was read whole is made up to its end first, so a reader that adds up deltas always has the text.
func (r *Room) Follow(ctx context.Context, tenant, session string, from Place, send func(Event) error) error {
	k := key(tenant, session)
	r.hub.mu.Lock()
	l := r.hub.get(k)
	l.watchers++
	r.hub.mu.Unlock()
	defer func() {
		r.hub.mu.Lock()
		l.watchers--
		r.hub.drop(k, l)
		r.hub.mu.Unlock()
	}()
	w := &watcher{room: r, tenant: tenant, session: session, at: from, send: send}
	if err := w.resume(ctx); err != nil {
		return err
	}
	for {
		r.hub.mu.Lock()
		moved, head, part, text := l.moved, l.head, l.part, ""
		if part != 0 && part == w.part && l.text.Len() > w.at.Offset {
			text = l.text.String()[w.at.Offset:]
		}
		r.hub.mu.Unlock()
		if text != "" {
			if err := w.delta(text); err != nil {
				return err
			}
			continue
		}
		if head == 0 || head > w.at.Seq || w.first {
			w.first = false
			n, err := w.page(ctx)
			if err != nil {
				return err
			}
			if n > 0 {
				continue
			}
			r.hub.mu.Lock()
			l.head = max(l.head, w.at.Seq) // from here on the rows are read only when something was added
			r.hub.mu.Unlock()
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

type watcher struct {
	room            *Room
	tenant, session string
	at              Place
	part            int64  // the open part that this reader follows
	turn            string // its turn
	first           bool
	send            func(Event) error
}

// resume finds out whether the reader's place lies inside a part.
func (w *watcher) resume(ctx context.Context) error {
	w.first = true
	if w.at.Seq == 0 {
		return nil
	}
	evs, err := loadEvents(outside{ctx, w.room.db}, w.tenant, w.session, w.at.Seq-1, 1)
	if err != nil {
		return err
	}
	if len(evs) == 1 && evs[0].Seq == w.at.Seq && opens(evs[0].Type) {
		w.part, w.turn = w.at.Seq, evs[0].Turn
	} else {
		w.at.Offset = 0
	}
	return nil
}

func opens(typ string) bool { return typ == EventPart || typ == EventOutput }

func (w *watcher) delta(text string) error {
	w.at.Offset += len(text)
	return w.send(Event{Seq: w.part, Offset: w.at.Offset, Turn: w.turn, Type: EventDelta, Delta: text, At: w.room.now()})
}

func (w *watcher) page(ctx context.Context) (int, error) {
	evs, err := loadEvents(outside{ctx, w.room.db}, w.tenant, w.session, w.at.Seq, 200)
	if err != nil {
		return 0, err
	}
	for i, e := range evs {
		if e.Type == EventPartEnd && w.part != 0 {
			var end PartEnd
			if err := decode(string(e.Body), &end); err != nil {
				return i, err
			}
			if len(end.Text) > w.at.Offset {
				if err := w.delta(end.Text[w.at.Offset:]); err != nil {
					return i, err
				}
			}
			w.part = 0
		}
		if opens(e.Type) {
			w.part, w.turn = e.Seq, e.Turn
		}
		w.at = Place{Seq: e.Seq}
		if err := w.send(e); err != nil {
			return i, err
		}
	}
	return len(evs), nil
}

func hashOf(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

// Writer is a part that is being written.
type Writer struct {
	room *Room
	s    *Session
	turn string
	part Part
	seq  int64
}

// StartPart begins a part: from here on its text streams to watchers.
func (r *Room) StartPart(ctx context.Context, s *Session, turn string, p Part) (*Writer, error) {
	w := &Writer{room: r, s: s, turn: turn, part: p}
	typ := EventPart
	if p.Call != "" {
		typ = EventOutput
	}
	err := r.db.Write(ctx, func(tx *db.Tx) error {
		cur, err := r.change(tx, s.Tenant, s.ID, func(s *Session) error { return tell(tx, s, turn, typ, p) })
		if err == nil {
			w.seq = cur.Events
			tx.AfterCommit(func() { r.hub.open(s.Tenant, s.ID, w.seq) })
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("begin a part: %w", err)
	}
	return w, nil
}

// Add makes the part longer.
func (w *Writer) Add(text string) { w.room.hub.add(w.s.Tenant, w.s.ID, text) }

// end closes the part in a transaction that also does what the part was for.
func (w *Writer) end(tx *db.Tx, s *Session, text string, cut bool) error {
	if _, err := tx.Exec("DELETE FROM session_part WHERE tenant = ? AND session = ? AND seq = ?", s.Tenant, s.ID, w.seq); err != nil {
		return err
	}
	tx.AfterCommit(func() { w.room.hub.close(s.Tenant, s.ID) })
	return tell(tx, s, w.turn, EventPartEnd, PartEnd{Part: w.part, Text: text, Hash: hashOf(text), Cut: cut})
}

// closing is what ends a part whole, before something else happens to its turn; of no part it is nothing.
func (w *Writer) closing(text string) (first []func(tx *db.Tx, s *Session, t *Turn) error) {
	if w == nil {
		return nil
	}
	return append(first, func(tx *db.Tx, s *Session, _ *Turn) error { return w.end(tx, s, text, false) })
}

// End closes the part with what was added to it. cut says that the text is in no message.
func (w *Writer) End(ctx context.Context, cut bool) error {
	w.room.hub.mu.Lock()
	text := ""
	if l := w.room.hub.live[key(w.s.Tenant, w.s.ID)]; l != nil && l.part == w.seq {
		text = l.text.String()
	}
	w.room.hub.mu.Unlock()
	return w.room.db.Write(ctx, func(tx *db.Tx) error {
		_, err := w.room.change(tx, w.s.Tenant, w.s.ID, func(s *Session) error { return w.end(tx, s, text, cut) })
		return err
	})
}
