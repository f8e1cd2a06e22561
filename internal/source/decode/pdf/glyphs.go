package pdf

import (
	"strconv"
	"strings"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"
)

// encodings are the tables that a font can name. A code without a meaning is 0.
var encodings = map[name]*[256]rune{"WinAnsiEncoding": table(charmap.Windows1252), "MacRomanEncoding": table(charmap.Macintosh),
	"StandardEncoding": standard}

func table(c *charmap.Charmap) *[256]rune {
	var out [256]rune
	for i := 32; i < 256; i++ {
		out[i] = c.DecodeByte(byte(i))
	}
	return &out
}

// standard is Adobe's own encoding (ISO 32000-1, annex D): ASCII but for two quotes, and signs above.
var standard = func() *[256]rune {
	var out [256]rune
	for i := rune(32); i < 127; i++ {
		out[i] = i
	}
	out['\''], out['`'] = '’', '‘'
	for code, signs := range map[int]string{0o241: "¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ", 0o261: "–†‡·", 0o266: "¶•‚„”»…‰", 0o277: "¿", 0o320: "—",
		0o341: "Æ", 0o343: "ª", 0o350: "ŁØŒº", 0o361: "æ", 0o365: "ı", 0o370: "łøœß"} {
		for i, r := range []rune(signs) {
			out[code+i] = r
		}
	}
	return &out
}()

// signs are glyph names (Adobe Glyph List) that are neither a letter nor a letter with an accent.
var signs = func() map[string]string {
	out := map[string]string{}
	fields := strings.Fields(`space   exclam ! quotedbl " numbersign # dollar $ percent % ampersand & quotesingle ' parenleft ( parenright )
		asterisk * plus + comma , hyphen - period . slash / zero 0 one 1 two 2 three 3 four 4 five 5 six 6 seven 7 eight 8 nine 9 colon :
		semicolon ; less < equal = greater > question ? at @ bracketleft [ backslash \ bracketright ] asciicircum ^ underscore _ grave ` + "`" + `
		braceleft { bar | braceright } asciitilde ~ quoteleft ‘ quoteright ’ quotedblleft “ quotedblright ” quotesinglbase ‚ quotedblbase „
		guillemotleft « guillemotright » guilsinglleft ‹ guilsinglright › endash – emdash — bullet • ellipsis … dagger † daggerdbl ‡
		section § paragraph ¶ copyright © registered ® trademark ™ degree ° plusminus ± multiply × divide ÷ minus − fraction ⁄ periodcentered ·
		exclamdown ¡ questiondown ¿ cent ¢ sterling £ yen ¥ Euro € florin ƒ currency ¤ perthousand ‰ ordfeminine ª ordmasculine º logicalnot ¬
		onehalf ½ onequarter ¼ threequarters ¾ onesuperior ¹ twosuperior ² threesuperior ³ mu µ germandbls ß ae æ AE Æ oe œ OE Œ oslash ø
		Oslash Ø eth ð Eth Ð thorn þ Thorn Þ dotlessi ı lslash ł Lslash Ł dcroat đ Dcroat Đ ff ff fi fi fl fl ffi ffi ffl ffl arrowright →
		arrowleft ← arrowup ↑ arrowdown ↓ lessequal ≤ greaterequal ≥ notequal ≠ infinity ∞ summation ∑ integral ∫ radical √ partialdiff ∂
		approxequal ≈ alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ nu ν xi ξ omicron ο pi π rho ρ
		sigma σ tau τ upsilon υ phi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω`)
	out["space"] = " "
	for i := 1; i+1 < len(fields); i += 2 { // the blank is no field
		out[fields[i]] = fields[i+1]
	}
	return out
}()

// accents follow the letter in a glyph's name.
var accents = map[string]string{"acute": "\u0301", "grave": "\u0300", "circumflex": "\u0302", "dieresis": "\u0308", "tilde": "\u0303",
	"ring": "\u030a", "cedilla": "\u0327", "caron": "\u030c", "breve": "\u0306", "macron": "\u0304", "ogonek": "\u0328",
	"dotaccent": "\u0307", "hungarumlaut": "\u030b", "commaaccent": "\u0326"}

// named is the text of a glyph with a name, or nothing if the name says nothing.
func named(s string) string {
	s, _, _ = strings.Cut(s, ".") // a.alt is an a
	if t, ok := signs[s]; ok {
		return t
	}
	if len(s) == 1 {
		return s
	}
	if s != "" {
		if accent, ok := accents[s[1:]]; ok {
			return norm.NFC.String(s[:1] + accent)
		}
	}
	for _, begin := range []string{"uni", "u"} {
		if hex, ok := strings.CutPrefix(s, begin); ok && len(hex) >= 4 && len(hex) <= 6 {
			if n, err := strconv.ParseUint(hex, 16, 32); err == nil && n <= 0x10ffff {
				return string(rune(n))
			}
		}
	}
	if strings.Contains(s, "_") { // f_i is both
		var b strings.Builder
		for one := range strings.SplitSeq(s, "_") {
			if one == "" || strings.Contains(one, "_") {
				return ""
			}
			b.WriteString(named(one))
		}
		return b.String()
	}
	return ""
}

// Widths of the glyphs from blank to tilde of fonts that every viewer has, and files therefore leave out (Adobe's font metrics).
var (
	helvetica = []float64{278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
		556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
		722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
		556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
		260, 334, 584}
	times = []float64{250, 333, 408, 500, 500, 833, 778, 180, 333, 333, 500, 564, 250, 333, 250, 278, 500, 500, 500, 500, 500, 500, 500,
		500, 500, 500, 278, 278, 564, 564, 564, 444, 921, 722, 667, 667, 722, 611, 556, 722, 722, 333, 389, 722, 611, 889,
		722, 722, 556, 722, 667, 556, 611, 722, 722, 944, 722, 722, 611, 333, 278, 333, 469, 500, 333, 444, 500, 444, 500,
		444, 333, 500, 500, 278, 278, 500, 278, 778, 500, 500, 500, 500, 333, 389, 278, 500, 500, 722, 500, 500, 444, 480,
		200, 480, 541}
)

func builtIn(out *font, base string) {
	widths := helvetica
	switch {
	case strings.Contains(base, "Courier"):
		out.usual = 600
		return
	case strings.Contains(base, "Times"):
		widths = times
	}
	for i, w := range widths {
		out.widths[32+i] = w
	}
}
