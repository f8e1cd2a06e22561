package unified

import (
	"path"
	"strings"
)

// Kind is what a piece of code is.
type Kind byte

// The kinds. What is none of them is shown as it is.
const (
	Plain   Kind = iota
	Keyword      // a word of the language
	Quoted       // a text between quotes
	Number
	Remark // a comment
)

// Span is a piece of a line of code.
type Span struct {
	Mark
	Kind Kind
}

// tongue is how a family of languages is written, as far as one line tells.
type tongue struct {
	remarks []string // what begins a comment that ends with its line
	quotes  string
	words   map[string]bool
}

func tongueOf(remarks, quotes, words string) *tongue {
	t := &tongue{remarks: strings.Fields(remarks), quotes: quotes, words: map[string]bool{}}
	for _, w := range strings.Fields(words) {
		t.words[w] = true
	}
	return t
}

const braces = "break case catch class const continue default do else enum export extends finally for function if implements import in " +
	"interface let new null of package private protected public return static struct super switch this throw true false try type typeof " +
	"undefined var void while async await yield from as nil func defer go range select chan map fallthrough goto fn impl match mod mut pub " +
	"ref self trait use where loop move unsafe dyn crate bool int string byte error any float double long char unsigned namespace template " +
	"using val fun when object override sealed abstract final"

var (
	like   = tongueOf("//", "\"'`", braces)
	hashed = tongueOf("#", "\"'", "and as assert async await break class continue def del elif else except False finally for from global if "+
		"import in is lambda None nonlocal not or pass raise return True try while with yield then fi esac done do case function local export "+
		"echo exit end begin rescue module require unless until self nil true false set unset readonly trap shift eval exec source")
	dashed = tongueOf("--", "'\"",
		"select from where insert into values update set delete create table index drop alter add column primary key not null "+
			"default references and or in is join left right inner outer on as group by order having limit union all distinct case "+
			"when then else end begin commit local function return if elseif for while do repeat until nil true false SELECT FROM "+
			"WHERE INSERT INTO VALUES UPDATE SET DELETE CREATE TABLE INDEX DROP ALTER ADD COLUMN PRIMARY KEY NOT NULL DEFAULT "+
			"REFERENCES AND OR IN IS JOIN LEFT RIGHT INNER OUTER ON AS GROUP BY ORDER HAVING LIMIT UNION ALL DISTINCT CASE WHEN "+
			"THEN ELSE END")
)

// tongues are by the ends of files' names, or their whole names.
var tongues = byName(map[*tongue]string{
	like: ".go .js .mjs .cjs .ts .tsx .jsx .java .kt .kts .c .h .cc .cpp .hpp .cs .rs .swift .scala .php .proto .dart .zig .templ .css " +
		".scss .json .jsonc",
	hashed: ".py .pyi .sh .bash .zsh .rb .pl .yml .yaml .toml .tf .mk .cmake .nix .r .ex .exs .jl makefile dockerfile containerfile " +
		"gemfile rakefile justfile",
	dashed: ".sql .lua .hs .elm",
})

func byName(of map[*tongue]string) map[string]*tongue {
	out := map[string]*tongue{}
	for t, names := range of {
		for name := range strings.FieldsSeq(names) {
			out[name] = t
		}
	}
	return out
}

// Spans says what the pieces of a line of a file are, by the file's name and this line alone: of a comment or a text that goes over
// several lines the later ones are plain. What is plain is in no span.
func Spans(file, line string) (out []Span) {
	t := tongues[strings.ToLower(path.Ext(file))]
	if t == nil {
		t = tongues[strings.ToLower(path.Base(file))]
	}
	if t == nil || len(line) > 2000 { // nobody reads that as code
		return nil
	}
	r := reading{tongue: t, line: line}
	for i := 0; i < len(line); {
		n, kind := r.next(i)
		if kind != Plain {
			out = append(out, Span{Mark{i, i + n}, kind})
		}
		i += n
	}
	return out
}

// reading is a line that is read from its beginning.
type reading struct {
	*tongue
	line string
	open string // the quotes that end nothing any more: no other of their kind comes
	read int    // bytes in which the end of a text was looked for
}

// next is what begins at a place of the line, and how long it is.
func (t *reading) next(i int) (int, Kind) {
	line, rest := t.line, t.line[i:]
	for _, r := range t.remarks {
		if strings.HasPrefix(rest, r) && (r != "#" || i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			return len(rest), Remark
		}
	}
	if strings.HasPrefix(rest, "/*") && t.tongue == like {
		if end := strings.Index(rest[2:], "*/"); end >= 0 {
			return end + 4, Remark
		}
		return len(rest), Remark
	}
	if strings.IndexByte(t.quotes, rest[0]) >= 0 {
		if n := t.quoted(rest); n > 0 {
			return n, Quoted
		}
		return 1, Plain
	}
	n := 0
	for n < len(rest) && named(rest[n]) {
		n++
	}
	switch {
	case n == 0:
		return 1, Plain
	case rest[0] >= '0' && rest[0] <= '9':
		return n, Number
	case t.words[rest[:n]]:
		return n, Keyword
	}
	return n, Plain
}

// named says whether a byte may be part of a name; all of a character beyond ASCII may.
func named(b byte) bool {
	return b == '_' || b >= 0x80 || b|0x20 >= 'a' && b|0x20 <= 'z' || b >= '0' && b <= '9'
}

// quoted is the length of the text between quotes with which s begins; 0 where it does not end. Whether a later quote counts does not
// depend on where the text begins, so that one without an end says the same of all that follow.
func (t *reading) quoted(s string) int {
	if strings.IndexByte(t.open, s[0]) >= 0 {
		return 0
	}
	for i := 1; i < len(s); i++ {
		t.read++
		switch {
		case s[i] == '\\' && s[0] != '`':
			i++
		case s[i] == s[0]:
			return i + 1
		}
	}
	t.open += s[:1]
	return 0
}
