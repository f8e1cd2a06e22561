package since

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"tandem/internal/repo/diff"
)

// Kept are the contents that nobody else holds: those of files which are in no repository. What does not fit is left out, and is shown as
// changed without its lines.
func (b *Base) Kept(ctx context.Context) (map[string][]byte, error) {
	root, err := os.OpenRoot(b.Folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var hashes []string
	for _, f := range b.Files {
		if f.Hash != "" {
			hashes = append(hashes, f.Hash)
		}
	}
	have, out, size := stored(ctx, b.Folder, hashes), map[string][]byte{}, 0
	for _, name := range b.names() {
		f := b.Files[name]
		if f.Hash == "" || have[f.Hash] || out[f.Hash] != nil || size+int(f.Size) > maxKept {
			continue
		}
		data, err := content(root, name, f.Mode)
		if err != nil || blobName(data) != f.Hash {
			continue // it changes right now
		}
		out[f.Hash] = data
		size += len(data)
	}
	return out, nil
}

func (b *Base) names() []string {
	var out []string
	for name := range b.Files {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Changed are the paths that differ between two looks, sorted.
func (b *Base) Changed(now *Base) []string {
	var out []string
	for name, f := range now.Files {
		if was, ok := b.Files[name]; !ok || was.differs(f) {
			out = append(out, name)
		}
	}
	for name := range b.Files {
		if _, ok := now.Files[name]; !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func (f File) differs(g File) bool {
	if f.Hash == "" || g.Hash == "" {
		return f != g
	}
	return f.Hash != g.Hash || f.Mode != g.Mode
}

// Patch is what changed in one file, for git apply in the repository or, without one, in the folder. kept finds what Kept gave.
func (b *Base) Patch(ctx context.Context, now *Base, name string, kept func(hash string) ([]byte, bool)) (string, error) {
	root, err := os.OpenRoot(now.Folder)
	if err != nil {
		return "", err
	}
	defer root.Close()
	was, had := b.Files[name]
	is, has := now.Files[name]
	_, below := Top(now.Folder)
	shown := path.Join(below, name)
	var before, after []byte
	known := true
	if had {
		if before, known = kept(was.Hash); !known && was.Hash != "" {
			before, known = blob(ctx, b.Folder, was.Hash)
		}
	}
	if has && known {
		if is.Hash == "" {
			known = false
		} else if after, err = content(root, name, is.Mode); err != nil {
			return "", nil // it is gone since
		}
	}
	head := header(shown, was, is, had, has)
	switch {
	case !known:
		return fmt.Sprintf("# %s changed; it is too large to be shown\n", shown), nil
	case bytes.Equal(before, after) && had == has:
		return head, nil // only its mode changed
	case binary(before) || binary(after):
		return head + fmt.Sprintf("index %s..%s\nGIT binary patch\n%s\n%s\n", full(was.Hash, had), full(is.Hash, has), literal(after),
			literal(before)), nil
	}
	from, to := "a/"+shown, "b/"+shown
	if !had {
		from = "/dev/null"
	}
	if !has {
		to = "/dev/null"
	}
	if body := pieces(before, after); body != "" {
		return head + "--- " + quoted(from) + "\n+++ " + quoted(to) + "\n" + body, nil
	}
	return head, nil // an empty file came or went
}

func header(name string, was, is File, had, has bool) string {
	out := "diff --git " + quoted("a/"+name) + " " + quoted("b/"+name) + "\n"
	switch {
	case !had:
		return out + "new file mode " + is.Mode + "\n"
	case !has:
		return out + "deleted file mode " + was.Mode + "\n"
	case was.Mode != is.Mode:
		return out + "old mode " + was.Mode + "\nnew mode " + is.Mode + "\n"
	}
	return out
}

// quoted writes a name as git does: with escapes, in quotes, where it holds what ends a line or a name.
func quoted(name string) string {
	if !strings.ContainsAny(name, "\"\\\n\t\r") {
		return name
	}
	return `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(name) + `"`
}

func full(hash string, there bool) string {
	if !there {
		return strings.Repeat("0", 40)
	}
	return hash
}

func binary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 }

// around is how many equal lines stand beside a change.
const around = 3

// pieces are the hunks of a unified diff.
func pieces(before, after []byte) string {
	type line struct {
		mark byte
		text []byte
	}
	var lines []line
	for _, h := range diff.ByLine(before, after).Hunks() {
		marks := []byte{'-', '+'}
		if h.Matching {
			marks = []byte{' '}
		}
		for i, mark := range marks {
			for _, s := range diff.Lines(h.Contents[i]) {
				lines = append(lines, line{mark, h.Contents[i][s.Start:s.End]})
			}
		}
	}
	var b strings.Builder
	old, now := 1, 1
	for i := 0; i < len(lines); {
		if next := slices.IndexFunc(lines[i:], func(l line) bool { return l.mark != ' ' }); next < 0 {
			break
		} else if from := max(i, i+next-around); from > i {
			old, now, i = old+from-i, now+from-i, from
			continue
		}
		end, equal := i, 0
		for ; end < len(lines) && equal <= 2*around; end++ {
			if equal++; lines[end].mark != ' ' {
				equal = 0
			}
		}
		end -= max(0, equal-around)
		gone, came := 0, 0
		for _, l := range lines[i:end] {
			if l.mark != '+' {
				gone++
			}
			if l.mark != '-' {
				came++
			}
		}
		fmt.Fprintf(&b, "@@ -%s +%s @@\n", reach(old, gone), reach(now, came))
		for _, l := range lines[i:end] {
			b.WriteByte(l.mark)
			b.Write(l.text)
			if !bytes.HasSuffix(l.text, []byte("\n")) {
				b.WriteString("\n\\ No newline at end of file\n")
			}
		}
		old, now, i = old+gone, now+came, end
	}
	return b.String()
}

// reach is where a side of a piece begins and how many lines it has; an empty one stands behind the line before it.
func reach(from, n int) string {
	if n == 0 {
		from--
	}
	return fmt.Sprintf("%d,%d", from, n)
}

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"

// literal is a content as git carries binary files in patches: deflated, 52 bytes a line, in base 85.
func literal(data []byte) string {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	z.Write(data) // into memory: it does not fail
	z.Close()
	var b strings.Builder
	fmt.Fprintf(&b, "literal %d\n", len(data))
	for rest := packed.Bytes(); len(rest) > 0; {
		n := min(len(rest), 52)
		if n <= 26 {
			b.WriteByte(byte('A' + n - 1))
		} else {
			b.WriteByte(byte('a' + n - 27))
		}
		part := append(slices.Clone(rest[:n]), make([]byte, (4-n%4)%4)...)
		for i := 0; i < len(part); i += 4 {
			v := uint32(part[i])<<24 | uint32(part[i+1])<<16 | uint32(part[i+2])<<8 | uint32(part[i+3])
			var five [5]byte
			for k := 4; k >= 0; k-- {
				five[k] = digits[v%85]
				v /= 85
			}
			b.Write(five[:])
		}
		b.WriteByte('\n')
		rest = rest[n:]
	}
	return b.String()
}
