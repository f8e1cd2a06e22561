package knowledge

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

func subject(name string) string { return "knowledge:" + name }

// seal is a knowledge space as a person said it: who answers for it and who reads it, of which items, and what it takes.
func (k *space) seal(tenant string) op.Sealed {
	return sealed(tenant, k.Name, k.nr, list(k.Owners), list(k.Readers), string(k.Trust))
}

func sealed(tenant, name string, nr int64, owners, readers, trust string) op.Sealed {
	return op.Sealed{Tenant: tenant, Subject: subject(name), Says: []string{strconv.FormatInt(nr, 10), owners, readers, trust},
		What: "the knowledge space " + name + ", for which these answer: " + strings.Trim(owners, "[]")}
}

// vouched notes of a knowledge space whether a person here said what its row says.
func (r *Room) vouched(ctx context.Context, tenant string, k *space) *space {
	k.forged = k.unread || !r.Vouch.Holds(ctx, k.seal(tenant))
	return k
}

// forged refuses a knowledge space whose owners or readers nobody here named.
func forged(name string) error {
	return fault.New(fault.Denied, "knowledge",
		"who owns and reads the knowledge space %s was changed in the database, and not by a person here", name).
		WithNext("whoever administers the house says it anew, and all of it: "+
			"tandem knowledge change %s --owner NAME --reader person:NAME --trust approved", name)
}

// Rows are what the journal vouches for: who owns and reads knowledge spaces, as their rows say it.
func Rows(ctx context.Context, d *db.DB) ([]op.Sealed, error) {
	rows, err := d.Query(ctx, "SELECT tenant, name, nr, owners, readers, trust FROM knowledge ORDER BY tenant, name")
	return db.Collect(rows, err, func(rows *sql.Rows) (op.Sealed, error) {
		var tenant, name, owners, readers, trust string
		var nr int64
		err := rows.Scan(&tenant, &name, &nr, &owners, &readers, &trust)
		return sealed(tenant, name, nr, owners, readers, trust), err
	})
}
