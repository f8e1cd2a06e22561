package main

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"tandem/internal/db"
	terms "tandem/internal/memory/text"
	"tandem/internal/memory/wire"
)

// plainFTS asks SQLite's own index for any of the words.
func plainFTS(file string, c conversation) (func(string) ([]string, error), error) {
	return fts(file, c, func(s string) []string { return strings.FieldsFunc(s, func(r rune) bool { return !letter(r) }) })
}

// stoppedFTS leaves out the words that tell nothing.
func stoppedFTS(file string, c conversation) (func(string) ([]string, error), error) {
	return fts(file, c, func(s string) (out []string) {
		for _, w := range terms.Words(s) {
			out = append(out, w.Folded)
		}
		return out
	})
}

func letter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' }

func fts(file string, c conversation, words func(string) []string) (func(string) ([]string, error), error) {
	d, err := sql.Open("sqlite", file)
	if err == nil {
		_, err = d.Exec("CREATE VIRTUAL TABLE turn USING fts5(id UNINDEXED, text, tokenize = 'porter unicode61')")
	}
	if err != nil {
		return nil, err
	}
	tx, err := d.Begin() // in one change: each of its own waits for the disk
	for _, t := range c.turns {
		if err == nil {
			_, err = tx.Exec("INSERT INTO turn (id, text) VALUES (?, ?)", t.id, t.text)
		}
	}
	if err == nil {
		err = tx.Commit()
	}
	return func(question string) ([]string, error) {
		var any []string
		for _, w := range words(question) {
			any = append(any, `"`+w+`"`)
		}
		rows, err := d.Query("SELECT id FROM turn WHERE turn MATCH ? ORDER BY rank LIMIT 10", strings.Join(any, " OR "))
		return db.Collect(rows, err, func(rows *sql.Rows) (id string, err error) { return id, rows.Scan(&id) })
	}, err
}

// remembered is a memory of a conversation's turns.
func remembered(file string, c conversation) (*remembering, error) {
	m, err := openMemory(file)
	if err != nil {
		return nil, err
	}
	var turns []any
	for _, t := range c.turns {
		turns = append(turns, wire.AddIn{Text: t.text, Tier: c.place().Tier, Of: c.place().Of,
			Sources: []wire.Source{{Kind: "turn", Ref: t.id}}})
	}
	_, err = m.invoke(string(wire.Add), turns...)
	return m, err
}

// turns asks our own search which turns it finds, and asks again as long as it was not found in the way that is measured: a model that
// computes a question's vector is waited for no longer than people would wait.
func (m *remembering) turns(c conversation, again func(how string) bool) func(string) ([]string, error) {
	return func(question string) (ids []string, err error) {
		out, err := m.search(wire.SearchIn{Query: question, Filter: c.place()})
		for try := 0; err == nil && again(out.How) && try < 1000; try++ {
			time.Sleep(10 * time.Millisecond)
			out, err = m.search(wire.SearchIn{Query: question, Filter: c.place()})
		}
		for _, h := range out.Hits {
			ids = append(ids, h.Sources[0].Ref)
		}
		if err == nil && again(out.How) {
			err = fmt.Errorf("%q is found %s", question, out.How)
		}
		return ids, err
	}
}

// byAll asks our own search.
func byAll(file string, c conversation) (func(string) ([]string, error), error) {
	m, err := remembered(file, c)
	if err != nil {
		return nil, err
	}
	return m.turns(c, func(string) bool { return false }), nil
}

// byWords asks our own search of records that have no vectors.
func byWords(file string, c conversation) (func(string) ([]string, error), error) {
	m, err := remembered(file, c)
	if err != nil {
		return nil, err
	}
	return m.turns(c, func(string) bool { return false }), m.db.Write(m.ctx, func(tx *db.Tx) error {
		_, err := tx.Exec("DELETE FROM memory_vector")
		return err
	})
}

// bareFTS is SQLite's own index alone, written as safely as ours.
func bareFTS(file string) (*sql.DB, error) {
	d, err := sql.Open("sqlite", file+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err == nil {
		d.SetMaxOpenConns(1)
		_, err = d.Exec("CREATE VIRTUAL TABLE bare USING fts5(text, tokenize = 'porter unicode61')")
	}
	return d, err
}

// fillBare adds the texts of records, 100 in a change.
func fillBare(d *sql.DB, from, to int) error {
	for ; from < to; from += 100 {
		tx, err := d.Begin()
		if err != nil {
			return err
		}
		for nr := from; err == nil && nr < min(to, from+100); nr++ {
			_, err = tx.Exec("INSERT INTO bare (text) VALUES (?)", nth(nr))
		}
		if err != nil {
			return errors.Join(err, tx.Rollback())
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	return nil
}
