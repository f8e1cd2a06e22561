package session

import (
	"database/sql"
	"encoding/json"
	"fmt"

	"tandem/internal/db"
)

// Legible reads every row of every session once, as those who need one do, and says which nobody could read.
func Legible(tx *db.Tx) error {
	for _, one := range []struct {
		query string
		read  func(*sql.Rows) error
	}{
		{"SELECT " + sessionColumns + " FROM session", func(rows *sql.Rows) error { _, err := scanSession(rows); return err }},
		{"SELECT " + turnColumns + " FROM session_turn", func(rows *sql.Rows) error { _, err := scanTurn(rows); return err }},
		{"SELECT " + callColumns + " FROM session_call", func(rows *sql.Rows) error {
			c, err := scanCall(rows)
			if err == nil && len(c.Args) > 0 && !json.Valid(c.Args) {
				err = fmt.Errorf("the call %.64s has no document as its arguments", c.ID)
			}
			return err
		}},
		{"SELECT " + questionColumns + " FROM session_question", func(rows *sql.Rows) error { _, err := scanQuestion(rows); return err }},
		{"SELECT blocks FROM session_message", func(rows *sql.Rows) error {
			var m Message
			return document(rows, &m.Blocks)
		}},
		{"SELECT seq, turn, type, body, at FROM session_event", readEvent},
	} {
		rows, err := tx.Query(one.query)
		if err := db.EachRow(rows, err, one.read); err != nil {
			return err
		}
	}
	return nil
}

func document(rows *sql.Rows, into any) error {
	var text string
	if err := rows.Scan(&text); err != nil {
		return err
	}
	return decode(text, into)
}

// readEvent reads an event; one that begins a part is read at every start until the part has ended.
func readEvent(rows *sql.Rows) error {
	e, err := scanEvent(rows)
	switch {
	case err != nil:
		return err
	case len(e.Body) > 0 && !json.Valid(e.Body):
		return fmt.Errorf("event %d of a session is no document", e.Seq)
	case e.Type == EventPart || e.Type == EventOutput:
		return decode(string(e.Body), new(Part))
	}
	return nil
}
