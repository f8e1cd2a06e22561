package identity

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity/assertion"
	"tandem/internal/op"
)

// Taking is which signed assertions this server takes.
type Taking struct {
	assertion.Rules
	Ring   map[string]*assertion.Key // keys of the settings
	Replay Replay
	Ledger int // how many are remembered until they end; 0 for as many as there may be
}

// Replay is how often one assertion may come.
type Replay string

// Bound lets the same bytes come again while they live, one_shot does not, off remembers nothing.
const (
	Bound   Replay = "bound"
	OneShot Replay = "one_shot"
	Off     Replay = "off"
)

// How many assertions are remembered of the house's keys: all that there are rows of, and those of one issuer for one audience that have
// not ended. Of the keys of another tenant as many are remembered as of one issuer, so that none can fill the memory of the others.
const ledgerAll, ledgerEach = 100_000, 10_000

// ledgerBeyond is how long they are remembered beyond their end: another server's clock may be behind this one, or this one be set back.
const ledgerBeyond = 5 * time.Minute

// assertionToken begins the id of a credential that is an assertion.
const assertionToken = "assertion:"

// signerOf is the key by which a credential came, if it is an assertion.
func signerOf(token string) (id string, ok bool) {
	rest, ok := strings.CutPrefix(token, assertionToken)
	id, _, _ = strings.Cut(rest, "/")
	return id, ok
}

// Assert is the person whom an assertion names, who is not present. beside is the caller of a token that came with it: the house's own,
// or that person's. What is wrong with the assertion is an *assertion.Rejected.
func (r *Room) Assert(ctx context.Context, token string, beside op.Caller, door op.Door) (op.Caller, error) {
	v, err := r.Takes.Verify(token, func(id string) (*assertion.Key, error) { return r.signer(ctx, id) }, r.db.Now())
	if err != nil {
		return op.Caller{}, err
	}
	tenant, who := v.Key.Tenant, v.Claims.Human.Actor
	if tenant == LocalTenant { // the house's own keys speak for every tenant that they may name
		if tenant, err = r.tenantNamed(ctx, v.Claims.Tenant.Org); err != nil {
			return op.Caller{}, err
		}
		if tenant == "" { // a name that is mistyped, or not made yet, must not become somebody of the house
			return op.Caller{}, v.Reject(assertion.OrgUnknown, "no tenant here is called %.64q, which the assertion is for", v.Claims.Tenant.Org)
		}
	}
	c, err := r.Caller(ctx, tenant, who, door)
	switch {
	case fault.Is(err, fault.NotFound) || fault.Is(err, fault.Unauthenticated) || err == nil && c.Kind != op.Person:
		return op.Caller{}, v.Reject(assertion.ActorUnknown, "nobody of this house is the person %s whom the assertion names", who)
	case err != nil:
		return op.Caller{}, err
	case beside.Known() && beside.Actor != WellKnown(API) && beside.Actor != c.Actor:
		return op.Caller{}, v.Reject(assertion.Credential, "the token is of %s, and the assertion names %s", beside.Name, who)
	}
	if err := r.firstSight(ctx, v); err != nil {
		return op.Caller{}, err
	}
	c.Token, c.Until, c.Scope = assertionToken+v.Key.ID+"/"+v.Claims.ID, v.Claims.Until(), v.Claims.Capabilities
	if v.Narrow != "" {
		c.Narrow, c.For = v.Narrow, append(slices.Clip(c.For), v.By)
	}
	r.touchSigner(ctx, v.Key)
	return c, nil
}

// firstSight writes down that an assertion was seen, and refuses one that may not come again.
func (r *Room) firstSight(ctx context.Context, v *assertion.Verified) error {
	if r.Takes.Replay == Off {
		return nil
	}
	row := r.db.QueryRow(ctx, seenQuery, v.Key.Tenant, v.Claims.Issuer, v.Claims.ID)
	if known, err := r.seen(row, v); known || err != nil {
		return err
	}
	return r.db.Write(ctx, func(tx *db.Tx) error {
		if known, err := r.seen(tx.QueryRow(seenQuery, v.Key.Tenant, v.Claims.Issuer, v.Claims.ID), v); known || err != nil {
			return err
		}
		if _, err := tx.Exec("DELETE FROM assertion_seen WHERE expires_at <= ?", tx.Now().Add(-ledgerBeyond)); err != nil {
			return err
		}
		var all, each int
		if err := tx.QueryRow(`SELECT count(*), count(CASE WHEN issuer = ? AND audience = ? AND expires_at > ? THEN 1 END)
			FROM assertion_seen WHERE tenant = ?`, v.Claims.Issuer, v.Claims.Audience, tx.Now(), v.Key.Tenant).Scan(&all, &each); err != nil {
			return err
		}
		most := cmp.Or(r.Takes.Ledger, ledgerAll)
		if v.Key.Tenant != LocalTenant {
			most = min(most, ledgerEach)
		}
		if all >= most || each >= min(most, ledgerEach) {
			return v.Reject(assertion.LedgerFull, "more assertions came than can be remembered (%d), and one that is not remembered is not taken",
				all)
		}
		_, err := tx.Exec("INSERT INTO assertion_seen (tenant, issuer, id, audience, digest, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
			v.Key.Tenant, v.Claims.Issuer, v.Claims.ID, v.Claims.Audience, v.Digest[:], v.Claims.Until())
		if db.Exists(err) { // the same one came at the same moment: look at it again
			err = db.ErrAgain
		}
		return err
	})
}

const seenQuery = "SELECT digest FROM assertion_seen WHERE tenant = ? AND issuer = ? AND id = ?"

// seen reports whether an assertion of that id came before, and refuses it where it may not come again.
func (r *Room) seen(row interface{ Scan(...any) error }, v *assertion.Verified) (bool, error) {
	var digest []byte
	switch err := row.Scan(&digest); {
	case db.NoRows(err):
		return false, nil
	case err != nil:
		return false, err
	case !bytes.Equal(digest, v.Digest[:]):
		return true, v.Reject(assertion.IDReused, "another assertion has the id %s", v.Claims.ID)
	case r.Takes.Replay == OneShot:
		return true, v.Reject(assertion.Replayed, "the assertion %s was used before", v.Claims.ID)
	}
	return true, nil
}

// touchSigner remembers when a key was last used, at most once a minute, as of a token.
func (r *Room) touchSigner(ctx context.Context, k *assertion.Key) {
	now, name := r.db.Now(), "assertion_key:"+k.ID
	r.mu.Lock()
	recent := now.Sub(r.used[name]) < time.Minute
	if !recent {
		r.used[name] = now
	}
	r.mu.Unlock()
	if !recent {
		_ = r.db.Write(ctx, func(tx *db.Tx) error {
			_, err := tx.Exec("UPDATE assertion_key SET used_at = ? WHERE tenant = ? AND id = ?", now, k.Tenant, k.ID)
			return err
		})
	}
}

// Signs reports whether some key can sign an assertion now that would be taken.
func (r *Room) Signs(ctx context.Context) (bool, error) {
	rows, err := r.db.Query(ctx, "SELECT "+signerColumns+" FROM assertion_key WHERE revoked_at = 0")
	all, err := collectSealed(rows, err, scanSigner)
	if err != nil {
		return false, err
	}
	ids := make([]string, 0, len(all)+len(r.Takes.Ring))
	for _, s := range all {
		ids = append(ids, strings.TrimPrefix(s.Subject, "assertion_key:"))
	}
	for id := range r.Takes.Ring {
		ids = append(ids, id)
	}
	for _, id := range ids {
		k, err := r.signer(ctx, id)
		if why := (*assertion.Rejected)(nil); err != nil && !errors.As(err, &why) {
			return false, err
		}
		if k != nil && k.Usable(r.db.Now()) == nil && (k.Organization != "" || !r.Takes.Organized) {
			return true, nil
		}
	}
	return false, nil
}
