package decode

import (
	"errors"
	"fmt"

	"tandem/internal/source/decode/pdf"
)

// readPDF makes a part of each page.
func readPDF(w *writer, data []byte) error {
	doc, err := pdf.Read(w.ctx, data, pdf.Limits{Unpacked: w.limits.Unpacked - w.unpacked, Pages: w.limits.Parts, Glyphs: 4 * w.limits.Text})
	switch {
	case w.ctx.Err() != nil:
		return w.ctx.Err()
	case errors.Is(err, pdf.ErrEncrypted):
		return refused("it is encrypted; save it without a password")
	case err != nil:
		return refused("%v", err)
	}
	w.doc.Title = clip(doc.Title)
	for i, p := range doc.Pages {
		place := fmt.Sprintf("page %d", i+1)
		switch {
		case p.Scanned && p.Text == "":
			w.left("%s, which is a picture without text", place)
		case p.Scanned:
			w.left("%s is a picture; its text was read by a program", place)
		case p.Hidden:
			w.left("hidden text")
		}
		if p.Unknown {
			w.left("%s has letters that the file does not explain", place)
		}
		if err := w.part(place, p.Text); err != nil {
			return err
		}
	}
	return nil
}
