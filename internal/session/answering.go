package session

import (
	"slices"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// mayAnswer keeps agents from answering themselves: a question is never answered by the session that asked it, nor by one that it
// opened or was opened by. A relay opens both of its sides, so its lead is no relative of its worker, and may answer it.
func mayAnswer(tx *db.Tx, c op.Caller, asked string) error {
	by := OpenerOf(c)
	if by == "" {
		return nil
	}
	related, err := related(tx, c.Tenant, by, asked)
	if err != nil || !related {
		return err
	}
	return fault.New(fault.Denied, "question.answer",
		"a session does not answer its own question, nor one of a session that it opened or was opened by").
		WithNext("a person answers: tandem inbox")
}

// related tells whether two sessions are one, or one was opened by the other, at any distance: a session's chain of authority
// names every session above it, and a child's parent is above it, too.
func related(tx *db.Tx, tenant, a, b string) (bool, error) {
	if a == b {
		return true, nil
	}
	for _, pair := range [][2]string{{a, b}, {b, a}} {
		below, above := pair[0], pair[1]
		for n := 0; below != "" && n < 100; n++ {
			s, err := loadSession(inTx{tx}, tenant, below, "")
			if fault.Is(err, fault.NotFound) {
				break
			}
			if err != nil {
				return false, err
			}
			if s.Parent == above || slices.Contains(s.chain, string(op.Session)+":"+above) {
				return true, nil
			}
			below = s.Parent
		}
	}
	return false, nil
}

// answerer is who answered, as the agent reads it: a model's word is not a person's.
func answerer(c op.Caller) string {
	if c.Door != op.DoorMCP && (c.Kind == op.Person || c.Kind == op.Local) {
		return "The person"
	}
	return c.Name + ", which is not a person,"
}
