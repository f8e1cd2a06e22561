package session

import "tandem/internal/db"

// Restored stops the turns that were open when a copy was made: what they did since
// then is done, and would be done again.
func (r *Room) Restored(tx *db.Tx) (int, error) {
	open, err := turnsWhere(inTx{tx}, "ended_at = 0")
	if err != nil {
		return 0, err
	}
	for _, t := range open {
		t.State = Waiting // nobody runs it: it ends here
		if _, err := r.change(tx, t.Tenant, t.Session, func(s *Session) error {
			_, err := r.cancelTurns(tx, s, []*Turn{t})
			return err
		}); err != nil {
			return 0, err
		}
	}
	return len(open), nil
}
