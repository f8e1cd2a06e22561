package models

import (
	"context"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
)

// Moved says what an operation would lead elsewhere: the words that models are told, or who pays for them. "" is nothing: the
// first key of a provider, and the first default beside the echo, lead nothing away that went anywhere.
func (r *Room) Moved(ctx context.Context, tenant, operation string, in any) (string, error) {
	switch in := in.(type) {
	case ProviderAddIn:
		e, _, err := r.entry(ctx, tenant, in.ID)
		if fault.Is(err, fault.NotFound) || err == nil && e.Base != strings.TrimSuffix(in.Base, "/") {
			return "it gives a provider an address, and what models are told goes there", nil
		}
		return "", err
	case ProviderIn:
		if operation == "provider.remove" {
			return "it takes a provider's address away, and what its models are told goes elsewhere", nil
		}
	case ProviderKeyIn:
		same := false
		err := r.keys.Lend(ctx, tenant, secretName(in.ID), func(v []byte) error { same = string(v) == in.Key; return nil })
		if fault.Is(err, fault.NotFound) || err == nil && same {
			return "", nil
		}
		return "another key is stored for this provider, and its calls would go to another account", err
	case DefaultIn:
		var now string
		err := r.db.Read(ctx, func(tx *db.Tx) (err error) { now, err = Chosen(tx, r.vouch, tenant); return err })
		if fault.Is(err, fault.Denied) {
			return "what sessions had that name no model was changed in the database, and nobody knows which it was", nil
		}
		if err != nil {
			return "", err
		}
		if now != Default && now != in.Model {
			return "sessions that name no model would go to another one than " + now, nil
		}
	}
	return "", nil
}
