package session

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

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
	if err := belongs(tx); err != nil {
		return err
	}
	return counted(tx)
}

// belongs refuses what is of no session, and events that are ahead of theirs: the next one has the number of one that is there.
func belongs(tx *db.Tx) error {
	for table, more := range map[string]string{"session_turn": "", "session_message": "", "session_call": "", "session_question": "",
		"session_event": " AND c.seq BETWEEN 1 AND s.events AND s.events <= " + strconv.FormatInt(amountMost, 10)} {
		var n int64
		if err := tx.QueryRow("SELECT count(*) FROM " + table + " c WHERE NOT EXISTS (SELECT 1 FROM session s WHERE s.tenant = c.tenant AND " +
			"s.id = c.session" + more + ")").Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			return fmt.Errorf("%d rows of %s are of no session, or ahead of it", n, table)
		}
	}
	return nil
}

// amountMost is what is used up at most: more of it is not added up.
const amountMost = 1 << 53

// counted refuses amounts below nothing, those that are not added up, and what was used on days to come.
func counted(tx *db.Tx) error {
	tomorrow, whose, sum := Daily.since(tx.Now())+1, "", [5]int64{}
	rows, err := tx.Query("SELECT subject, day, tokens, cost, turns, calls, micros FROM session_used ORDER BY subject")
	if err := db.EachRow(rows, err, func(rows *sql.Rows) error {
		var subject string
		var day int64
		var n [5]int64
		if err := rows.Scan(&subject, &day, &n[0], &n[1], &n[2], &n[3], &n[4]); err != nil {
			return err
		}
		if day < 0 || day > tomorrow {
			return fmt.Errorf("%.64q used something on the day %d", subject, day)
		}
		if subject != whose {
			whose, sum = subject, [5]int64{}
		}
		for i := range n {
			if n[i] < 0 || n[i] > amountMost-sum[i] {
				return fmt.Errorf("what %.64q used is no amount", subject)
			}
			sum[i] += n[i]
		}
		return nil
	}); err != nil {
		return err
	}
	rows, err = tx.Query("SELECT used FROM session_spent")
	return db.EachRow(rows, err, func(rows *sql.Rows) error {
		var u Used
		if err := document(rows, &u); err != nil {
			return err
		}
		for _, n := range []int64{u.Tokens, int64(u.Cost), u.Turns, u.Calls, u.Seconds} {
			if n < 0 || n > amountMost {
				return errors.New("what a session used before is no amount")
			}
		}
		return nil
	})
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
