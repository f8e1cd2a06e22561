// Package pdf reads the words of a PDF file, in the order in which a person reads them. A PDF draws glyphs at places and has neither words
// nor lines nor columns: blanks come from the gaps between glyphs, lines from their baselines, columns from the white between them.
//
// It follows ISO 32000-1 as far as text goes: objects and object streams, the filters for text, simple and composite fonts with their
// encodings and ToUnicode maps, the text operators and forms. It finds objects by looking for them, not by the table at the end of the
// file, which is the first thing to be wrong in a damaged one.
//
// It refuses encrypted files. It draws nothing, reads no pictures, and computes only.
package pdf
