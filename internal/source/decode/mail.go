package decode

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"strings"

	"golang.org/x/net/html/charset"
)

// readMail reads one message: who, when, about what, its text, and the text of what is attached.
func readMail(w *writer, data []byte) error { return w.message(data, "") }

func (w *writer) message(data []byte, of string) error {
	m, err := mail.ReadMessage(bytes.NewReader(data))
	if err != nil {
		return refused("%sit is no message: %v", of, err)
	}
	var head strings.Builder
	for _, name := range []string{"From", "To", "Cc", "Date", "Subject"} {
		if v := decodedHeader(m.Header.Get(name)); v != "" {
			fmt.Fprintf(&head, "%s: %s\n", name, v)
		}
	}
	if w.doc.Title == "" && of == "" {
		w.doc.Title = clip(decodedHeader(m.Header.Get("Subject")))
	}
	body, err := io.ReadAll(m.Body)
	if err != nil {
		return refused("%sit is damaged: %v", of, err)
	}
	text, err := w.body(textproto.MIMEHeader(m.Header), body, of, 0)
	if err != nil {
		return err
	}
	return w.part(strings.TrimSuffix(of, ", "), head.String()+"\n"+text)
}

var words = mime.WordDecoder{CharsetReader: charset.NewReaderLabel}

func decodedHeader(v string) string {
	out, err := words.DecodeHeader(v)
	if err != nil {
		out = v
	}
	return clip(out)
}

// body is the text of one piece of a message; what is attached becomes parts of their own.
func (w *writer) body(h textproto.MIMEHeader, data []byte, of string, depth int) (string, error) {
	const deepest = 20
	if depth > deepest {
		return "", refused("%sit is nested more than %d deep", of, deepest)
	}
	kind, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		kind, params = "text/plain", nil
	}
	if strings.HasPrefix(kind, "multipart/") {
		return w.pieces(kind, params["boundary"], data, of, depth)
	}
	if data, err = transferred(h.Get("Content-Transfer-Encoding"), data); err != nil {
		return "", refused("%sit is damaged: %v", of, err)
	}
	way, about, _ := mime.ParseMediaType(h.Get("Content-Disposition"))
	name := decodedHeader(about["filename"])
	if name == "" {
		name = decodedHeader(params["name"])
	}
	switch {
	case kind == "message/rfc822":
		return "", w.attached(of, "message.eml", data)
	case way == "attachment" || name != "" && !strings.HasPrefix(kind, "text/"):
		return "", w.attached(of, name, data)
	case kind == "text/html":
		return w.asPage(data, params["charset"])
	case kind == "text/plain":
		return inCharset(data, params["charset"])
	}
	w.left("%sa piece of the kind %s", of, clip(kind))
	return "", nil
}

// pieces reads those of a message that has several. Of alternatives the plain one is enough.
func (w *writer) pieces(kind, boundary string, data []byte, of string, depth int) (string, error) {
	const most = 1000
	var texts []string
	r := multipart.NewReader(bytes.NewReader(data), boundary)
	for n := 0; ; n++ {
		piece, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || n == most {
			return "", refused("%sit is damaged: its pieces do not end (%v)", of, err)
		}
		inside, err := io.ReadAll(piece)
		if err != nil {
			return "", refused("%sit is damaged: %v", of, err)
		}
		text, err := w.body(piece.Header, inside, of, depth+1)
		if err != nil {
			return "", err
		}
		if strings.TrimSpace(text) != "" {
			texts = append(texts, text)
		}
	}
	if kind == "multipart/alternative" && len(texts) > 1 {
		return texts[0], nil
	}
	return strings.Join(texts, "\n\n"), nil
}

// attached reads a file that came along.
func (w *writer) attached(of, name string, data []byte) error {
	return w.inner(of+"attached "+clip(name), name, data)
}

func transferred(how string, data []byte) ([]byte, error) {
	switch strings.ToLower(strings.TrimSpace(how)) {
	case "base64":
		return io.ReadAll(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(bytes.TrimSpace(data))))
	case "quoted-printable":
		return io.ReadAll(quotedprintable.NewReader(bytes.NewReader(data)))
	}
	return data, nil
}

func inCharset(data []byte, label string) (string, error) {
	if label == "" || strings.EqualFold(label, "utf-8") || strings.EqualFold(label, "us-ascii") {
		return plain(data)
	}
	r, err := charset.NewReaderLabel(label, bytes.NewReader(data))
	if err != nil {
		return plain(data)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		return "", refused("it is damaged: %v", err)
	}
	return string(out), nil
}

// asPage is the text of a message that is written as a page.
func (w *writer) asPage(data []byte, label string) (string, error) {
	s, err := inCharset(data, label)
	if err != nil {
		return "", err
	}
	inner := &writer{ctx: w.ctx, limits: w.limits, doc: &Document{}}
	if err := readHTML(inner, []byte(s)); err != nil {
		return "", err
	}
	for _, l := range inner.doc.Left {
		w.left("%s", l)
	}
	var b strings.Builder
	for _, p := range inner.doc.Parts {
		b.WriteString(p.Text + "\n\n")
	}
	return b.String(), nil
}
