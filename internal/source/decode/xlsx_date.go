package decode

import (
	"encoding/xml"
	"strconv"
	"strings"
	"time"
)

// styles learns which styles show a date: in a sheet a day is a number, and only its style tells.
func (b *workbook) styles() error {
	const name = "xl/styles.xml"
	if b.files[name] == nil {
		return nil
	}
	own := map[string]bool{}
	inCells := false
	return b.walk(name, func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "numFmt":
				own[value(t, "numFmtId")] = showsDate(value(t, "formatCode"))
			case "cellXfs":
				inCells = true
			case "xf":
				if inCells {
					id := value(t, "numFmtId")
					n, _ := strconv.Atoi(id)
					b.dates = append(b.dates, own[id] || n >= 14 && n <= 22 || n >= 45 && n <= 47)
				}
			}
		case xml.EndElement:
			inCells = inCells && t.Name.Local != "cellXfs"
		}
		return nil
	})
}

// showsDate tells whether a format has letters of days or hours outside of quotes and brackets.
func showsDate(format string) bool {
	quoted, bracket := false, false
	format, _, _ = strings.Cut(strings.ToLower(format), ";")
	for i := 0; i < len(format); i++ {
		switch c := format[i]; {
		case c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[':
			bracket = true
		case c == ']':
			bracket = false
		case bracket:
		case strings.IndexByte("ymdhs", c) >= 0:
			return true
		}
	}
	return false
}

// date is the day, and the time if there is one. Excel believes that 1900 was a leap year: before March of it days are off by one.
func (b *workbook) date(day float64) string {
	const last = 2958465 // the end of the year 9999
	if day < 0 || day > last+1 {
		return number(strconv.FormatFloat(day, 'g', -1, 64))
	}
	begin := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	if b.since04 {
		begin = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	} else if day > 0 && day < 60 {
		day++
	}
	whole := int(day)
	seconds := int((day-float64(whole))*86400 + 0.5)
	at := begin.AddDate(0, 0, whole).Add(time.Duration(seconds) * time.Second)
	switch {
	case whole == 0 && !b.since04:
		return at.Format("15:04:05")
	case seconds == 0:
		return at.Format("2006-01-02")
	}
	return at.Format("2006-01-02 15:04:05")
}
