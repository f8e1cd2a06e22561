package space

import (
	"sync"
	"time"

	"tandem/internal/crowd"
	"tandem/internal/id"
	"tandem/internal/space/seal"
)

// Knock is a join under way: four messages between a joiner and the inviter's
// daemon that the host carries and cannot use. It lives for thirty seconds from
// each step and only in memory: after a crash the joiner knocks again.
type Knock struct {
	ID      string    `json:"id"` // the joiner's ticket
	Space   string    `json:"space,omitempty"`
	Plate   string    `json:"plate"`
	SID     []byte    `json:"sid"`
	Hello   []byte    `json:"hello"` // CPace, joiner
	Card    seal.Card `json:"card"`
	Answer  []byte    `json:"answer,omitempty"` // CPace, inviter
	By      seal.Card `json:"by,omitzero"`
	Confirm []byte    `json:"confirm,omitempty"` // joiner's tag
	Offer   []byte    `json:"offer,omitempty"`   // sealed: key package, name
	Welcome []byte    `json:"welcome,omitempty"` // inviter's tag
	Bundle  []byte    `json:"bundle,omitempty"`  // sealed: welcome, keys, snapshot
	Refused string    `json:"refused,omitempty"`
}

type knock struct {
	Knock
	tenant  string
	inviter seal.MemberID
	decoy   bool // no invite is open there; see decoy.go
	from    string
	until   time.Time
}

type knocks struct {
	mu    sync.Mutex
	all   map[string]*knock
	tries map[try][]time.Time // attempts of the last minute
}

// try is who knocks where: what one source does keeps nobody from elsewhere out.
type try struct{ from, plate string }

// open files a knock, or says that whoever knocks has had its share of attempts, at this invite or at all of them.
func (k *knocks) open(tenant, plate, from string, inviter seal.MemberID, in Knock, now time.Time) (string, bool) {
	decoy := inviter == ""
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil {
		k.all, k.tries = map[string]*knock{}, map[try][]time.Time{}
	}
	k.sweep(now)
	at := try{from, plate}
	if len(k.tries[at]) >= KnocksPerMinute {
		return "", false
	}
	if wait, err := Knocking.Admit(underWay{k}, from, now); wait > 0 || err != nil {
		return "", false
	}
	if len(k.tries) >= 10*maxKnocks { // more sources than anybody counts: counting begins anew
		clear(k.tries)
	}
	k.tries[at] = append(k.tries[at], now)
	in.ID, in.Plate = id.New("knk"), plate
	k.all[in.ID] = &knock{Knock: in, tenant: tenant, inviter: inviter, decoy: decoy, from: from, until: now.Add(KnockLife)}
	return in.ID, true
}

// Knocking is how many joins may be under way: each source waits for its own to end.
var Knocking = crowd.Bound{From: liveKnocks, All: maxKnocks, Settles: KnockLife}

// underWay are the knocks as a line. A knock ends a while after its last step, so the one that would end first is the oldest.
type underWay struct{ *knocks }

func (k underWay) From(from string) (n int, oldest time.Time, err error) {
	for _, o := range k.all {
		if o.from != from {
			continue
		}
		if at := o.until.Add(-KnockLife); n == 0 || at.Before(oldest) {
			oldest = at
		}
		n++
	}
	return n, oldest, nil
}

func (k underWay) All() (int, error) { return len(k.all), nil }

func (k underWay) Most() (most string, err error) {
	count := map[string]int{}
	for _, n := range k.all {
		if count[n.from]++; count[n.from] > count[most] {
			most = n.from
		}
	}
	return most, nil
}

func (k underWay) Drop(from string) error {
	var first *knock
	for _, n := range k.all {
		if n.from == from && (first == nil || n.until.Before(first.until)) {
			first = n
		}
	}
	if first != nil {
		delete(k.all, first.ID)
	}
	return nil
}

func (k *knocks) sweep(now time.Time) {
	for id, n := range k.all {
		if now.After(n.until) {
			delete(k.all, id)
		}
	}
	for key, at := range k.tries {
		keep := at[:0]
		for _, t := range at {
			if now.Sub(t) < time.Minute {
				keep = append(keep, t)
			}
		}
		if len(keep) == 0 {
			delete(k.tries, key)
			continue
		}
		k.tries[key] = keep
	}
}

// get returns a copy of a live knock.
func (k *knocks) get(id string, now time.Time) (knock, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n, ok := k.all[id]
	if !ok || now.After(n.until) {
		return knock{}, false
	}
	return *n, true
}

// update changes a live knock and gives it another thirty seconds.
func (k *knocks) update(id string, now time.Time, change func(*knock)) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	n, ok := k.all[id]
	if !ok || now.After(n.until) {
		return false
	}
	change(n)
	n.until = now.Add(KnockLife)
	return true
}

// pending lists what waits for the inviter's daemon.
func (k *knocks) pending(tenant, space string, inviter seal.MemberID, now time.Time) []Knock {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []Knock
	for _, n := range k.all {
		if n.decoy || n.tenant != tenant || n.Space != space || n.inviter != inviter || now.After(n.until) || n.Refused != "" || n.Bundle != nil {
			continue
		}
		if n.Answer == nil || n.Confirm != nil {
			out = append(out, n.Knock)
		}
	}
	return out
}
