package main

import (
	"database/sql"
	"strings"

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
	for _, t := range c.turns {
		if err == nil {
			_, err = d.Exec("INSERT INTO turn (id, text) VALUES (?, ?)", t.id, t.text)
		}
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

// byAll asks our own search.
func byAll(file string, c conversation) (func(string) ([]string, error), error) {
	m, err := openMemory(file)
	if err != nil {
		return nil, err
	}
	var turns []any
	for _, t := range c.turns {
		turns = append(turns, wire.AddIn{Text: t.text, Tier: wire.OfSession, Of: "locomo", Sources: []wire.Source{{Kind: "turn", Ref: t.id}}})
	}
	_, err = m.invoke(string(wire.Add), turns...)
	return func(question string) (ids []string, err error) {
		out, err := m.search(wire.SearchIn{Query: question, Filter: wire.Filter{Tier: wire.OfSession, Of: "locomo"}})
		for _, h := range out.Hits {
			ids = append(ids, h.Sources[0].Ref)
		}
		return ids, err
	}, err
}

// byWords asks our own search of records that have no vectors.
func byWords(file string, c conversation) (func(string) ([]string, error), error) {
	ask, err := byAll(file, c)
	if err != nil {
		return nil, err
	}
	m, err := openMemory(file)
	if err != nil {
		return nil, err
	}
	defer m.db.Close()
	return ask, m.db.Write(m.ctx, func(tx *db.Tx) error {
		_, err := tx.Exec("DELETE FROM memory_vector")
		return err
	})
}
