package journal

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
)

// A tenant that came from another server keeps the journal that it had there, as it was exported: entries of one tree cannot become entries
// of another. It verifies by itself, against the key of the server that signed it.

// formerPart is how many bytes of such a journal are one row.
const formerPart = 1 << 20

// WriteExport writes a tenant's whole export.
func (j *Journal) WriteExport(ctx context.Context, w io.Writer, tenant string) (size int64, err error) {
	for after := int64(0); ; {
		page, err := j.Export(ctx, tenant, after, size, 0)
		if err != nil {
			return size, err
		}
		for _, l := range page.Lines {
			if _, err := fmt.Fprintf(w, "%s\n", l); err != nil {
				return size, err
			}
		}
		size, after = page.Size, page.Next
		if after == 0 {
			return size, nil
		}
	}
}

// formerName is how origins and keys look: people are shown them in a line.
var formerName = regexp.MustCompile(`^[!-~]{1,300}$`)

// Former is a journal that a tenant had elsewhere.
type Former struct {
	Origin  string `json:"origin"`
	Key     string `json:"key" jsonschema:"the public key with which it verifies, as that server told it"`
	Entries int64  `json:"entries" jsonschema:"how many of its entries are the tenant's own"`
	OK      bool   `json:"ok" jsonschema:"it verifies with that key"`
}

// KeepFormer keeps an export as a journal that the tenant had elsewhere, up to the moment made, and says what it is.
func KeepFormer(tx *db.Tx, r io.Reader, tenant string, made time.Time) (out Former, err error) {
	in := bufio.NewReaderSize(r, 1<<16)
	pr, pw := io.Pipe()
	type verdict struct {
		report *Report
		err    error
	}
	done := make(chan verdict, 1)
	var part bytes.Buffer
	parts := 0
	keep := func() error {
		_, err := tx.Exec("INSERT INTO journal_former (tenant, made, part, origin, lines) VALUES (?, ?, ?, ?, ?)", tenant, made, parts,
			out.Origin, part.Bytes())
		parts++
		part.Reset()
		return err
	}
	for n := 0; ; n++ {
		raw, readErr := in.ReadBytes('\n')
		if readErr != nil && !errors.Is(readErr, io.EOF) {
			err = readErr
			break
		}
		if len(raw) > 0 {
			var l line
			if err = json.Unmarshal(raw, &l); err != nil || n == 0 && (l.Format != ExportFormat || l.Key == "") {
				err = fault.New(fault.Invalid, "journal.former", "line %d of the journal cannot be read", n+1)
				break
			}
			if n == 0 && (!formerName.MatchString(l.Origin) || !formerName.MatchString(l.Key)) {
				err = fault.New(fault.Invalid, "journal.former", "the journal has an origin or a key that is none")
				break
			}
			if n == 0 {
				out.Origin, out.Key = l.Origin, l.Key
				go func() {
					report, err := VerifyExport(pr, l.Key, nil)
					pr.CloseWithError(io.ErrClosedPipe)
					done <- verdict{report, err}
				}()
			}
			if l.Entry != nil {
				if l.Entry.Tenant != tenant {
					err = fault.New(fault.Invalid, "journal.former", "the journal has an entry of another tenant")
					break
				}
				out.Entries++
			}
			pw.Write(raw) //nolint:errcheck // a check that ended early said why
			if part.Write(raw); part.Len() >= formerPart {
				if err = keep(); err != nil {
					break
				}
			}
		}
		if readErr != nil {
			break
		}
	}
	pw.CloseWithError(err) // io.EOF where there is none
	if out.Key == "" {
		return out, errors.Join(err, fault.New(fault.Invalid, "journal.former", "the journal does not begin as one does"))
	}
	v := <-done
	if err == nil && part.Len() > 0 {
		err = keep()
	}
	out.OK = v.err == nil && v.report.OK
	return out, err
}

// former is one page of a journal that a tenant had elsewhere, the first of them 1.
func (j *Journal) former(ctx context.Context, tenant string, which, after int64) (*Page, error) {
	page := &Page{}
	err := j.db.Read(ctx, func(tx *db.Tx) error {
		page.Lines = nil
		var made, parts int64
		err := tx.QueryRow("SELECT made, count(*) FROM journal_former WHERE tenant = ? GROUP BY made ORDER BY made LIMIT 1 OFFSET ?", tenant,
			which-1).Scan(&made, &parts)
		if db.NoRows(err) {
			return fault.New(fault.NotFound, string(AuditExport), "this tenant had no journal %d elsewhere", which).
				WithNext("export the one that it has here: tandem audit export")
		}
		if err != nil {
			return err
		}
		var text []byte
		if err := tx.QueryRow("SELECT lines FROM journal_former WHERE tenant = ? AND made = ? AND part = ?", tenant, made,
			after).Scan(&text); err != nil {
			return err
		}
		for l := range bytes.Lines(text) {
			page.Lines = append(page.Lines, bytes.TrimSpace(l))
		}
		if after+1 < parts {
			page.Next = after + 1
		}
		return nil
	})
	return page, err
}
