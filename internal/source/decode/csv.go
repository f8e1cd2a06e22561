package decode

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// rowsPerPart is how many rows of a table are cited as one. Each part repeats the table's first row, so that its columns have names.
const rowsPerPart = 50

func readCSV(w *writer, data []byte) error {
	s, err := plain(data)
	if err != nil {
		return err
	}
	r := csv.NewReader(strings.NewReader(s))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = separator(w.name, s), -1, true, true
	t := table{w: w}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return t.flush()
		}
		if err != nil {
			return refused("it is no table: %v", err)
		}
		line, _ := r.FieldPos(0)
		if err := t.row(line, row); err != nil {
			return err
		}
	}
}

// separator is the sign that the first line has most of.
func separator(name, s string) rune {
	if strings.EqualFold(path.Ext(name), ".tsv") {
		return '\t'
	}
	first, _, _ := strings.Cut(s, "\n")
	best, most := ',', 0
	for _, c := range ",;\t|" {
		if n := strings.Count(first, string(c)); n > most {
			best, most = c, n
		}
	}
	return best
}

// table writes rows, some at a time.
type table struct {
	w           *writer
	of          string // "sheet Costs, "
	head        string
	first, last int
	rows        int
	text        bytes.Buffer
}

// row adds one, with its number as the file counts them.
func (t *table) row(number int, cells []string) error {
	var b strings.Builder
	blank := true
	for i, cell := range cells {
		if i > 0 {
			b.WriteString(" | ")
		}
		cell = strings.Join(strings.Fields(cell), " ")
		blank = blank && cell == ""
		b.WriteString(cell)
	}
	if blank {
		return nil
	}
	line := strings.TrimRight(b.String(), " |")
	if t.head == "" {
		t.head = line
	}
	if t.rows == 0 {
		t.first = number
		if line != t.head {
			t.text.WriteString(t.head + "\n")
		}
	}
	t.text.WriteString(line + "\n")
	t.last = number
	if t.rows++; t.rows < rowsPerPart && t.text.Len() < 64<<10 {
		return nil
	}
	return t.flush()
}

func (t *table) flush() error {
	if t.rows == 0 {
		return nil
	}
	err := t.w.part(fmt.Sprintf("%srows %d-%d", t.of, t.first, t.last), t.text.String())
	t.text.Reset()
	t.rows = 0
	return err
}
