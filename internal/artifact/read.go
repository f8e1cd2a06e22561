package artifact

import (
	"context"
	"strings"

	"tandem/internal/artifact/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/repo/diff"
)

func (r *Room) list(ctx context.Context, in wire.ListIn) (wire.ListOut, error) {
	out := wire.ListOut{Artifacts: []*wire.Artifact{}}
	if in.Limit < 0 || in.Limit > 500 {
		return out, fault.New(fault.Invalid, string(wire.List), "limit lies between 1 and 500")
	}
	if in.Limit == 0 {
		in.Limit = 100
	}
	where, args := "tenant = ?", []any{op.CallerFrom(ctx).Tenant}
	if in.Name != "" {
		where, args = where+" AND name = ?", append(args, in.Name)
	}
	if in.Run != "" {
		where, args = where+" AND run = ?", append(args, in.Run)
	}
	if in.Name == "" && in.Run == "" {
		where += " AND version = (SELECT MAX(version) FROM artifact newest WHERE newest.tenant = artifact.tenant AND newest.name = " +
			"artifact.name)"
	}
	rows, err := r.DB.Query(ctx, "SELECT "+columns+" FROM artifact WHERE "+where+" ORDER BY id DESC", args...)
	if err != nil {
		return out, err
	}
	defer rows.Close()
	for rows.Next() && len(out.Artifacts) < in.Limit { // those that the caller may not see take nobody's place
		a, err := scan(rows)
		if err != nil {
			return out, err
		}
		if op.May(ctx, "artifact.list", At(a.Name)) {
			out.Artifacts = append(out.Artifacts, &a.Artifact)
		}
	}
	return out, rows.Err()
}

func (r *Room) show(ctx context.Context, in wire.OneIn) (*wire.Shown, error) {
	a, err := r.one(ctx, in.Name, in.Version)
	if err != nil {
		return nil, err
	}
	out := &wire.Shown{Artifact: a.Artifact}
	if out.Text, err = r.text(ctx, a); err != nil {
		return nil, err
	}
	if len(out.Text) > maxText {
		out.Text, out.Cut = strings.ToValidUTF8(out.Text[:maxText], ""), true
	}
	return out, nil
}

func (r *Room) get(ctx context.Context, in wire.OneIn) (*wire.Body, error) {
	a, err := r.one(ctx, in.Name, in.Version)
	if err != nil {
		return nil, err
	}
	out := &wire.Body{Artifact: a.Artifact, File: file(&a.Artifact)}
	out.Data, err = r.body(ctx, a.tenant, a.Digest)
	return out, err
}

func (r *Room) compare(ctx context.Context, in wire.CompareIn) (out wire.Compared, err error) {
	to, err := r.one(ctx, in.Name, in.To)
	if err != nil {
		return out, err
	}
	var from *row
	if in.From != 0 {
		from, err = r.one(ctx, in.Name, in.From)
	} else {
		from, err = scan(r.DB.QueryRow(ctx, "SELECT "+columns+
			" FROM artifact WHERE tenant = ? AND name = ? AND version < ? ORDER BY version DESC LIMIT 1", to.tenant, to.Name, to.Version))
		if db.NoRows(err) {
			return out, fault.New(fault.NotFound, string(wire.Compare), "there is no version before %d to compare with", to.Version).
				WithNext("see which there are: tandem artifact list %s", to.Name)
		}
	}
	if err != nil {
		return out, err
	}
	out.From, out.To, out.Same = &from.Artifact, &to.Artifact, from.Digest == to.Digest
	if out.Same {
		return out, nil
	}
	before, err := r.text(ctx, from)
	if err != nil {
		return out, err
	}
	after, err := r.text(ctx, to)
	if err != nil {
		return out, err
	}
	if out.Diff = diff.Unified([]byte(before), []byte(after), 3); len(out.Diff) > 2*maxText {
		out.Diff = strings.ToValidUTF8(out.Diff[:2*maxText], "") + "\n…"
	}
	return out, nil
}

// Named is what a version of an artifact says, the newest where none is named, for a caller who may read it; plain when its bytes are
// that text.
func (r *Room) Named(ctx context.Context, tx *db.Tx, name string, version int) (kind, text string, plain bool, err error) {
	if !op.Allowed(ctx, "artifact.read", At(name)) {
		return "", "", false, none(name, version)
	}
	where, args := "tenant = ? AND name = ?", []any{op.CallerFrom(ctx).Tenant, name}
	if version != 0 {
		where, args = where+" AND version = ?", append(args, version)
	}
	a, err := scan(tx.QueryRow("SELECT "+columns+" FROM artifact WHERE "+where+" ORDER BY version DESC LIMIT 1", args...))
	if db.NoRows(err) {
		return "", "", false, none(name, version)
	}
	if err != nil {
		return "", "", false, err
	}
	if !readable(a.Kind) {
		return a.Kind, "", false, nil
	}
	var data []byte
	err = tx.QueryRow("SELECT body FROM artifact_body WHERE tenant = ? AND digest = ?", a.tenant, a.Digest).Scan(&data)
	return a.Kind, string(data), true, err
}
