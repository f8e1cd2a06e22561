package decode

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

// workbook is what the cells of all sheets share.
type workbook struct {
	*packed
	strings []string
	dates   []bool // which styles show a number as a date
	since04 bool   // days are counted from 1904, not from 1900
}

// readXLSX makes parts of some rows each, sheet by sheet.
func readXLSX(w *writer, data []byte) error {
	p, err := w.unpack(data)
	if err != nil {
		return err
	}
	if err := p.titled(); err != nil {
		return err
	}
	const main = "xl/workbook.xml"
	book := &workbook{packed: p}
	type sheet struct{ name, id string }
	var sheets []sheet
	if err := p.walk(main, func(t xml.Token) error {
		e, ok := t.(xml.StartElement)
		switch {
		case !ok:
		case e.Name.Local == "workbookPr":
			book.since04 = value(e, "date1904") == "1" || value(e, "date1904") == "true"
		case e.Name.Local == "sheet" && strings.Contains(strings.ToLower(value(e, "state")), "hidden"):
			w.left("sheet %s, which is hidden", clip(value(e, "name")))
		case e.Name.Local == "sheet":
			sheets = append(sheets, sheet{clip(value(e, "name")), value(e, "id")})
		}
		return nil
	}); err != nil {
		return err
	}
	at, err := p.relations(main)
	if err != nil {
		return err
	}
	if err := book.shared(); err != nil {
		return err
	}
	if err := book.styles(); err != nil {
		return err
	}
	for _, s := range sheets {
		if r := at[s.id]; r.kind == "worksheet" {
			if err := book.sheet(s.name, r.name); err != nil {
				return err
			}
		}
	}
	return nil
}

// shared reads the texts that cells name by their number.
func (b *workbook) shared() error {
	const name = "xl/sharedStrings.xml"
	if b.files[name] == nil {
		return nil
	}
	var one strings.Builder
	reading, spoken := false, 0 // hints how a text is read aloud are no part of it
	return b.walk(name, func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "si":
				one.Reset()
			case "rPh":
				spoken++
			case "t":
				reading = spoken == 0
			}
		case xml.CharData:
			if reading {
				one.Write(t)
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "t":
				reading = false
			case "rPh":
				spoken--
			case "si":
				b.strings = append(b.strings, one.String())
			}
		}
		return nil
	})
}

// sheet writes its rows. A cell stands in its column, whatever stands before it.
func (b *workbook) sheet(title, name string) error {
	rows := table{w: b.w, of: "sheet " + title + ", "}
	var row []string
	var c cell
	number, into := 0, (*strings.Builder)(nil)
	err := b.walk(name, func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "row":
				row = row[:0]
				if n, err := strconv.Atoi(value(t, "r")); err == nil {
					number = n
				} else {
					number++
				}
			case "c":
				c = cell{at: column(value(t, "r")), kind: value(t, "t"), style: value(t, "s")}
			case "v", "t":
				into = &c.value
			case "f":
				into = &c.formula
			}
		case xml.CharData:
			if into != nil {
				into.Write(t)
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "v", "t", "f":
				into = nil
			case "c":
				const widest = 16384
				if c.at < 0 {
					c.at = len(row)
				}
				if c.at >= widest {
					return refused("a row in it has more than %d columns", widest)
				}
				for len(row) <= c.at {
					row = append(row, "")
				}
				row[c.at] = b.shown(&c)
			case "row":
				return rows.row(number, row)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return rows.flush()
}

// column is the number that a cell's name begins with: 0 for A1, 27 for AB7.
func column(name string) int {
	n := 0
	for _, r := range name {
		if r < 'A' || r > 'Z' {
			break
		}
		if n = n*26 + int(r-'A') + 1; n > 1<<20 {
			break
		}
	}
	return n - 1
}

type cell struct {
	at             int
	kind, style    string
	value, formula strings.Builder
}

// shown is what a person sees in a cell; of a formula that nobody has computed yet, the formula.
func (b *workbook) shown(c *cell) string {
	v := c.value.String()
	switch {
	case v == "" && c.formula.Len() > 0:
		return "=" + c.formula.String()
	case c.kind == "s":
		if i, err := strconv.Atoi(v); err == nil && i >= 0 && i < len(b.strings) {
			return b.strings[i]
		}
		return ""
	case c.kind == "b":
		return map[string]string{"1": "TRUE", "0": "FALSE"}[v]
	case c.kind == "" || c.kind == "n":
		if i, err := strconv.Atoi(c.style); err == nil && i >= 0 && i < len(b.dates) && b.dates[i] {
			if day, err := strconv.ParseFloat(v, 64); err == nil {
				return b.date(day)
			}
		}
		return number(v)
	}
	return v
}

// number is written as people do: 0.1, where the file has 0.10000000000000001.
func number(v string) string {
	f, err := strconv.ParseFloat(v, 64)
	if err != nil {
		return v
	}
	if f == float64(int64(f)) && f > -1e15 && f < 1e15 {
		return strconv.FormatInt(int64(f), 10)
	}
	return fmt.Sprintf("%.15g", f)
}
