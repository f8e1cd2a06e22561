package knowledge

import (
	"context"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/op"
)

// Waits lists what an actor, as kind:name, would read or own by its name alone; in the change under way, or outside of one where tx is
// nil. Readers and owners are named before they exist, and whoever comes in chooses a name.
func (r *Room) Waits(ctx context.Context, tx *db.Tx, tenant, principal string) (out []string, err error) {
	person, is := strings.CutPrefix(principal, string(op.Person)+":")
	read := func(tx *db.Tx) error {
		out = nil
		rows, err := tx.Query("SELECT "+spaceColumns+" FROM knowledge WHERE tenant = ? ORDER BY name", tenant)
		all, err := db.Collect(rows, err, scanSpaces)
		for _, k := range all {
			switch {
			case r.vouched(ctx, tenant, k).forged:
			case is && slices.Contains(k.Owners, person):
				out = append(out, "it owns the knowledge space "+k.Name)
			case slices.Contains(k.Readers, principal):
				out = append(out, "it reads the knowledge space "+k.Name)
			}
		}
		return err
	}
	if tx != nil {
		err = read(tx)
		return out, err
	}
	err = r.db.Read(ctx, read)
	return out, err
}
