package proof

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// onDisk is every byte below a folder.
func onDisk(t *testing.T, dir string) []byte {
	t.Helper()
	var all bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s\n%s\n", path, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.Bytes()
}

// inMemory is every byte that a process holds and may write.
func inMemory(t *testing.T, pid int) []byte {
	t.Helper()
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	var all bytes.Buffer
	empty := make([]byte, 4096)
	for line := range strings.Lines(string(maps)) {
		var from, to int64
		var perms string
		if _, err := fmt.Sscanf(line, "%x-%x %s", &from, &to, &perms); err != nil || !strings.HasPrefix(perms, "rw") {
			continue
		}
		page := make([]byte, 4096)
		for r := io.NewSectionReader(mem, from, to-from); ; { // what was never touched cannot be read, or is empty
			if _, err := io.ReadFull(r, page); err != nil {
				break
			}
			if !bytes.Equal(page, empty) {
				all.Write(page)
			}
		}
	}
	return all.Bytes()
}

// forms are the ways in which a text can lie among bytes and still be read by
// whoever finds it.
func forms(text string) map[string][]byte {
	out := map[string][]byte{"as it is": []byte(text), "in small letters": []byte(strings.ToLower(text)),
		"hex": []byte(hex.EncodeToString([]byte(text))), "HEX": []byte(strings.ToUpper(hex.EncodeToString([]byte(text)))),
		"in a URL": []byte(url.QueryEscape(text)), "in a path": []byte(url.PathEscape(text))}
	if quoted, err := json.Marshal(text); err == nil {
		out["JSON"] = quoted[1 : len(quoted)-1]
	}
	var escaped strings.Builder
	var wide []byte
	for _, u := range utf16.Encode([]rune(text)) {
		fmt.Fprintf(&escaped, `\u%04x`, u)
		wide = append(wide, byte(u), byte(u>>8))
	}
	out["JSON, every letter escaped"], out["UTF-16"] = []byte(escaped.String()), wide
	for skip := range 3 { // the three ways in which it can lie on the threes of base64
		from, n := (3-skip)%3, len(text)
		whole := text[from : n-(n-from)%3]
		out[fmt.Sprintf("base64, %d in", skip)] = []byte(base64.RawStdEncoding.EncodeToString([]byte(whole)))
		out[fmt.Sprintf("base64 for URLs, %d in", skip)] = []byte(base64.RawURLEncoding.EncodeToString([]byte(whole)))
	}
	return out
}

// find looks for a text in bytes in every form, whatever its case, and in what
// is compressed among them. It says in which form it lies there.
func find(all [][]byte, text string) string {
	forms := forms(text)
	for _, data := range all {
		for name, form := range forms {
			if bytes.Contains(data, form) {
				return name
			}
		}
	}
	return ""
}

// laidOpen are bytes, the same in small letters, and what is compressed in them.
func laidOpen(data []byte) [][]byte {
	out := [][]byte{data, bytes.ToLower(data)}
	for _, packed := range unpacked(data) {
		out = append(out, packed, bytes.ToLower(packed))
	}
	return out
}

// unpacked finds gzip and zlib streams in bytes.
func unpacked(data []byte) (out [][]byte) {
	const most = 4 << 20
	for _, kind := range []struct {
		head []byte
		open func(io.Reader) (io.ReadCloser, error)
	}{
		{[]byte{0x1f, 0x8b, 0x08}, func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }},
		{[]byte{0x78, 0x01}, zlib.NewReader}, {[]byte{0x78, 0x5e}, zlib.NewReader}, {[]byte{0x78, 0x9c}, zlib.NewReader},
		{[]byte{0x78, 0xda}, zlib.NewReader},
	} {
		for at := 0; ; {
			i := bytes.Index(data[at:], kind.head)
			if i < 0 {
				break
			}
			at += i
			if r, err := kind.open(bytes.NewReader(data[at:])); err == nil {
				plain, _ := io.ReadAll(io.LimitReader(r, most)) // what follows the stream is not of it
				if len(plain) >= 8 {
					out = append(out, plain)
				}
			}
			at++
		}
	}
	return out
}

// The search finds a planted text in every form: otherwise finding nothing would
// mean nothing.
func TestTheSearchFindsWhatIsPlanted(t *testing.T) {
	const text = `Ölhafen "kestrel" <8443>`
	noise := bytes.Repeat([]byte("all is sealed 0123456789+/=\x00\x1f\x8b\x08\x78\x9c"), 50)
	plant := func(b []byte) []byte { return slices.Concat(noise, b, noise) }
	if how := find(laidOpen(noise), text); how != "" {
		t.Errorf("found %s where it is not", how)
	}
	for name, form := range forms(text) {
		if find(laidOpen(plant(form)), text) == "" {
			t.Errorf("not found: %s", name)
		}
	}
	for skip := range 3 {
		whole := base64.StdEncoding.EncodeToString([]byte("xyz"[:skip] + text + "after"))
		if find(laidOpen(plant([]byte(whole))), text) == "" {
			t.Errorf("not found in base64 that begins %d before", skip)
		}
	}
	var zipped, zl bytes.Buffer
	for _, w := range []io.WriteCloser{gzip.NewWriter(&zipped), zlib.NewWriter(&zl)} {
		fmt.Fprintf(w, "%s%s%s", noise, text, noise)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, packed := range [][]byte{zipped.Bytes(), zl.Bytes()} {
		if find(laidOpen(plant(packed)), text) == "" {
			t.Error("not found in what is compressed")
		}
	}
	if find(laidOpen([]byte(strings.ToUpper("kestrel-8443"))), "kestrel-8443") == "" {
		t.Error("not found in capitals")
	}
}
