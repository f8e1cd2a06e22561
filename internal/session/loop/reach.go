package loop

import (
	"tandem/internal/db"
	"tandem/internal/session"
)

// Reach is how far a session with a model gets.
func (r *Runner) Reach(tx *db.Tx, s *session.Session) (session.Reach, error) {
	return r.room.ModelReach(tx, s)
}
