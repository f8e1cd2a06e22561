package qr

import (
	"bytes"
	"strings"
	"testing"
)

// The standard's own example: version 1 at level M has these codewords for 01234567.
func TestCorrectionOfTheStandard(t *testing.T) {
	data := []byte{0x10, 0x20, 0x0c, 0x56, 0x61, 0x80, 0xec, 0x11, 0xec, 0x11, 0xec, 0x11, 0xec, 0x11, 0xec, 0x11}
	want := []byte{0xa5, 0x24, 0xd4, 0xc1, 0xed, 0x36, 0xc7, 0x87, 0x2c, 0x55}
	if got := correction(data, 10); !bytes.Equal(got, want) {
		t.Errorf("% x", got)
	}
	if got := (1<<3<<10 | remainder(1<<3, 0x537, 10)) ^ 0x5412; got != 0x77c4 {
		t.Errorf("format %x", got)
	}
	if got := 7<<12 | remainder(7, 0x1f25, 12); got != 0x07c94 {
		t.Errorf("version %x", got)
	}
}

// What is drawn is read back as a scanner reads it, at every size.
func TestReadBack(t *testing.T) {
	for i, v := range versions {
		text := strings.Repeat("build.example.org:39731#tdj_", 12)[:v.data-2-(i+1)/10]
		c, err := Encode(text)
		if err != nil {
			t.Fatal(err)
		}
		if want := 17 + 4*(i+1); len(c) != want {
			t.Fatalf("version %d has %d modules and not %d", i+1, len(c), want)
		}
		if got := read(t, c, i+1, v); got != text {
			t.Errorf("version %d reads %q", i+1, got)
		}
	}
	if _, err := Encode(strings.Repeat("x", 272)); err == nil {
		t.Error("a text that is too long was drawn")
	}
}

func TestLines(t *testing.T) {
	c, err := Encode("tandem")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(c.Lines(), "\n"), "\n")
	if len(lines) != 13 || len([]rune(lines[0])) != 25 || lines[0] != strings.Repeat("█", 25) {
		t.Errorf("drawn as\n%s", c.Lines())
	}
}

// read finds the mask in the format, takes it away, follows the columns, checks each block by its roots and unpacks the text.
func read(t *testing.T, c Code, number int, v version) string {
	t.Helper()
	size, format := len(c), 0
	for i, at := range [][2]int{{8, 0}, {8, 1}, {8, 2}, {8, 3}, {8, 4}, {8, 5}, {8, 7}, {8, 8},
		{7, 8}, {5, 8}, {4, 8}, {3, 8}, {2, 8}, {1, 8}, {0, 8}} {
		if c[at[1]][at[0]] {
			format |= 1 << i
		}
	}
	format = (format ^ 0x5412) >> 10
	if format>>3 != 1 {
		t.Fatalf("level %b", format>>3)
	}
	blank := canvas{square(size), square(size)}
	blank.patterns(number, v)
	var words []byte
	var bits, n int
	for right := size - 1; right > 0; right -= 2 {
		if right == 6 {
			right--
		}
		pair := (size - 1 - right) / 2
		if right < 6 {
			pair = (size - 2 - right) / 2
		}
		for step := range size {
			y := size - 1 - step
			if pair%2 == 1 {
				y = step
			}
			for x := right; x > right-2; x-- {
				if blank.fixed[y][x] {
					continue
				}
				bits <<= 1
				if c[y][x] != masked(format&7, x, y) {
					bits |= 1
				}
				if n++; n%8 == 0 {
					words, bits = append(words, byte(bits)), 0
				}
			}
		}
	}
	blocks := make([][]byte, v.blocks)
	long := v.data % v.blocks
	for i, w := range words[:v.data] {
		b := i % v.blocks
		if i >= v.data-long {
			b = v.blocks - long + i - (v.data - long)
		}
		blocks[b] = append(blocks[b], w)
	}
	var data []byte
	for b, block := range blocks {
		data = append(data, block...)
		for i := range v.check {
			block = append(block, words[v.data+i*v.blocks+b])
		}
		for root := range v.check {
			sum := byte(0)
			for _, w := range block {
				sum = times(sum, exp[root]) ^ w
			}
			if sum != 0 {
				t.Fatalf("version %d: block %d is not of the code", number, b)
			}
		}
	}
	at := func(from, n int) (out int) {
		for i := from; i < from+n; i++ {
			out = out<<1 | int(data[i/8]>>(7-i%8)&1)
		}
		return out
	}
	head := 8 + 8*(number/10)
	var text []byte
	for i := range at(4, head) {
		text = append(text, byte(at(4+head+8*i, 8)))
	}
	return string(text)
}
