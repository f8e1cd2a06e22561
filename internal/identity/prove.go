package identity

import (
	"context"
	"time"
	"unicode/utf8"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

const (
	freeTries = 3               // wrong PINs before the pauses begin
	longPIN   = 8               // characters from which guessing takes years at a try a minute
	knownLife = 720 * time.Hour // how long a caller that was right once keeps a count of its own
)

// theRest is whose count those share who were never right: who guesses can take any number of names.
const theRest = "others"

// WrongPIN is a PIN that was tried and was not right.
type WrongPIN struct {
	Tenant, Actor string
	Caller        string // who tried it, as far as the door can tell: a terminal, a browser
	Door          op.Door
	Count         int // wrong ones so far, of this caller or of all who were never right
	Pause         time.Duration
	Code          bool   // it was a recovery code
	Device        string // it was the proof of this device
}

// pause is how long to wait after so many wrong tries: none for the first few, then doubling from 5 seconds, up to a minute
// where a PIN is long and up to an hour where it is short.
func pause(wrong int, long bool) time.Duration {
	if wrong < freeTries {
		return 0
	}
	most := time.Hour
	if long {
		most = time.Minute
	}
	return min(5*time.Second<<min(wrong-freeTries, 10), most)
}

func isLong(pin string) bool { return utf8.RuneCountInString(pin) >= longPIN }

// ProvePIN proves that the person actor is present. A caller that was right before has a count of its own, so that somebody who
// guesses does not keep the person out at their own terminal. A try is counted before it is checked, so that racing guesses do
// not help.
func (r *Room) ProvePIN(ctx context.Context, tenant, actor, pin, caller string) error {
	door := op.DoorSocket
	if c := op.CallerFrom(ctx); c.Door != "" {
		door = c.Door
	}
	var stored, counted string
	w := WrongPIN{Tenant: tenant, Actor: actor, Caller: caller, Door: door}
	err := r.db.Write(ctx, func(tx *db.Tx) error {
		var long bool
		var n int
		var set int64
		err := tx.QueryRow("SELECT hash, is_long, set_at FROM pin WHERE tenant = ? AND actor = ?"+tx.ForUpdate(), tenant, actor).Scan(&stored, &n,
			&set)
		if seal := pinSeal(tenant, actor, stored, set); db.NoRows(err) && r.Vouch.Knows(tenant, seal.Subject) || err == nil &&
			!r.Vouch.Holds(ctx, seal) {
			return fault.New(fault.Denied, "presence", "the PIN in the database is not the one that was set here: somebody changed the database").
				With("reason", "forged").
				WithNext("show that you are here with a passkey, and see what else was changed: tandem panel open")
		}
		if db.NoRows(err) {
			return fault.New(fault.Denied, "presence", "no PIN has been set, so nobody can prove to be present").
				WithNext("set one on a terminal: tandem pin set")
		}
		if err != nil {
			return err
		}
		long = n == 1
		if counted, err = countedAs(tx, tenant, actor, caller); err != nil {
			return err
		}
		var wrong int
		var until int64
		err = tx.QueryRow("SELECT wrong, wait_until FROM pin_try WHERE tenant = ? AND actor = ? AND caller = ?", tenant, actor, counted).
			Scan(&wrong, &until)
		if err != nil && !db.NoRows(err) {
			return err
		}
		if wait := db.Time(until).Sub(tx.Now()); wait > 0 {
			return fault.New(fault.Exhausted, "presence", "too many wrong PINs; the next try is possible in %s", wait.Round(time.Second)).
				WithNext("wait, then try again; a passkey works at once and ends the wait: tandem panel open")
		}
		w.Count, w.Pause = wrong+1, pause(wrong+1, long)
		_, err = tx.Exec(`INSERT INTO pin_try (tenant, actor, caller, wrong, wait_until, tried_at, proven_at) VALUES (?, ?, ?, 1, ?, ?, 0)
			ON CONFLICT (tenant, actor, caller) DO UPDATE SET wrong = pin_try.wrong + 1, wait_until = excluded.wait_until,
			tried_at = excluded.tried_at`,
			tenant, actor, counted, tx.Now().Add(w.Pause), tx.Now())
		return err
	})
	if err != nil {
		return err
	}
	if !pinMatches(stored, pin) {
		return r.wrong(ctx, w)
	}
	return r.db.Write(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec(`INSERT INTO pin_try (tenant, actor, caller, wrong, wait_until, tried_at, proven_at) VALUES (?, ?, ?, 0, 0, ?, ?)
			ON CONFLICT (tenant, actor, caller) DO UPDATE SET wrong = 0, wait_until = 0, proven_at = excluded.proven_at`, tenant, actor, caller,
			tx.Now(), tx.Now()); err != nil {
			return err
		}
		if _, err := tx.Exec("UPDATE pin_try SET wrong = 0, wait_until = 0 WHERE tenant = ? AND actor = ? AND caller = ?", tenant, actor,
			counted); err != nil {
			return err
		}
		if !isLong(pin) {
			return nil
		}
		// set before anybody counted characters
		_, err := tx.Exec("UPDATE pin SET is_long = 1 WHERE tenant = ? AND actor = ? AND is_long = 0", tenant, actor)
		return err
	})
}

// wrong writes a wrong PIN down, so that a person hears of a guesser at once.
func (r *Room) wrong(ctx context.Context, w WrongPIN) error {
	refused := fault.New(fault.Denied, "presence", "the PIN is wrong")
	if w.Code {
		refused = fault.New(fault.Denied, "recovery", "this is no recovery code of this server, or it was used already").
			WithNext("try another: tandem recover; how many are left: tandem recover status")
	}
	if r.Wrong == nil {
		return refused
	}
	if err := r.db.Write(ctx, func(tx *db.Tx) error { return r.Wrong(tx, w) }); err != nil {
		return err
	}
	return refused
}

// countedAs is under which name a caller's tries are counted: its own, if it was right not too long ago.
func countedAs(tx *db.Tx, tenant, actor, caller string) (string, error) {
	if _, err := tx.Exec("DELETE FROM pin_try WHERE tenant = ? AND actor = ? AND caller <> ? AND proven_at < ?", tenant, actor, theRest,
		tx.Now().Add(-knownLife)); err != nil {
		return "", err
	}
	var n int
	err := tx.QueryRow("SELECT count(*) FROM pin_try WHERE tenant = ? AND actor = ? AND caller = ? AND proven_at > 0", tenant, actor, caller).
		Scan(&n)
	if err == nil && n == 0 {
		caller = theRest
	}
	return caller, err
}

// clearTries forgets all wrong PINs and codes: a person is here, by a passkey or a recovery code.
func clearTries(tx *db.Tx, tenant, actor string) error {
	_, err := tx.Exec("DELETE FROM pin_try WHERE tenant = ? AND actor IN (?, ?)", tenant, actor, codesOf(actor))
	return err
}
