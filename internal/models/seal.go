package models

import (
	"context"
	"database/sql"
	"strconv"

	"tandem/internal/db"
	"tandem/internal/op"
	"tandem/internal/provider/catalog"
)

const providerColumns = "id, name, base, wire, keyless, model"

func scanProvider(row interface{ Scan(...any) error }, more ...any) (e catalog.Entry, err error) {
	var keyless int64
	err = row.Scan(append([]any{&e.ID, &e.Name, &e.Base, &e.Wire, &keyless, &e.Default}, more...)...)
	e.Keyless = keyless != 0
	return e, err
}

func providerSubject(id string) string { return "provider:" + id }

// sealProvider is a provider that was added: where its key, and all that a model is told, goes.
func sealProvider(e catalog.Entry, tenant string) op.Sealed {
	return op.Sealed{Tenant: tenant, Subject: providerSubject(e.ID), What: "the provider " + e.ID + " at " + e.Base,
		Says: []string{e.ID, e.Name, e.Base, e.Wire, strconv.FormatBool(e.Keyless), e.Default}}
}

const defaultSubject = "default:model"

// sealDefault is the model of sessions that name none: where what they are told goes.
func sealDefault(model, tenant string) op.Sealed {
	return op.Sealed{Tenant: tenant, Subject: defaultSubject, What: "the default model " + model, Says: []string{model}}
}

// Rows lists the providers that were added, and the models of sessions that name none.
func Rows(ctx context.Context, d *db.DB) ([]op.Sealed, error) {
	rows, err := d.Query(ctx, "SELECT "+providerColumns+", tenant FROM session_provider")
	added, err := db.Collect(rows, err, func(rows *sql.Rows) (op.Sealed, error) {
		var tenant string
		e, err := scanProvider(rows, &tenant)
		return sealProvider(e, tenant), err
	})
	if err != nil {
		return nil, err
	}
	rows, err = d.Query(ctx, "SELECT tenant, model FROM session_default")
	defaults, err := db.Collect(rows, err, func(rows *sql.Rows) (op.Sealed, error) {
		var tenant, model string
		err := rows.Scan(&tenant, &model)
		return sealDefault(model, tenant), err
	})
	return append(added, defaults...), err
}
