package proof

import (
	"bufio"
	"io"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// An effect is one thing that the traced server did to a file or to a caller,
// in the order in which the kernel saw it.
type effect struct {
	kind string // write, truncate, unlink, sync, ack
	file string // base name, in the data folder
	off  int64
	data []byte
	from int // of a sync: the position in the trace at which it began
}

// traced is the command line that records what a program and its children do to files. Each call names the file behind its
// descriptor (-y): a number alone means another file in each process, and is given away again before close has returned.
func traced(strace, out string) []string {
	return []string{strace, "-f", "-y", "-q", "-o", out, "-xx", "-s", "1000000", "-e", "signal=none",
		"-e", "trace=unlink,unlinkat,write,pwrite64,fsync,fdatasync,ftruncate"}
}

var (
	lineForm    = regexp.MustCompile(`^(\d+) +(\w+)\((.*)$`)
	resumedForm = regexp.MustCompile(`^(\d+) +<\.\.\. (\w+) resumed>.*= (-?\d+)`)
	resultForm  = regexp.MustCompile(`\) += (-?\d+)`)
)

// readTrace turns strace's output into effects on the files of a folder. A
// sync counts when it has ended; what was written before it began is on disk.
func readTrace(t *testing.T, r io.Reader, folder string) []effect {
	t.Helper()
	var all []effect
	fileOf := func(descriptor string) (string, bool) {
		path := unhex(t, between(descriptor, "<", ">"))
		return filepath.Base(path), filepath.Dir(path) == folder
	}
	type begun struct {
		args string
		at   int
	}
	waiting := map[string]begun{} // thread → call that has not ended
	ended := func(call, args string, result, from int) {
		first, _, _ := strings.Cut(args, ", ")
		switch call {
		case "unlink", "unlinkat":
			if path := unhex(t, between(args, `"`, `"`)); result == 0 && filepath.Dir(path) == folder {
				all = append(all, effect{kind: "unlink", file: filepath.Base(path)})
			}
		case "fsync", "fdatasync":
			if file, ok := fileOf(first); ok && result == 0 {
				all = append(all, effect{kind: "sync", file: file, from: from})
			}
		}
	}
	began := func(call, args string) {
		first, rest, _ := strings.Cut(args, ", ")
		file, ok := fileOf(first)
		switch {
		case call == "pwrite64" && ok:
			data := unhex(t, between(rest, `"`, `"`))
			tail := strings.Split(rest[strings.LastIndex(rest, `"`):], ", ")
			off, err := strconv.ParseInt(digits(tail[2]), 10, 64)
			if err != nil {
				t.Fatalf("offset of %.80s: %v", args, err)
			}
			all = append(all, effect{kind: "write", file: file, off: off, data: []byte(data)})
		case call == "ftruncate" && ok:
			size, err := strconv.ParseInt(digits(rest), 10, 64)
			if err != nil {
				t.Fatalf("size of %s: %v", args, err)
			}
			all = append(all, effect{kind: "truncate", file: file, off: size})
		case call == "write" && !ok && strings.HasPrefix(rest, `"\x48\x54\x54\x50`): // HTTP
			all = append(all, effect{kind: "ack", data: []byte(unhex(t, between(rest, `"`, `"`)))})
		}
	}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return all
		}
		line = strings.TrimSuffix(line, "\n")
		if m := resumedForm.FindStringSubmatch(line); m != nil {
			result, _ := strconv.Atoi(m[3])
			b := waiting[m[1]]
			ended(m[2], b.args, result, b.at)
			delete(waiting, m[1])
			continue
		}
		m := lineForm.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		at := len(all)
		began(m[2], m[3])
		if args, cut := strings.CutSuffix(strings.TrimSpace(m[3]), " <unfinished ...>"); cut {
			waiting[m[1]] = begun{args, at}
		} else if r := resultForm.FindStringSubmatch(line); r != nil {
			result, _ := strconv.Atoi(r[1])
			ended(m[2], m[3], result, at)
		}
	}
}

// digits is the number that a text begins with.
func digits(s string) string {
	return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]
}

func between(s, open, end string) string {
	_, rest, _ := strings.Cut(s, open)
	inside, _, _ := strings.Cut(rest, end)
	return inside
}

// unhex reads strace's \x41\x42.
func unhex(t *testing.T, s string) string {
	t.Helper()
	var b strings.Builder
	b.Grow(len(s) / 4)
	for i := 0; i+3 < len(s); i += 4 {
		n, err := strconv.ParseUint(s[i+2:i+4], 16, 8)
		if err != nil {
			t.Fatalf("%.40q is not what strace writes", s[i:])
		}
		b.WriteByte(byte(n))
	}
	return b.String()
}

// afterPowerLoss is what a disk may hold when power fails behind the first n
// effects: everything synced, and of the rest whatever keep says, in sectors.
func afterPowerLoss(all []effect, n int, keep func() bool) map[string][]byte {
	synced := map[string]int{} // file → effects before this position are on disk
	for _, e := range all[:n] {
		if e.kind == "sync" {
			synced[e.file] = max(synced[e.file], e.from)
		}
	}
	disk := map[string][]byte{}
	for i, e := range all[:n] {
		safe := i < synced[e.file]
		switch e.kind {
		case "unlink":
			delete(disk, e.file)
		case "truncate":
			if safe || keep() {
				disk[e.file] = resize(disk[e.file], int(e.off))
			}
		case "write":
			const sector = 512
			for at := 0; at < len(e.data); at += sector {
				part := e.data[at:min(at+sector, len(e.data))]
				if !safe && !keep() {
					continue
				}
				end := int(e.off) + at + len(part)
				disk[e.file] = resize(disk[e.file], max(len(disk[e.file]), end))
				copy(disk[e.file][int(e.off)+at:], part)
			}
		}
	}
	return disk
}

func resize(b []byte, n int) []byte {
	if n <= len(b) {
		return b[:n]
	}
	return append(b, make([]byte, n-len(b))...)
}

// fates are how unsynced writes may end: none on disk, all, or any part.
func fates(random *rand.Rand) map[string]func() bool {
	return map[string]func() bool{
		"nothing unsynced": func() bool { return false },
		"all unsynced":     func() bool { return true },
		"some sectors":     func() bool { return random.IntN(2) == 0 },
	}
}
