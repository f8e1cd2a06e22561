package decode

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// plain is the text of bytes: UTF-8, UTF-16 with a mark, or Windows-1252, which every other file of Western Europe is in.
func plain(data []byte) (string, error) {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		return wide(data[2:], binary.LittleEndian), nil
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		return wide(data[2:], binary.BigEndian), nil
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if bytes.IndexByte(data, 0) >= 0 {
		return "", refused("it is no text: it has zero bytes")
	}
	if utf8.Valid(data) {
		return string(data), nil
	}
	out, err := charmap.Windows1252.NewDecoder().Bytes(data)
	if err != nil {
		return "", refused("it is no text: neither UTF-8 nor Windows-1252")
	}
	return string(out), nil
}

func wide(data []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	return string(utf16.Decode(units))
}

func readText(w *writer, data []byte) error {
	s, err := plain(data)
	if err != nil {
		return err
	}
	return w.lines(s, 1)
}

// linesPerPart is how much of a text without headings is cited as one.
const linesPerPart = 60

// lines writes a text whose first line has a number, cut at empty lines where there are some nearby.
func (w *writer) lines(s string, first int) error {
	all := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for begin := 0; begin < len(all); {
		end := min(begin+linesPerPart, len(all))
		if end < len(all) {
			for i := end; i > begin+linesPerPart/2; i-- {
				if strings.TrimSpace(all[i-1]) == "" {
					end = i
					break
				}
			}
		}
		place := fmt.Sprintf("lines %d-%d", first+begin, first+end-1)
		if err := w.part(place, strings.Join(all[begin:end], "\n")); err != nil {
			return err
		}
		begin = end
	}
	return nil
}
