package host

import (
	"context"
	"database/sql"
	"encoding/base64"

	"tandem/internal/db"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/repo"
	"tandem/internal/repo/exchange"
)

// receipt is the house's word for a head that a caller is answered with.
func (h *Host) receipt(ctx context.Context, s *served, workspace string, head repo.OperationID, version int64) exchange.Receipt {
	if h.Journal == nil || version == 0 {
		return exchange.Receipt{}
	}
	r := exchange.Receipt{Repository: s.id, Operation: head.Hex(), Version: version, Workspace: workspace,
		Actor: op.CallerFrom(ctx).Actor, Era: s.currentEra()}
	r.Signed = base64.StdEncoding.EncodeToString(h.Journal.Attest(exchange.ReceiptPurpose, r.Bytes()))
	return r
}

// receipted says whether a receipt is this house's own, for this repository and
// this operation, and no person has decided since to keep an older state. Whoever
// brings it need not be the one whom it was given: what it vouches for is the
// operation, and with its id all that is behind it.
func (h *Host) receipted(s *served, r exchange.Receipt, tip repo.OperationID) bool {
	sig, err := base64.StdEncoding.DecodeString(r.Signed)
	return err == nil && h.Journal != nil && r.Repository == s.id && r.Operation == tip.Hex() && r.Era == s.currentEra() &&
		h.Journal.Attested(exchange.ReceiptPurpose, r.Bytes(), sig)
}

func (s *served) currentEra() int64 {
	s.state.Lock()
	defer s.state.Unlock()
	return s.era
}

// loadEras reads how often older states were kept.
func (h *Host) loadEras(ctx context.Context) error {
	type row struct {
		repo string
		era  int64
	}
	rows, err := h.DB.Query(ctx, "SELECT repo, era FROM repo_older WHERE tenant = ?", identity.LocalTenant)
	list, err := db.Collect(rows, err, func(r *sql.Rows) (x row, err error) {
		err = r.Scan(&x.repo, &x.era)
		return x, err
	})
	for _, x := range list {
		if s := h.lookup(x.repo); s != nil {
			s.era = x.era
		}
	}
	return err
}
