package decode

import (
	"bytes"
	"fmt"
)

// readMbox reads messages one after the other. One that cannot be read is named, and stops nothing.
func readMbox(w *writer, data []byte) error {
	if !bytes.HasPrefix(data, []byte("From ")) {
		return refused("it is no mailbox: it does not begin with \"From \"")
	}
	for n := 1; len(data) > 0; n++ {
		_, body, _ := bytes.Cut(data, []byte("\n"))
		end := bytes.Index(body, []byte("\n\nFrom "))
		if crlf := bytes.Index(body, []byte("\r\n\r\nFrom ")); end < 0 || crlf >= 0 && crlf < end {
			end = crlf
		}
		message, rest := body, []byte(nil)
		if end >= 0 {
			message, rest = body[:end+1], bytes.TrimLeft(body[end:], "\r\n")
		}
		message = bytes.ReplaceAll(message, []byte("\n>From "), []byte("\nFrom "))
		of := fmt.Sprintf("message %d, ", n)
		switch err := w.message(message, of).(type) {
		case nil:
		case *Refused:
			if w.written > w.limits.Text || len(w.doc.Parts) >= w.limits.Parts {
				return err
			}
			w.left("%s", err.Reason)
		default:
			return err
		}
		data = rest
	}
	return nil
}
