package identity

import (
	"context"
	"database/sql"

	"tandem/internal/db"
	"tandem/internal/op"
)

// ActorsIn asks for actors.
type ActorsIn struct {
	ID    string `json:"id,omitempty" jsonschema:"only the one of this id, or of this name"`
	After string `json:"after,omitempty" jsonschema:"only those behind this name: the last of the page before"`
	Limit int    `json:"limit,omitempty" jsonschema:"at most this many, 500 unless told, 1000 at most"`
}

// TokensIn asks for tokens.
type TokensIn struct {
	Actor string `json:"actor,omitempty" jsonschema:"only those of the actor of this name"`
	After string `json:"after,omitempty" jsonschema:"only those behind this id: the last of the page before"`
	Limit int    `json:"limit,omitempty" jsonschema:"at most this many, 500 unless told, 1000 at most"`
}

func (r *Room) actors(ctx context.Context, in ActorsIn) (ActorsOut, error) {
	tenant, out := op.CallerFrom(ctx).Tenant, ActorsOut{Actors: []*Actor{}}
	limit, err := atMost(string(ActorList), in.Limit)
	if err != nil {
		return out, err
	}
	actors := pages[*Actor]{size: limit + 1, place: func(a *Actor) string { return a.Name }, read: func(after string) ([]*Actor, error) {
		return collectActors(r.db.Query(ctx, "SELECT "+actorColumns+" FROM actor WHERE tenant = ? AND name > ? "+
			"AND (? = '' OR id = ? OR name = ?) ORDER BY name LIMIT ?", tenant, after, in.ID, in.ID, in.ID, limit+1))
	}, seen: func(a *Actor) bool { return op.May(ctx, "actor.read", actorAt(a.Name)) }}
	found, more, err := actors.from(in.After, limit)
	if err != nil || len(found) == 0 {
		return out, err
	}
	out.More, out.Actors = more, found
	return out, r.namePrincipals(ctx, tenant, found)
}

// namePrincipals says by name for whom actors act: those may be on another page.
func (r *Room) namePrincipals(ctx context.Context, tenant string, actors []*Actor) error {
	in, args := amongst(actors)
	theirs, err := collectActors(r.db.Query(ctx, "SELECT "+actorColumns+" FROM actor WHERE tenant = ? AND id IN (SELECT acts_for FROM actor "+
		"WHERE tenant = ? AND id "+in+")", append([]any{tenant, tenant}, args...)...))
	names := map[string]string{}
	for _, a := range theirs {
		if op.May(ctx, "actor.read", actorAt(a.Name)) {
			names[a.ID] = a.Name
		}
	}
	for _, a := range actors {
		a.ForName = names[a.For]
	}
	return err
}

func (r *Room) tokens(ctx context.Context, in TokensIn) (TokensOut, error) {
	tenant, out := op.CallerFrom(ctx).Tenant, TokensOut{Tokens: []*Token{}}
	limit, err := atMost(string(TokenList), in.Limit)
	if err != nil {
		return out, err
	}
	tokens := pages[*Token]{size: limit + 1, place: func(t *Token) string { return t.ID }, read: func(after string) ([]*Token, error) {
		rows, err := r.db.Query(ctx, `SELECT t.id, a.name, t.label, t.decides, t.created_at, t.created_by, t.expires_at, t.revoked_at, t.used_at
			FROM token t JOIN actor a ON a.tenant = t.tenant AND a.id = t.actor WHERE t.tenant = ? AND t.id > ? AND (? = '' OR a.name = ?)
			ORDER BY t.id LIMIT ?`, tenant, after, in.Actor, in.Actor, limit+1)
		return db.Collect(rows, err, scanListedToken)
	}, seen: func(t *Token) bool { return op.May(ctx, "token.read", tokenAt(t.Actor)) }}
	found, more, err := tokens.from(in.After, limit)
	if len(found) > 0 {
		out.Tokens, out.More = found, more
	}
	return out, err
}

func scanListedToken(rows *sql.Rows) (*Token, error) {
	var t Token
	var decides int
	var created, expires, revoked, used int64
	err := rows.Scan(&t.ID, &t.Actor, &t.Label, &decides, &created, &t.CreatedBy, &expires, &revoked, &used)
	t.Decides, t.CreatedAt = decides == 1, db.Time(created)
	t.ExpiresAt, t.RevokedAt, t.UsedAt = optional(expires), optional(revoked), optional(used)
	return &t, err
}
