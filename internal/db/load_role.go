package db

import "tandem/internal/fault"

// ErrOlderCopy is the answer to a copy from before a change of the tables, for a role that may not make tables: nothing was changed.
var ErrOlderCopy = fault.New(fault.Unavailable, "db.load",
	"the copy is from before a change of the tables, and the role of this database address may not make them as they "+
		"were; nothing was changed").
	WithNext("start once with the role that owns them: tandem up --database postgres://OWNER@…")

// mayMake says whether the role of this database makes tables and does away with those there are.
func (t *Tx) mayMake() (may bool, err error) {
	if t.dialect != postgresDialect {
		return true, nil
	}
	err = t.QueryRow("SELECT has_schema_privilege(current_schema(), 'CREATE') AND NOT EXISTS (SELECT 1 FROM pg_tables " +
		"WHERE schemaname = current_schema() AND tablename = 'schema_version' AND NOT pg_has_role(tableowner, 'USAGE'))").Scan(&may)
	return may, err
}

// empty takes the rows out of the tables there are, which are those of the copy, for a role that only works with them.
func (l *loader) empty(names []string, versions map[string]int, rooms []Migrations) error {
	for _, room := range rooms {
		steps, err := readSteps(room)
		if err != nil {
			return err
		}
		var here int
		if err := l.tx.QueryRow("SELECT count(*) FROM schema_version WHERE room = ?", room.Room).Scan(&here); err != nil {
			return err
		}
		if here != len(steps) || versions[room.Room] != len(steps) {
			return ErrOlderCopy
		}
	}
	for _, name := range names {
		if _, err := l.tx.Exec("DELETE FROM " + name); err != nil {
			return err
		}
	}
	return nil
}
