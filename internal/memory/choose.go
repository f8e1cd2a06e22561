package memory

import (
	"context"
	"encoding/binary"
	"math"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/memory/bert"
	"tandem/internal/memory/wire"
	"tandem/internal/op"
)

// maxBefore is how long may be what stands before a text.
const maxBefore = 200

// setModel chooses a model. It is tried behind this, and searches go on as they were until it is there.
func (r *Room) setModel(ctx context.Context, tx *db.Tx, in wire.ModelSetIn) (wire.ModelOut, error) {
	caller := op.CallerFrom(ctx)
	c := &chosen{tenant: caller.Tenant, asks: in.Asks, tells: in.Tells, setBy: caller.Name, setAt: tx.Now()}
	for _, s := range []string{in.Asks, in.Tells, in.Files, in.Endpoint} {
		if len(s) > maxText || !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
			return wire.ModelOut{}, bad("that is no text")
		}
	}
	_, model, _ := strings.Cut(in.Endpoint, "/")
	switch {
	case r.Models.Ask == nil:
		return wire.ModelOut{}, fault.New(fault.Unavailable, "memory.model", "this server asks no models")
	case (in.Endpoint == "") == (in.Files == ""):
		return wire.ModelOut{}, bad("a model is a provider's, or one of files").
			WithNext("choose one: tandem memory model set --endpoint ollama/all-minilm; or name a folder")
	case len(in.Asks) > maxBefore || len(in.Tells) > maxBefore:
		return wire.ModelOut{}, bad("what stands before a text has at most %d bytes", maxBefore)
	case in.Endpoint != "" && (model == "" || in.Digest != "" || len(in.Endpoint) > 200):
		return wire.ModelOut{}, bad("a provider's model is named provider/model, and has no digest").
			WithNext("see which there are: tandem provider list")
	case in.Endpoint != "":
		c.kind, c.ref = ofProvider, in.Endpoint
	case in.Digest == "" || !digestForm.MatchString(in.Digest):
		return wire.ModelOut{}, bad("what is computed with must be the model that was meant: its digest is missing").
			WithNext("give the SHA-256 of model.safetensors, as its publisher names it, in hex: --digest")
	case !isAddress(in.Files) && (!filepath.IsAbs(in.Files) || caller.Tenant != r.Models.House):
		return wire.ModelOut{}, bad("a model's files are at an address, or in a folder of the server's machine for those whose machine it is").
			WithNext("write the whole path, or an address that begins with https://")
	default:
		c.kind, c.ref, c.digest = ofFiles, in.Files, in.Digest
	}
	_, err := tx.Exec(`INSERT INTO memory_model (tenant, kind, ref, digest, asks, tells, set_by, set_at, name, dims, shared, problem)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', 0, ?, '') ON CONFLICT (tenant) DO UPDATE SET kind = excluded.kind, ref = excluded.ref,
		digest = excluded.digest, asks = excluded.asks, tells = excluded.tells, set_by = excluded.set_by, set_at = excluded.set_at,
		name = '', dims = 0, shared = excluded.shared, problem = ''`,
		c.tenant, c.kind, c.ref, c.digest, c.asks, c.tells, c.setBy, c.setAt, []byte{})
	if err != nil {
		return wire.ModelOut{}, err
	}
	op.Row(ctx, c.seal())
	op.Note(ctx, "model", c.ref)
	tx.AfterCommit(func() { r.meaning.rouse(c.tenant) })
	return wire.ModelOut{State: wire.ModelLooking, Endpoint: in.Endpoint, Files: in.Files, Digest: in.Digest, SetBy: c.setBy,
		SetAt: c.setAt}, nil
}

// clearModel goes back to the table that is built in. What the model said of records is deleted behind it.
func (r *Room) clearModel(ctx context.Context, tx *db.Tx, _ wire.ModelIn) (wire.ModelOut, error) {
	tenant := op.CallerFrom(ctx).Tenant
	n, err := tx.Changed("DELETE FROM memory_model WHERE tenant = ?", tenant)
	if err == nil && n == 0 {
		err = fault.New(fault.Conflict, "memory.model", "no model was chosen").WithNext("see: tandem memory model show")
	}
	if err != nil {
		return wire.ModelOut{}, err
	}
	op.Seal(ctx, subject) // from here on nothing vouches for it
	tx.AfterCommit(func() { r.meaning.rouse(tenant) })
	return wire.ModelOut{State: wire.ModelNone}, nil
}

// showModel says which model is chosen and how far it is.
func (r *Room) showModel(ctx context.Context, _ wire.ModelIn) (out wire.ModelOut, err error) {
	tenant := op.CallerFrom(ctx).Tenant
	q := r.outside(ctx)
	c, err := choice(q, tenant)
	if err != nil {
		return out, err
	}
	if !people(op.CallerFrom(ctx)) { // how much there is, and where models are, is nothing for others
		if out.State = wire.ModelNone; c != nil && c.name != "" {
			out.State = wire.ModelReady
		}
		return out, nil
	}
	err = q.QueryRow("SELECT coalesce(sum(texts), 0) FROM memory_place WHERE tenant = ?", tenant).Scan(&out.Records)
	if err != nil || c == nil {
		out.State = wire.ModelNone
		return out, err
	}
	out.Name, out.Dims, out.Digest, out.SetBy, out.SetAt, out.Problem = c.name, c.dims, c.digest, c.setBy, c.setAt, c.problem
	if out.Files = c.ref; c.kind == ofProvider {
		out.Endpoint, out.Files = c.ref, ""
	}
	if out.Leaves, err = r.leaves(ctx, c); err != nil {
		out.Problem = fault.Public(err).Msg
	}
	switch {
	case !r.Models.Vouch.Holds(ctx, c.seal()):
		out.State, out.Problem = wire.ModelFailed, "it was changed in the database, and not by a person here: choose it anew"
	case c.name != "":
		out.State = wire.ModelReady
		r.engines.mu.Lock()
		out.Problem = r.engines.trouble[tenant]
		r.engines.mu.Unlock()
	case c.problem != "":
		out.State = wire.ModelFailed
	default:
		out.State = wire.ModelLooking
	}
	return out, q.QueryRow("SELECT count(*) FROM memory_pointed WHERE tenant = ? AND model = ?", tenant, c.name).Scan(&out.Pointed)
}

// leaves says whether what a model is told leaves the house.
func (r *Room) leaves(ctx context.Context, c *chosen) (bool, error) {
	if c.kind == ofFiles {
		return false, nil
	}
	return r.Models.Leaves(ctx, c.tenant, c.ref)
}

// try fetches a model that was chosen, and finds out how long its vectors are and what it says of every text. What is wrong with it is
// written down, for people to see.
func (r *Room) try(ctx context.Context, c *chosen) error {
	err := r.tried(ctx, c)
	if ctx.Err() != nil {
		return ctx.Err() // the server ends, or somebody chose another one: it is tried again
	}
	problem, shared := "", []byte{}
	if err != nil {
		problem = err.Error()
		if public := fault.Public(err); public.Kind != fault.Internal {
			problem = public.Msg
		}
		c.name, c.dims = "", 0
	} else {
		for _, x := range c.shared {
			shared = binary.LittleEndian.AppendUint32(shared, math.Float32bits(x))
		}
	}
	return r.db.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec("UPDATE memory_model SET name = ?, dims = ?, shared = ?, problem = ? WHERE tenant = ? AND set_at = ?",
			c.name, c.dims, shared, strings.ToValidUTF8(problem[:min(len(problem), 500)], ""), c.tenant, c.setAt)
		return err
	})
}

func (r *Room) tried(ctx context.Context, c *chosen) error {
	var of bert.Files
	if c.kind == ofFiles {
		err := r.fetched(ctx, c)
		if err == nil {
			of, err = readSmall(r.kept(c))
		}
		if err != nil {
			return err
		}
	}
	all, err := r.point(ctx, c, c.tells, samples)
	if err != nil {
		return err
	}
	c.dims, c.shared = len(all[0]), make([]float32, len(all[0]))
	for _, v := range all {
		if len(v) != c.dims {
			return fault.New(fault.Invalid, "memory.model", "its vectors have %d numbers and %d", c.dims, len(v))
		}
		for i, x := range unit(v) {
			c.shared[i] += x / float32(len(all))
		}
	}
	c.name = c.namedOf(of, c.dims)
	return nil
}
