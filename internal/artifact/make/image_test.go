package make

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"
)

// Of an image its pixels alone come into what is made: a cut one is refused, and nothing that stands behind or beside them comes along.
func TestAnImageIsItsPixels(t *testing.T) {
	picture := image.NewRGBA(image.Rect(0, 0, 40, 30))
	var p, j bytes.Buffer
	if err := png.Encode(&p, picture); err != nil {
		t.Fatal(err)
	}
	if err := jpeg.Encode(&j, picture, nil); err != nil {
		t.Fatal(err)
	}
	read := func(data []byte) (m Image, wrong []string) {
		m.Data = base64.StdEncoding.EncodeToString(data)
		m.read(func(format string, _ ...any) { wrong = append(wrong, format) })
		return m, wrong
	}
	for what, whole := range map[string][]byte{"png": p.Bytes(), "jpeg": j.Bytes()} {
		m, wrong := read(append(bytes.Clone(whole), "AKIAABCDEFGHIJKLMNOP"...))
		if len(wrong) > 0 || m.format != what || m.width != 40 || m.height != 30 || bytes.Contains(m.bytes, []byte("AKIA")) {
			t.Errorf("%s: %v, %s of %d x %d", what, wrong, m.format, m.width, m.height)
		}
		if _, _, err := image.Decode(bytes.NewReader(m.bytes)); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if _, wrong := read(whole[:len(whole)-14]); len(wrong) == 0 || !strings.Contains(wrong[0], "cut") {
			t.Errorf("a cut %s: %v", what, wrong)
		}
	}
}
