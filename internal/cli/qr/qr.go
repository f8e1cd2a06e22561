// Package qr draws a short text as a QR code of blocks on a terminal: bytes, the lowest level of correction, versions 1 to 10. It
// follows ISO/IEC 18004.
package qr

import (
	"strings"

	"tandem/internal/fault"
)

// version is one size of a code at level L.
type version struct {
	data, check, blocks int   // codewords of data in all, of correction in each block, and how many blocks
	align               []int // centres of its alignment patterns
}

var versions = []version{
	{19, 7, 1, nil}, {34, 10, 1, []int{6, 18}}, {55, 15, 1, []int{6, 22}}, {80, 20, 1, []int{6, 26}}, {108, 26, 1, []int{6, 30}},
	{136, 18, 2, []int{6, 34}}, {156, 20, 2, []int{6, 22, 38}}, {194, 24, 2, []int{6, 24, 42}}, {232, 30, 2, []int{6, 26, 46}},
	{274, 18, 4, []int{6, 28, 50}},
}

// Code is a square of modules; true is dark.
type Code [][]bool

// Encode makes the smallest code that holds a text.
func Encode(text string) (Code, error) {
	for i, v := range versions {
		number := i + 1
		if len(text) <= v.data-2-number/10 {
			return draw(number, v, interleave(v, pack(number, v, text))), nil
		}
	}
	return nil, fault.New(fault.Invalid, "qr", "the text is too long for a QR code: %d bytes", len(text))
}

// pack writes the text as codewords of data: mode, length, bytes, filling.
func pack(number int, v version, text string) []byte {
	var bits []bool
	put := func(value, n int) {
		for i := n - 1; i >= 0; i-- {
			bits = append(bits, value>>i&1 == 1)
		}
	}
	put(4, 4)
	put(len(text), 8+8*(number/10))
	for _, b := range []byte(text) {
		put(int(b), 8)
	}
	put(0, min(4, v.data*8-len(bits)))
	out := make([]byte, 0, v.data)
	for i := 0; i < len(bits); i += 8 {
		var b byte
		for j := i; j < min(i+8, len(bits)); j++ {
			if bits[j] {
				b |= 0x80 >> (j - i)
			}
		}
		out = append(out, b)
	}
	for fill := byte(0xec); len(out) < v.data; fill ^= 0xec ^ 0x11 {
		out = append(out, fill)
	}
	return out
}

// interleave cuts the data into blocks, adds each one's correction, and mixes them.
func interleave(v version, data []byte) (out []byte) {
	var blocks, checks [][]byte
	for i, at := 0, 0; i < v.blocks; i++ {
		n := v.data / v.blocks
		if i >= v.blocks-v.data%v.blocks {
			n++
		}
		blocks, checks = append(blocks, data[at:at+n]), append(checks, correction(data[at:at+n], v.check))
		at += n
	}
	for _, all := range [][][]byte{blocks, checks} {
		for i := range len(all[len(all)-1]) {
			for _, b := range all {
				if i < len(b) {
					out = append(out, b[i])
				}
			}
		}
	}
	return out
}

// Lines draws the code with half blocks, two rows in a line and a margin around. What is light is drawn, for terminals are dark.
func (c Code) Lines() string {
	const margin = 2
	light := func(x, y int) bool {
		return y < 0 || x < 0 || y >= len(c) || x >= len(c) || !c[y][x]
	}
	var out strings.Builder
	for y := -margin; y < len(c)+margin; y += 2 {
		for x := -margin; x < len(c)+margin; x++ {
			under := y+1 < len(c)+margin && light(x, y+1)
			switch {
			case light(x, y) && under:
				out.WriteRune('█')
			case light(x, y):
				out.WriteRune('▀')
			case under:
				out.WriteRune('▄')
			default:
				out.WriteRune(' ')
			}
		}
		out.WriteByte('\n')
	}
	return out.String()
}
