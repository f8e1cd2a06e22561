package decode

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"
)

// Document is the text of one file.
type Document struct {
	Format string   `json:"format"`
	Title  string   `json:"title,omitempty"`
	Parts  []Part   `json:"parts"`
	Left   []string `json:"left,omitempty"` // what was left out, and why
}

// Part is a stretch of text that can be cited.
type Part struct {
	Place string `json:"place,omitempty"` // "Setup > Linux", "slide 4", "sheet Costs, rows 2-51", "lines 10-40"
	Text  string `json:"text"`
}

// format is one that is read here.
type format struct {
	name  string
	ends  []string
	begin string // what its bytes begin with, where that is certain
	read  func(*writer, []byte) error
}

// formats say by which names a format goes, and who reads it. It is a function, because a message and an archive read what is in them.
func formats() []format {
	return []format{
		{"markdown", []string{".md", ".markdown", ".mdx"}, "", readMarkdown},
		{"html", []string{".html", ".htm", ".xhtml"}, "<!doctype html", readHTML},
		{"pdf", []string{".pdf"}, "%pdf-", readPDF},
		{"docx", []string{".docx"}, "", readDOCX},
		{"pptx", []string{".pptx"}, "", readPPTX},
		{"xlsx", []string{".xlsx"}, "", readXLSX},
		{"e-mail", []string{".eml"}, "", readMail},
		{"mbox", []string{".mbox"}, "", readMbox},
		{"zip", []string{".zip"}, "", readZip},
		{"csv", []string{".csv", ".tsv"}, "", readCSV},
		{"notebook", []string{".ipynb"}, "", readNotebook},
		{"json", []string{".json", ".jsonl", ".ndjson"}, "", readJSON},
		{"code", codeEnds, "", readCode},
		{"text", []string{".txt", ".text", ".log", ".rst", ".adoc", ".org", ".tex", ".toml", ".yaml", ".yml", ".ini", ".conf"}, "", readText},
	}
}

// Decode reads a document. Its name decides the format; where it does not, its first bytes do.
func Decode(ctx context.Context, name string, data []byte, l Limits) (*Document, error) {
	doc, _, err := decode(ctx, name, data, l.filled(), 0)
	return doc, err
}

// decode says how much it unpacked, too, whatever came of it.
func decode(ctx context.Context, name string, data []byte, l Limits, nested int) (doc *Document, unpacked int, err error) {
	if len(data) > l.Input {
		return nil, 0, refused("it has %d bytes, and %d are allowed", len(data), l.Input)
	}
	format, read := pick(name, data)
	if read == nil {
		return nil, 0, refused("nobody here reads %s", format)
	}
	w := &writer{ctx: ctx, limits: l, nested: nested, name: name, doc: &Document{Format: format}}
	if err := read(w, data); err != nil {
		return nil, w.unpacked, err
	}
	return w.doc, w.unpacked, nil
}

func pick(name string, data []byte) (string, func(*writer, []byte) error) {
	end := strings.ToLower(path.Ext(name))
	for _, f := range formats() {
		if slices.Contains(f.ends, end) {
			return f.name, f.read
		}
	}
	begin := bytes.ToLower(bytes.TrimLeft(data[:min(len(data), 64)], " \t\r\n\ufeff"))
	for _, f := range formats() {
		if f.begin != "" && bytes.HasPrefix(begin, []byte(f.begin)) {
			return f.name, f.read
		}
	}
	for kind, magic := range binaries {
		if bytes.HasPrefix(data, []byte(magic)) {
			return kind, nil
		}
	}
	return "text", readText
}

// binaries are formats that would else be called text that is no text.
var binaries = map[string]string{
	"zip archives": "PK\x03\x04", "gzip archives": "\x1f\x8b", "programs": "\x7fELF",
	"PNG pictures": "\x89PNG", "JPEG pictures": "\xff\xd8\xff", "GIF pictures": "GIF8",
	"old Office files (save it as .docx, .xlsx or .pptx)": "\xd0\xcf\x11\xe0",
}

// Format is what a document is read as, by its name and its first bytes; "" when nobody here reads it.
func Format(name string, data []byte) string {
	format, read := pick(name, data)
	if read == nil {
		return ""
	}
	return format
}
