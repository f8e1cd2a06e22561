package proof

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"
)

// tap stands where a host's TLS ends, with the host's own key: it keeps every
// byte that members and host say to each other, as the host itself sees them.
type tap struct {
	t    *testing.T
	at   string
	mu   sync.Mutex
	said []*bytes.Buffer // one per connection and direction
}

func newTap(t *testing.T, at, host, certs string) *tap {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(filepath.Join(certs, "tls-cert.pem"), filepath.Join(certs, "tls-key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", at, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"}})
	if err != nil {
		t.Fatal(err)
	}
	p := &tap{t: t, at: at}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // the test is over
			}
			go p.carry(c, host)
		}
	}()
	return p
}

func (p *tap) carry(member net.Conn, host string) {
	defer member.Close()
	to, err := tls.Dial("tcp", host, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"}}) // the key in use is the host's own
	if err != nil {
		return
	}
	defer to.Close()
	over := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{member, to}, {to, member}} {
		buf := new(bytes.Buffer)
		p.mu.Lock()
		p.said = append(p.said, buf)
		p.mu.Unlock()
		go func() {
			io.Copy(way[1], io.TeeReader(way[0], lockedWriter{&p.mu, buf}))
			over <- struct{}{}
		}()
	}
	<-over
}

type lockedWriter struct {
	mu *sync.Mutex
	to io.Writer
}

func (w lockedWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(b)
}

// heard is everything on the tape: the bytes as they came, and every body with
// the transfer's own cuts and compression undone.
func (p *tap) heard() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all bytes.Buffer
	for _, b := range p.said {
		all.Write(b.Bytes())
		all.WriteByte('\n')
		r := bufio.NewReader(bytes.NewReader(b.Bytes()))
		for {
			head, err := r.Peek(5)
			if err != nil {
				break
			}
			var body io.ReadCloser
			if string(head) == "HTTP/" {
				res, err := http.ReadResponse(r, nil)
				if err != nil {
					break
				}
				body = res.Body
			} else {
				req, err := http.ReadRequest(r)
				if err != nil {
					break
				}
				body = req.Body
			}
			_, err = io.Copy(&all, body)
			body.Close()
			all.WriteByte('\n')
			if err != nil {
				break
			}
		}
	}
	return all.Bytes()
}

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
	out := map[string][]byte{"as it is": []byte(text), "in small letters": []byte(strings.ToLower(text)), "hex": []byte(hex.EncodeToString([]byte(text))), "HEX": []byte(strings.ToUpper(hex.EncodeToString([]byte(text)))),
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
		{[]byte{0x78, 0x01}, zlib.NewReader}, {[]byte{0x78, 0x5e}, zlib.NewReader}, {[]byte{0x78, 0x9c}, zlib.NewReader}, {[]byte{0x78, 0xda}, zlib.NewReader},
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
